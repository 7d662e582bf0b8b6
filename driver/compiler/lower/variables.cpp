// SPDX-License-Identifier: Apache-2.0
// VARIABLE_READ and VARIABLE_WRITE: copies between persistent SRAM and the other memories.
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"

namespace npu::compiler {
namespace {

// The program declares its variables before it does anything else: a read that comes before its VARIABLE would see an
// initial value where the specification has none yet.
std::optional<Refusal> check_read(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  const std::optional<size_t> declaration = facts.declaration(op.inputs[0]);
  if (!declaration || &facts.op(*declaration) < &op) return std::nullopt;
  return Refusal{contract::ErrorCode::kArgumentUnsupported, "its variable is declared after it",
                 "move the VARIABLE to the front, or run the network with `npu reference`"};
}

void emit_read(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  emitter.add_copy(emitter.variable(op.inputs[0]), emitter.place(op.outputs[0]));
}

void emit_write(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  emitter.add_copy(emitter.read(op.inputs[0]), emitter.variable(op.outputs[0]), true);
}

}  // namespace

const Family kReadFamily = {Kind::kRead, "dma", check_read, nullptr, emit_read};
const Family kWriteFamily = {Kind::kStep, "dma", refuse_types, nullptr, emit_write};

}  // namespace npu::compiler
