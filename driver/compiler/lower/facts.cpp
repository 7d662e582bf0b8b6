// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/facts.h"

#include <numeric>
#include <utility>

#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/operands.h"
#include "driver/compiler/lower/views.h"

namespace npu::compiler {
namespace {

using graph::Op;
using graph::TensorId;

// The values of a block's inputs that are known where the operator stands.
std::vector<std::optional<Constant>> known_inputs(const Facts& facts, const graph::Operator& op) {
  const bool loop = op.op == Op::kWhileLoop;
  const std::vector<bool> same = loop ? invariants(facts.regions(), op) : std::vector<bool>();
  std::vector<std::optional<Constant>> known;
  for (size_t k = loop ? 0 : 1; k < op.inputs.size(); ++k) {
    const Constant* value = facts.constant(op.inputs[k]);
    known.push_back(value == nullptr || (loop && !same[k]) ? std::nullopt : std::optional(*value));
  }
  return known;
}

}  // namespace

Facts::Facts(const graph::Graph& graph, const contract::Capabilities& machine)
    : Facts(std::make_shared<Regions>(graph), machine, graph.main(), {}) {}

Facts::Facts(const Facts& outer, const graph::Operator& op, const graph::Block& block)
    : Facts(outer.regions_, outer.machine_, block,
            {known_inputs(outer, op), outer.regions().folding_budget(), &outer.regions().constants()}) {}

Facts::Facts(std::shared_ptr<const Regions> regions, const contract::Capabilities& machine, const graph::Block& block,
             const Folding& folding)
    : regions_(std::move(regions)),
      machine_(machine),
      block_(block),
      constants_(fold_constants(block, folding)),
      producers_(block.tensors.size()),
      uses_(block.tensors.size()),
      is_output_(block.tensors.size()),
      live_(block.operators.size()),
      alias_roots_(block.tensors.size()),
      view_roots_(block.tensors.size()) {
  for (TensorId id : block.outputs) is_output_[id] = true;
  find_producers();
  find_live();
  find_uses();
  find_roots();
}

void Facts::find_producers() {
  for (size_t i = 0; i < block_.operators.size(); ++i) {
    if (op(i).op == Op::kVariable || op(i).op == Op::kVariableWrite) continue;
    for (TensorId id : op(i).outputs) producers_[id] = i;
  }
}

void Facts::find_live() {
  std::vector<bool> needed = is_output_;
  // Operators are in execution order, so one pass from the end meets every user before its producer.
  for (size_t i = block_.operators.size(); i-- > 0;) {
    const graph::Operator& current = op(i);
    bool live = regions_->has_effects(block_, current);
    for (TensorId id : current.outputs) live = live || (needed[id] && producers_[id] == i && !constants_[id]);
    if (!live) continue;
    live_[i] = true;
    for (TensorId id : current.inputs) needed[id] = true;
  }
}

void Facts::find_uses() {
  for (size_t i = 0; i < block_.operators.size(); ++i) {
    if (!live_[i]) continue;
    for (size_t k = 0; k < op(i).inputs.size(); ++k) uses_[op(i).inputs[k]].push_back({i, k});
  }
}

void Facts::find_roots() {
  std::iota(alias_roots_.begin(), alias_roots_.end(), TensorId{0});
  std::iota(view_roots_.begin(), view_roots_.end(), TensorId{0});
  for (size_t i = 0; i < block_.operators.size(); ++i) {
    const graph::Operator& current = op(i);
    if (!live_[i]) continue;
    if (is_alias(current)) alias_roots_[current.outputs[0]] = alias_roots_[current.inputs[0]];
    if (family_of(current.op).kind == Kind::kView) {
      view_roots_[current.outputs[0]] = view_roots_[current.inputs[0]];
    }
  }
}

bool Facts::is_alias(const graph::Operator& op) const {
  if (op.op == Op::kIdentity) return true;
  return op.op == Op::kReshape && squeeze(tensor(op.inputs[0]).shape) == squeeze(result(op).shape);
}

std::optional<int64_t> Facts::scalar(const graph::Operator& op, size_t operand) const {
  if (operand >= op.inputs.size()) return std::nullopt;
  const Constant* value = constant(op.inputs[operand]);
  if (value == nullptr || value->elements() != 1 || value->bytes->empty()) return std::nullopt;
  return value->at(0);
}

std::optional<std::vector<int64_t>> Facts::shape_operand(const graph::Operator& op, size_t index) const {
  const std::optional<TensorId> id = shape_operand_id(block_, op, index);
  const Constant* value = id ? constant(*id) : nullptr;
  if (value == nullptr) return std::nullopt;
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < value->elements(); ++i) dims.push_back(value->at(i));
  return dims;
}

}  // namespace npu::compiler
