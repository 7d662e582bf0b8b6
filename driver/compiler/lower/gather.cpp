// SPDX-License-Identifier: Apache-2.0
// GATHER and SCATTER: DMA moves the rows that indices choose. SCATTER copies the values before.
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"

namespace npu::compiler {
namespace {

// Rows and lists of indices lie as they are moved: without gaps within them.
bool accepts_rows(const graph::Operator&, size_t, const View& view) { return inner_dense(view); }

void emit_gather(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  GatherStep step;
  step.table = emitter.read_operand(op, 0);
  step.index = emitter.read_operand(op, 1);
  const graph::TensorId result = op.outputs[0];
  step.rows = emitter.place(result, emitter.facts().tensor(result).shape, true);
  emitter.add(std::move(step));
}

void emit_scatter(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  const View values = emitter.read(op.inputs[0]);
  GatherStep step;
  step.scatter = true;
  step.index = emitter.read_operand(op, 1);
  step.rows = emitter.read_operand(op, 2);
  const graph::TensorId result = op.outputs[0];
  step.table = emitter.place(result, emitter.facts().tensor(result).shape, true);
  emitter.add_copy(values, step.table);
  emitter.add(std::move(step));
}

}  // namespace

const Family kGatherFamily = {Kind::kStep, contract::Engine::kDma, refuse_types, accepts_rows, emit_gather};
const Family kScatterFamily = {Kind::kStep, contract::Engine::kDma, refuse_types, accepts_rows, emit_scatter};

}  // namespace npu::compiler
