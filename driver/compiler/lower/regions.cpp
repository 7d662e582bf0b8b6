// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/regions.h"

#include <algorithm>
#include <map>

#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using graph::Op;
using graph::TensorId;

// Counts each region once, however often it is named.
class BlockCount {
 public:
  BlockCount(const graph::Graph& graph, int64_t most) : graph_(graph), most_(most) {}

  int64_t of(const graph::Operator& op) {
    int64_t count = 0;
    for (const graph::Block* block : blocks_of(graph_, op)) count = std::min(count + of(*block), most_ + 1);
    return count;
  }

 private:
  int64_t of(const graph::Block& block) {
    const auto known = known_.find(&block);
    if (known != known_.end()) return known->second;
    int64_t count = 1;
    for (const graph::Operator& op : block.operators) count = std::min(count + of(op), most_ + 1);
    known_.emplace(&block, count);
    return count;
  }

  const graph::Graph& graph_;
  const int64_t most_;
  std::map<const graph::Block*, int64_t> known_;
};

// The tensor that a value is, IDENTITY seen through.
TensorId origin(const graph::Block& block, TensorId id) {
  for (auto op = block.operators.rbegin(); op != block.operators.rend(); ++op) {
    if (op->op == Op::kIdentity && op->outputs[0] == id) id = op->inputs[0];
  }
  return id;
}

}  // namespace

const graph::Block& block_of(const graph::Graph& graph, const std::string& region) {
  const auto found = std::find_if(graph.regions.begin(), graph.regions.end(),
                                  [&](const graph::Region& candidate) { return candidate.name == region; });
  NPU_CHECK(found != graph.regions.end() && !found->blocks.empty());
  return found->blocks.front();
}

std::vector<const graph::Block*> blocks_of(const graph::Graph& graph, const graph::Operator& op) {
  const graph::Attributes& a = op.attributes;
  if (op.op == Op::kCondIf) return {&block_of(graph, a.then_graph), &block_of(graph, a.else_graph)};
  if (op.op == Op::kWhileLoop) return {&block_of(graph, a.cond_graph), &block_of(graph, a.body_graph)};
  return {};
}

int64_t count_blocks(const graph::Graph& graph, const graph::Operator& op, int64_t most) {
  return BlockCount(graph, most).of(op);
}

TouchedVariables touched_variables(const graph::Graph& graph, const graph::Block& block, const graph::Operator& op) {
  TouchedVariables touched;
  std::set<const graph::Block*> seen;
  std::vector<const graph::Block*> pending;
  const auto look_at = [&](const graph::Block& where, const graph::Operator& what) {
    if (what.op == Op::kVariableRead) touched.read.insert(graph::variable_identity(where.tensors[what.inputs[0]]));
    if (what.op == Op::kVariableWrite) touched.written.insert(graph::variable_identity(where.tensors[what.outputs[0]]));
    for (const graph::Block* inner : blocks_of(graph, what)) {
      if (seen.insert(inner).second) pending.push_back(inner);
    }
  };
  look_at(block, op);
  while (!pending.empty()) {
    const graph::Block& inner = *pending.back();
    pending.pop_back();
    for (const graph::Operator& what : inner.operators) look_at(inner, what);
  }
  return touched;
}

std::vector<bool> invariants(const graph::Graph& graph, const graph::Operator& op) {
  const graph::Block& body = block_of(graph, op.attributes.body_graph);
  std::vector<bool> same;
  for (size_t i = 0; i < body.inputs.size(); ++i) same.push_back(origin(body, body.outputs[i]) == body.inputs[i]);
  return same;
}

std::vector<std::optional<Constant>> known_inputs(const Facts& facts, const graph::Operator& op) {
  const bool loop = op.op == Op::kWhileLoop;
  const std::vector<bool> same = loop ? invariants(facts.graph(), op) : std::vector<bool>();
  std::vector<std::optional<Constant>> known;
  for (size_t k = loop ? 0 : 1; k < op.inputs.size(); ++k) {
    const Constant* value = facts.constant(op.inputs[k]);
    known.push_back(value == nullptr || (loop && !same[k]) ? std::nullopt : std::optional(*value));
  }
  return known;
}

}  // namespace npu::compiler
