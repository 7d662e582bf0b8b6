// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/run_time_operands.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "driver/graph/operators.h"

namespace npu::generator {
namespace {

using graph::DType;
using graph::Op;
using graph::TensorId;

// An operator whose result is the value that both of its operands have.
std::optional<Op> keeps_value(DType type) {
  switch (type) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
      return Op::kBitwiseAnd;
    case DType::kBool:
      return Op::kLogicalAnd;
    default:
      return std::nullopt;
  }
}

class RunTimeOperands {
 public:
  RunTimeOperands(graph::Block& block, cosim::Random& random, int percent)
      : block_(block), random_(random), percent_(percent) {}

  int64_t run() {
    std::vector<graph::Operator> all;
    for (graph::Operator& op : block_.operators) {
      const std::span<const graph::Operand> entry = graph::info(op.op).inputs;
      for (size_t k = 0; k < std::min(entry.size(), op.inputs.size()); ++k) {
        if (entry[k].constant || entry[k].name == "bias") move(op.inputs[k], all);
      }
      all.push_back(std::move(op));
    }
    block_.operators = std::move(all);
    return static_cast<int64_t>(moved_.size());
  }

 private:
  // Lets the operand be the result of an operator behind those of `before`.
  void move(TensorId& operand, std::vector<graph::Operator>& before) {
    const graph::Tensor& constant = block_.tensors[operand];
    const std::optional<Op> keep = keeps_value(constant.type);
    if (!constant.has_data || constant.variable || !keep || !random_.chance(percent_)) return;
    const auto [place, fresh] = moved_.try_emplace(operand, static_cast<TensorId>(block_.tensors.size()));
    if (fresh) {
      graph::Tensor result{constant.name + "_at_run_time", constant.type, constant.shape, {}, false, false, {}};
      block_.tensors.push_back(std::move(result));
      before.push_back({*keep, {}, {operand, operand}, {place->second}, {}});
    }
    operand = place->second;
  }

  graph::Block& block_;
  cosim::Random& random_;
  const int percent_;
  std::map<TensorId, TensorId> moved_;  // from a constant to the result that has its value
};

}  // namespace

int64_t make_run_time_operands(graph::Graph& graph, cosim::Random& random, int percent) {
  int64_t count = 0;
  for (graph::Region& region : graph.regions) {
    for (graph::Block& block : region.blocks) count += RunTimeOperands(block, random, percent).run();
  }
  return count;
}

}  // namespace npu::generator
