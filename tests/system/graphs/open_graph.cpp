// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/open_graph.h"

#include <algorithm>
#include <map>

namespace npu::test {

using graph::Block;
using graph::DType;
using graph::Op;
using graph::Tensor;
using graph::TensorId;

graph::Graph open_form(const graph::Graph& graph) {
  graph::Graph open = graph;
  Block& block = open.main();
  block.outputs.clear();
  for (const graph::Operator& op : block.operators) {
    for (const TensorId id : op.outputs) {
      if (!block.tensors[id].has_data && !block.tensors[id].variable) block.outputs.push_back(id);
    }
  }
  return open;
}

Values values_of(const graph::Graph& open, const std::vector<graph::Value>& inputs,
                 const std::vector<graph::Value>& outputs) {
  const Block& block = open.main();
  Values values(block.tensors.size());
  for (size_t i = 0; i < block.tensors.size(); ++i) {
    const Tensor& tensor = block.tensors[i];
    if (tensor.has_data && !tensor.variable && tensor.type != DType::kShape) values[i] = value_of_constant(tensor);
  }
  for (size_t i = 0; i < inputs.size(); ++i) values[block.inputs[i]] = inputs[i];
  for (size_t i = 0; i < outputs.size(); ++i) values[block.outputs[i]] = outputs[i];
  return values;
}

std::vector<TensorId> operands_of(const graph::Graph& graph, const graph::Operator& op) {
  std::vector<TensorId> operands;
  for (const TensorId id : op.inputs) {
    const bool known = std::find(operands.begin(), operands.end(), id) != operands.end();
    if (!known && graph.main().tensors[id].type != DType::kShape) operands.push_back(id);
  }
  return operands;
}

graph::Graph alone(const graph::Graph& graph, const graph::Operator& op) {
  graph::Graph result;
  result.version = graph.version;
  if (op.op == Op::kCondIf || op.op == Op::kWhileLoop) {
    result.regions = graph.regions;
  } else {
    result.regions.push_back({graph.regions.front().name, {{graph.main().name, {}, {}, {}, {}}}});
  }
  Block& block = result.main();
  block = {graph.main().name, {}, {}, {}, {}};
  std::map<TensorId, TensorId> number;
  const auto add = [&](TensorId id) {
    const auto [at, added] = number.try_emplace(id, static_cast<TensorId>(block.tensors.size()));
    if (added) block.tensors.push_back(graph.main().tensors[id]);
    return at->second;
  };
  for (const TensorId id : operands_of(graph, op)) {
    block.inputs.push_back(add(id));
    block.tensors.back().data = {}, block.tensors.back().has_data = false;
  }
  graph::Operator own = op;
  for (TensorId& id : own.inputs) {
    const bool shape = graph.main().tensors[id].type == DType::kShape && !number.contains(id);
    id = add(id);
    if (shape) block.operators.push_back({Op::kConstShape, {}, {}, {id}, {}});
  }
  for (TensorId& id : own.outputs) block.outputs.push_back(id = add(id));
  block.operators.push_back(std::move(own));
  return result;
}

}  // namespace npu::test
