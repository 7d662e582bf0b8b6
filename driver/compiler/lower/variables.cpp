// SPDX-License-Identifier: Apache-2.0
// VARIABLE_READ and VARIABLE_WRITE: copies between persistent SRAM and the other memories.
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"

namespace npu::compiler {
namespace {

void emit_read(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  emitter.add_copy(emitter.variable(op.inputs[0]), emitter.place(op.outputs[0]));
}

void emit_write(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  emitter.add_copy(emitter.read(op.inputs[0]), emitter.variable(op.outputs[0]), true);
}

}  // namespace

const Family kReadFamily = {Kind::kRead, contract::Engine::kDma, refuse_types, nullptr, emit_read};
const Family kWriteFamily = {Kind::kStep, contract::Engine::kDma, refuse_types, nullptr, emit_write};

}  // namespace npu::compiler
