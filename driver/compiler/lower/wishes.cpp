// SPDX-License-Identifier: Apache-2.0
// Places that users want a tensor in, so that its maker writes it there at once: outputs, and parts of a CONCAT or PAD.
#include <algorithm>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/layout.h"

namespace npu::compiler {

using graph::Op;
using graph::TensorId;

void Emitter::wish_places(std::span<const std::optional<View>> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) wish(facts_.block().outputs[i], *outputs[i]);
  }
  // From the end, so that a CONCAT knows its own place before it gives places to its parts.
  for (auto group = grouping_.groups.rbegin(); group != grouping_.groups.rend(); ++group) {
    const graph::Operator& op = facts_.op(group->ops.front());
    if (op.op != Op::kConcat && op.op != Op::kPad) continue;
    std::optional<View>& whole = wishes_[op.outputs[0]];
    if (!whole) whole = new_dense(op.outputs[0]);
    wish_parts(op, *whole);
  }
}

void Emitter::wish_parts(const graph::Operator& op, const View& whole) {
  if (op.op == Op::kPad) return wish(op.inputs[0], pad_interior(facts_, op, whole));
  const std::vector<View> parts = concat_parts(facts_, op, whole);
  for (size_t i = 0; i < parts.size(); ++i) wish(op.inputs[i], parts[i]);
}

void Emitter::wish(TensorId id, const View& view) {
  // The step that makes the tensor may stand behind reshapes.
  std::optional<size_t> producer = facts_.producer(id);
  while (producer && keeps_elements(facts_.op(*producer).op)) {
    id = facts_.op(*producer).inputs[0];
    producer = facts_.producer(id);
  }
  if (!producer || facts_.constant(id) != nullptr || grouping_.group_of[*producer] == Grouping::kNone || wishes_[id])
    return;
  const std::optional<View> place = reshape(view, facts_.tensor(id).shape);
  if (place && readable(id, *place)) wishes_[id] = place;
}

bool Emitter::readable(TensorId id, const View& view) const {
  constexpr size_t kLimit = 64;  // operators that are asked before giving up
  std::vector<std::pair<TensorId, View>> pending = {{id, view}};
  for (size_t asked = 0; !pending.empty();) {
    const auto [current, place] = pending.back();
    pending.pop_back();
    for (const Use& use : facts_.uses(current)) {
      if (++asked > kLimit) return false;
      const graph::Operator& op = facts_.op(use.op);
      const Family& family = family_of(op.op);
      if (family.kind == Kind::kView) {
        const std::optional<View> next = derive(op, place);
        if (!next) return false;
        pending.emplace_back(op.outputs[0], *next);
      } else if (family.accepts != nullptr && !family.accepts(op, use.operand, place)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace npu::compiler
