// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/tensor_range.h"

#include "driver/compiler/lower/ewise_rules.h"
#include "driver/compiler/lower/parameters.h"
#include "driver/graph/element.h"

namespace npu::compiler {
namespace {

using graph::Op;
using graph::TensorId;

// Operators that are followed back from a tensor: what they make of an 8-bit operand is near it.
constexpr int kMostOperators = 8;

ValueRange range_of(const Facts& facts, TensorId id, int left) {
  const TensorId root = facts.view_root(id);
  const contract::Element type = *element_of(facts.tensor(root).type);
  const auto [low, high] = element_range(type);
  const ValueRange whole = {low, high};
  const auto producer = facts.producer(root);
  if (!producer || left == 0) return whole;
  const graph::Operator& op = facts.op(*producer);
  switch (op.op) {
    case Op::kReduceMax:
    case Op::kReduceMin:
      return range_of(facts, op.inputs[0], left - 1);
    case Op::kRescale: {
      if (op.attributes.input_unsigned || op.attributes.output_unsigned || op.attributes.per_channel) return whole;
      const BlockParams params = rescale_params(facts, op);
      if (params.at_run_time()) return whole;
      return rescale_range(params.known, rescale_kind(op), whole, range_of(facts, op.inputs[0], left - 1));
    }
    default:
      return whole;
  }
}

}  // namespace

ValueRange tensor_range(const Facts& facts, TensorId id) { return range_of(facts, id, kMostOperators); }

}  // namespace npu::compiler
