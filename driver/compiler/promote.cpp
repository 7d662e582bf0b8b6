// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/promote.h"

#include <map>
#include <utility>

#include "driver/graph/element.h"
#include "driver/graph/float_format.h"
#include "hw/contract/elements.h"

namespace npu::compiler {
namespace {

using graph::Block;
using graph::DType;
using graph::Op;
using graph::Operator;
using graph::Tensor;
using graph::TensorId;

bool multiplies(Op op) {
  return op == Op::kConv2d || op == Op::kConv3d || op == Op::kDepthwiseConv2d || op == Op::kTransposeConv2d ||
         op == Op::kMatMul;
}

bool is_narrow_float(DType type) { return type != DType::kFp32 && graph::float_format(type); }

bool has_products(DType type, const contract::Capabilities& machine) {
  return contract::mxu_float_cycles(*element_of(type), machine) != 0;
}

bool is_promoted(const Block& block, const Operator& op, const contract::Capabilities& machine) {
  if (!multiplies(op.op) || machine.vpu_float == 0 || !has_products(DType::kFp32, machine)) return false;
  const DType type = block.tensors[op.inputs[0]].type;
  return is_narrow_float(type) && !has_products(type, machine);
}

class BlockPromoter {
 public:
  BlockPromoter(Block& block, const contract::Capabilities& machine) : block_(block), machine_(machine) {}

  void run() {
    for (Operator& op : std::exchange(block_.operators, {})) {
      if (is_promoted(block_, op, machine_)) {
        promote(std::move(op));
      } else {
        block_.operators.push_back(std::move(op));
      }
    }
  }

 private:
  void promote(Operator op) {
    for (TensorId& id : op.inputs) id = widened(id, op);
    if (op.op != Op::kMatMul) op.attributes.acc_type = DType::kFp32;
    const TensorId result = op.outputs[0];
    if (!is_narrow_float(block_.tensors[result].type)) {  // of MATMUL it may be FP32 already
      block_.operators.push_back(std::move(op));
      return;
    }
    op.outputs[0] = add_wide(result);
    const Operator back = cast(op.outputs[0], result, op);
    block_.operators.push_back(std::move(op));
    block_.operators.push_back(back);
  }

  // The operand in FP32, cast for the first operator that needs it.
  TensorId widened(TensorId id, const Operator& op) {
    if (!is_narrow_float(block_.tensors[id].type)) return id;
    const auto [place, is_new] = wide_.try_emplace(id);
    if (is_new) {
      place->second = add_wide(id);
      block_.operators.push_back(cast(id, place->second, op));
    }
    return place->second;
  }

  TensorId add_wide(TensorId id) {
    Tensor tensor;
    tensor.name = block_.tensors[id].name + "_fp32";
    tensor.type = DType::kFp32;
    tensor.shape = block_.tensors[id].shape;
    block_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(block_.tensors.size() - 1);
  }

  static Operator cast(TensorId from, TensorId to, const Operator& op) {
    Operator made;
    made.op = Op::kCast;
    made.inputs = {from};
    made.outputs = {to};
    made.location = op.location;
    return made;
  }

  Block& block_;
  const contract::Capabilities& machine_;
  std::map<TensorId, TensorId> wide_;
};

}  // namespace

std::vector<Promotion> promotions(const graph::Graph& graph, const contract::Capabilities& machine) {
  std::vector<Promotion> found;
  for (const graph::Region& region : graph.regions) {
    for (const Block& block : region.blocks) {
      for (const Operator& op : block.operators) {
        if (!is_promoted(block, op, machine)) continue;
        found.push_back({op.op, block.tensors[op.inputs[0]].type, block.tensors[op.outputs[0]].name});
      }
    }
  }
  return found;
}

std::string in_words(const std::vector<Promotion>& promotions) {
  if (promotions.empty()) return "nothing: the machine has the formats of all products";
  std::map<std::string, size_t> counts;
  for (const Promotion& one : promotions) {
    ++counts[std::string(graph::name(one.op)) + " of " + std::string(graph::name(one.from))];
  }
  std::string text;
  for (const auto& [what, count] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  }
  return text + " in FP32";
}

graph::Graph promote(const graph::Graph& graph, const contract::Capabilities& machine) {
  graph::Graph wide = graph;
  for (graph::Region& region : wide.regions) {
    for (Block& block : region.blocks) BlockPromoter(block, machine).run();
  }
  return wide;
}

}  // namespace npu::compiler
