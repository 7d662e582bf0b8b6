// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/regions.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hw/contract/error.h"

namespace npu::compiler {

using graph::Op;
using graph::TensorId;

namespace {

int64_t parts_of(const graph::Operator& op) { return 1 + std::ssize(op.inputs) + std::ssize(op.outputs); }

int64_t bounded_sum(int64_t a, int64_t b) { return std::min(a + b, Regions::kMostParts + 1); }

// The numbers of a list in ascending order, each once.
void make_set(std::vector<uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

void append(TouchedVariables& to, const TouchedVariables& more) {
  to.read.insert(to.read.end(), more.read.begin(), more.read.end());
  to.written.insert(to.written.end(), more.written.begin(), more.written.end());
}

TouchedVariables as_sets(TouchedVariables touched) {
  make_set(touched.read);
  make_set(touched.written);
  return touched;
}

}  // namespace

Regions::Regions(const graph::Graph& graph) : graph_(graph), declarations_(graph) {
  for (const graph::Region& region : graph.regions) blocks_.emplace(region.name, &region.blocks.front());
  measure_main();
}

void Regions::measure_main() {
  int64_t parts = 0;
  for (const graph::Operator& op : graph_.main().operators) {
    for (const graph::Block* block : blocks_of(op)) {
      measure(*block);
      parts = bounded_sum(parts, summaries_.at(block).parts);
      puts_ = bounded_sum(puts_, summaries_.at(block).puts);
    }
    if (parts > kMostParts && first_beyond_ == nullptr) first_beyond_ = &op;
    if (first_beyond_ != nullptr) continue;
    for (const graph::Block* block : blocks_of(op)) list_variables(*block);
  }
}

// Regions nest, but not without bound, and none is in itself (graph/validate.h).
void Regions::measure(const graph::Block& block) {
  if (summaries_.contains(&block)) return;
  Summary summary;
  summary.parts = bounded_sum(1, std::ssize(block.tensors));
  for (const graph::Operator& op : block.operators) {
    for (const graph::Block* inner : blocks_of(op)) {
      measure(*inner);
      summary.parts = bounded_sum(summary.parts, summaries_.at(inner).parts);
      summary.puts = bounded_sum(summary.puts, summaries_.at(inner).puts);
    }
    summary.parts = bounded_sum(summary.parts, parts_of(op));
    summary.effects = summary.effects || has_effects(block, op);
  }
  summaries_.emplace(&block, std::move(summary));
}

// A block touches no more variables than it has parts, so that all lists together are bounded where the parts are.
void Regions::list_variables(const graph::Block& block) {
  Summary& summary = summaries_.at(&block);
  if (std::exchange(summary.listed, true)) return;
  for (const graph::Operator& op : block.operators) {
    for (const graph::Block* inner : blocks_of(op)) list_variables(*inner);
    append(summary.touched, touched(block, op));
  }
  summary.touched = as_sets(std::move(summary.touched));
}

TouchedVariables Regions::touched_itself(const graph::Block& block, const graph::Operator& op) const {
  if (op.op == Op::kVariableRead) return {{variable(block.tensors[op.inputs[0]])}, {}};
  if (op.op == Op::kVariableWrite || declares_late(block, op)) {
    return {{}, {variable(block.tensors[op.outputs[0]])}};
  }
  return {};
}

std::vector<const graph::Block*> Regions::blocks_of(const graph::Operator& op) const {
  const graph::Attributes& a = op.attributes;
  if (op.op == Op::kCondIf) return {&block_of(a.then_graph), &block_of(a.else_graph)};
  if (op.op == Op::kWhileLoop) return {&block_of(a.cond_graph), &block_of(a.body_graph)};
  return {};
}

TouchedVariables Regions::touched(const graph::Block& block, const graph::Operator& op) const {
  const std::vector<const graph::Block*> blocks = blocks_of(op);
  if (blocks.empty()) return touched_itself(block, op);
  TouchedVariables all;
  for (const graph::Block* inner : blocks) append(all, summaries_.at(inner).touched);
  return as_sets(std::move(all));
}

bool Regions::has_effects(const graph::Block& block, const graph::Operator& op) const {
  // A loop that runs into its limit ends the job, even where what it makes has no use. CUSTOM may do anything.
  if (op.op == Op::kVariableWrite || op.op == Op::kWhileLoop || op.op == Op::kCustom) return true;
  if (declares_late(block, op) || reads_late(block, op)) return true;
  const std::vector<const graph::Block*> blocks = blocks_of(op);
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const graph::Block* inner) { return summaries_.at(inner).effects; });
}

std::vector<bool> invariants(const Regions& regions, const graph::Operator& op) {
  const graph::Block& body = regions.block_of(op.attributes.body_graph);
  std::vector<TensorId> origins(body.tensors.size());  // IDENTITY seen through
  std::iota(origins.begin(), origins.end(), TensorId{0});
  for (const graph::Operator& inner : body.operators) {
    if (inner.op == Op::kIdentity) origins[inner.outputs[0]] = origins[inner.inputs[0]];
  }
  std::vector<bool> same;
  for (size_t i = 0; i < body.inputs.size(); ++i) same.push_back(origins[body.outputs[i]] == body.inputs[i]);
  return same;
}

}  // namespace npu::compiler
