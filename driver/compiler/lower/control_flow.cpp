// SPDX-License-Identifier: Apache-2.0
// COND_IF and WHILE_LOOP: their blocks' steps between labels and branches (ir.h). A block is lowered where it is named,
// each time, with a place for each operand; what it gives is copied to the operator's results, unless its makers wrote
// it there at once.
#include <algorithm>
#include <string>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/refusals.h"
#include "driver/compiler/lower/regions.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::BranchMode;
using contract::Element;
using contract::ErrorCode;
using graph::TensorId;

constexpr uint64_t kSmall = 64;  // bytes of a buffer that may stay in the scratchpad for its condition's sake

std::optional<Refusal> check_control(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  if (!facts.nested() && facts.regions().beyond_limit(op)) {
    return Refusal{ErrorCode::kArgumentUnsupported,
                   "with it the blocks of control flow have more than " + std::to_string(Regions::kMostParts) +
                       " operators, operands and tensors, for a block is put where it is named, each time",
                   "name regions less often, or run the network with `npu reference`"};
  }
  for (const graph::Block* block : facts.regions().blocks_of(op)) {
    const Facts inner(facts, op, *block);
    for (size_t i = 0; i < block->operators.size(); ++i) {
      std::optional<Refusal> refusal = refusal_of(inner, i);
      if (!refusal) continue;
      const graph::Operator& what = inner.op(i);
      refusal->rule = "in block '" + block->name + "', operator " + std::to_string(i) + ", " +
                      std::string(graph::name(what.op)) + " (" + types_of(inner, what) + "): " + refusal->rule;
      return refusal;
    }
  }
  return std::nullopt;
}

// Lowers one block for an operator, which must outlive it.
class Nested {
 public:
  Nested(Emitter& outer, const graph::Operator& op, const std::string& region)
      : facts_(outer.facts(), op, outer.facts().regions().block_of(region)),
        grouping_(make_grouping(facts_, outer.capabilities())),
        emitter_(facts_, grouping_, outer.capabilities(), outer.emission()) {}

  [[nodiscard]] std::vector<View> run(std::span<const View> inputs, std::span<const std::optional<View>> results = {}) {
    return emitter_.run_nested(inputs, results);
  }

 private:
  const Facts facts_;
  const Grouping grouping_;
  Emitter emitter_;
};

// A value where the sequencer can read it.
View on_chip(Emitter& emitter, const View& view) {
  Buffer& own = emitter.emission().module.buffers[view.buffer];
  if (own.kind == BufferKind::kIntermediate && own.bytes <= kSmall) {
    own.on_chip = true;
    return view;
  }
  Buffer flag;
  flag.name = "condition";
  flag.bytes = contract::element_bytes(Element::kBool);
  flag.on_chip = true;
  const View copy = dense_view(emitter.add_buffer(std::move(flag)), Element::kBool, view.dims);
  emitter.add_copy(view, copy);
  return copy;
}

void add_label(Emitter& emitter, uint32_t label) { emitter.add(LabelStep{label}); }

void add_branch(Emitter& emitter, uint32_t label) {
  BranchStep step;
  step.label = label;
  emitter.add(std::move(step));
}

void add_branch_if_false(Emitter& emitter, View condition, uint32_t label) {
  BranchStep step;
  step.mode = BranchMode::kIfFalse;
  step.condition = std::move(condition);
  step.label = label;
  emitter.add(std::move(step));
}

// Reads operands before the construct: what reading them takes is done once, and on every way.
std::vector<View> read_operands(Emitter& emitter, const graph::Operator& op, size_t first) {
  std::vector<View> views;
  for (size_t k = first; k < op.inputs.size(); ++k) views.push_back(emitter.read(op.inputs[k]));
  return views;
}

void emit_branch(Emitter& emitter, const graph::Operator& op, const std::string& region, std::span<const View> inputs,
                 std::span<const std::optional<View>> results) {
  const std::vector<View> made = Nested(emitter, op, region).run(inputs, results);
  for (size_t i = 0; i < made.size(); ++i) {
    if (results[i] && !same_place(made[i], *results[i])) emitter.add_copy(made[i], *results[i]);
  }
}

void emit_cond_if(Emitter& emitter, const Group& group) {
  const Facts& facts = emitter.facts();
  const graph::Operator& op = facts.op(group.ops[0]);
  const std::vector<View> inputs = read_operands(emitter, op, 1);
  const View condition = on_chip(emitter, emitter.read(op.inputs[0]));
  std::vector<std::optional<View>> results;
  for (const TensorId id : op.outputs) {
    const bool used = facts.is_output(id) || !facts.uses(id).empty();
    results.push_back(used ? std::optional(emitter.place(id)) : std::nullopt);
  }
  const uint32_t otherwise = emitter.emission().labels++, end = emitter.emission().labels++;
  add_branch_if_false(emitter, condition, otherwise);
  emit_branch(emitter, op, op.attributes.then_graph, inputs, results);
  add_branch(emitter, end);
  add_label(emitter, otherwise);
  emit_branch(emitter, op, op.attributes.else_graph, inputs, results);
  add_label(emitter, end);
}

// The state of a loop: a buffer for each operand that its body changes, which has the operand's value before the loop.
// The others are read where they are.
std::vector<View> make_state(Emitter& emitter, const graph::Operator& op, const std::vector<bool>& same) {
  const std::vector<View> inputs = read_operands(emitter, op, 0);
  std::vector<View> state;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BufferKind kind = emitter.emission().module.buffers[inputs[i].buffer].kind;
    // A variable may be written before the result is read, which then is still the value of before the loop.
    if (same[i] && kind != BufferKind::kVariable) {
      state.push_back(inputs[i]);
      continue;
    }
    state.push_back(emitter.new_dense(op.outputs[i]));
    emitter.add_copy(inputs[i], state.back());
  }
  return state;
}

// The next state, all of it at a time: a body may hand an operand on as another one, so what lies in the state is saved
// before anything there is written.
void update_state(Emitter& emitter, const graph::Operator& op, const std::vector<bool>& same,
                  std::span<const View> state, std::vector<View> next) {
  const auto is_state = [&](const View& view) {
    return std::any_of(state.begin(), state.end(), [&](const View& own) { return own.buffer == view.buffer; });
  };
  std::vector<bool> stays(next.size());
  for (size_t i = 0; i < next.size(); ++i) stays[i] = same[i] || same_place(next[i], state[i]);
  for (size_t i = 0; i < next.size(); ++i) {
    if (stays[i] || !is_state(next[i])) continue;
    const View saved = emitter.new_dense(op.outputs[i]);
    emitter.add_copy(next[i], saved);
    next[i] = saved;
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (!stays[i]) emitter.add_copy(next[i], state[i]);
  }
}

View make_counter(Emitter& emitter) {
  Buffer buffer;
  buffer.name = "iterations";
  buffer.bytes = contract::element_bytes(Element::kI32);
  buffer.on_chip = true;
  const View counter = dense_view(emitter.add_buffer(std::move(buffer)), Element::kI32, {1});
  emitter.add_fill(counter, 0);
  return counter;
}

void emit_while_loop(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  const std::vector<bool> same = invariants(emitter.facts().regions(), op);
  const std::vector<View> state = make_state(emitter, op, same);
  BranchStep back;
  back.mode = BranchMode::kRepeat;
  back.counter = make_counter(emitter);
  back.limit = emitter.emission().most_iterations;
  back.label = emitter.emission().labels++;
  const uint32_t exit = emitter.emission().labels++;
  add_label(emitter, back.label);
  const View goes_on = Nested(emitter, op, op.attributes.cond_graph).run(state)[0];
  add_branch_if_false(emitter, on_chip(emitter, goes_on), exit);
  update_state(emitter, op, same, state, Nested(emitter, op, op.attributes.body_graph).run(state));
  emitter.add(std::move(back));
  add_label(emitter, exit);
  for (size_t i = 0; i < state.size(); ++i) emitter.set_place(op.outputs[i], state[i]);
}

}  // namespace

const Family kCondIfFamily = {Kind::kControl, std::nullopt, check_control, nullptr, emit_cond_if};
const Family kWhileLoopFamily = {Kind::kControl, std::nullopt, check_control, nullptr, emit_while_loop};

}  // namespace npu::compiler
