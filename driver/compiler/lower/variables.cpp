// SPDX-License-Identifier: Apache-2.0
// VARIABLE_READ and VARIABLE_WRITE: copies between persistent SRAM and the other memories. VARIABLE where control flow
// decides whether it is declared; the device then knows at each use.
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

// The driver prepares the initial value before the job: it cannot know which declaration will be reached.
std::optional<Refusal> check_declaration(const Facts& facts, const graph::Operator& op) {
  if (facts.regions().declarations().of(facts.result(op)).one_initial_value) return std::nullopt;
  return Refusal{contract::ErrorCode::kArgumentUnsupported,
                 "another VARIABLE operator gives the variable another initial value",
                 "give it the same one wherever it is declared, or run the network with `npu reference`"};
}

// It begins a block, as a label does: no step that uses the variable passes it.
void emit_declaration(Emitter& emitter, const Group& group) {
  const View variable = emitter.variable(emitter.facts().op(group.ops[0]).outputs[0]);
  emitter.add(LabelStep{emitter.emission().labels++});
  emitter.add(DeclareStep{emitter.emission().module.buffers[variable.buffer].index});
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

const Family kDeclareFamily = {Kind::kDeclare, std::nullopt, check_declaration, nullptr, emit_declaration};
const Family kReadFamily = {Kind::kRead, contract::Engine::kDma, refuse_types, nullptr, emit_read};
const Family kWriteFamily = {Kind::kStep, contract::Engine::kDma, refuse_types, nullptr, emit_write};

}  // namespace npu::compiler
