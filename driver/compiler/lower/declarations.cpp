// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/declarations.h"

#include <algorithm>

namespace npu::compiler {

using graph::Op;

namespace {

// The variables that blocks of control flow use, added up in the order in which the main block names them.
class UsedInBlocks {
 public:
  UsedInBlocks(const graph::Graph& graph, const Declarations& declarations) : declarations_(declarations) {
    for (const graph::Region& region : graph.regions) blocks_.emplace(region.name, &region.blocks.front());
  }

  void add_blocks_of(const graph::Operator& op) {
    const graph::Attributes& a = op.attributes;
    if (op.op == Op::kCondIf) {
      add(a.then_graph);
      add(a.else_graph);
    } else if (op.op == Op::kWhileLoop) {
      add(a.cond_graph);
      add(a.body_graph);
    }
  }
  [[nodiscard]] bool contains(uint32_t variable) const { return variables_.contains(variable); }

 private:
  void add(const std::string& region) {
    const graph::Block& block = *blocks_.at(region);
    if (!seen_.insert(&block).second) return;
    for (const graph::Operator& op : block.operators) {
      if (op.op == Op::kVariableRead) note(block, op.inputs);
      if (op.op == Op::kVariableWrite) note(block, op.outputs);
      add_blocks_of(op);
    }
  }
  void note(const graph::Block& block, const std::vector<graph::TensorId>& ids) {
    for (const graph::TensorId id : ids) variables_.insert(declarations_.number(block.tensors[id]));
  }

  const Declarations& declarations_;
  std::unordered_map<std::string_view, const graph::Block*> blocks_;  // by region
  std::unordered_set<const graph::Block*> seen_;
  std::unordered_set<uint32_t> variables_;
};

bool same_initial_value(const graph::Tensor& a, const graph::Tensor& b) {
  return a.has_data == b.has_data &&
         (!a.has_data || std::equal(a.data.begin(), a.data.end(), b.data.begin(), b.data.end()));
}

}  // namespace

Declarations::Declarations(const graph::Graph& graph) {
  for (const graph::Region& region : graph.regions) {
    for (const graph::Tensor& tensor : region.blocks.front().tensors) {
      if (tensor.variable) note_tensor(tensor);
    }
  }
  for (const graph::Region& region : graph.regions) {
    const graph::Block& block = region.blocks.front();
    for (const graph::Operator& op : block.operators) {
      if (op.op == Op::kVariable) note_operator(block.tensors[op.outputs[0]]);
    }
  }
  find_late_ones(graph);
}

void Declarations::note_tensor(const graph::Tensor& tensor) {
  const auto [at, fresh] = numbers_.try_emplace(variable_identity(tensor), static_cast<uint32_t>(all_.size()));
  if (fresh) all_.emplace_back();
  Declaration& declaration = all_[at->second];
  if (fresh || (tensor.has_data && !declaration.tensor->has_data)) declaration.tensor = &tensor;
}

void Declarations::note_operator(const graph::Tensor& tensor) {
  Declaration& declaration = all_[number(tensor)];
  if (declaration.by_operator) {
    declaration.one_initial_value = declaration.one_initial_value && same_initial_value(*declaration.tensor, tensor);
  } else {
    declaration.by_operator = true;
    declaration.tensor = &tensor;
  }
}

void Declarations::find_late_ones(const graph::Graph& graph) {
  for (const graph::Region& region : graph.regions) {
    const graph::Block& block = region.blocks.front();
    const bool main = &block == &graph.main();
    UsedInBlocks used(graph, *this);
    for (const graph::Operator& op : block.operators) {
      if (main) used.add_blocks_of(op);
      if (op.op != Op::kVariable) continue;
      const uint32_t variable = number(block.tensors[op.outputs[0]]);
      if (!main || used.contains(variable)) all_[variable].late = true;
    }
  }
}

}  // namespace npu::compiler
