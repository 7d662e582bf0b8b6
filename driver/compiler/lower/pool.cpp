// SPDX-License-Identifier: Apache-2.0
// MAX_POOL2D and AVG_POOL2D.
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/parameters.h"
#include "hw/contract/elements.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::PoolMode;
using graph::Op;

PoolMode mode_of(Op op) {
  switch (op) {
    case Op::kMaxPool2d:
      return PoolMode::kMax;
    case Op::kAvgPool2d:
      return PoolMode::kAvg;
    default:
      panic(__FILE__, __LINE__, "an operator of this family that is no pooling");
  }
}

std::optional<Refusal> check_pool(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_vpu_type(facts, op)) return refusal;
  const std::vector<int64_t> kernel(op.attributes.kernel.begin(), op.attributes.kernel.end());
  return refuse_window(op, kernel);
}

void set_zero_points(Emitter& emitter, const graph::Operator& op, PoolStep& step) {
  const Facts& facts = emitter.facts();
  BlockParams params;
  set_zero_point(facts, op.inputs[1], false, step.input_zp, params.input_zp);
  set_zero_point(facts, op.inputs[2], false, step.output_zp, params.output_zp);
  if (!params.at_run_time()) return;
  params.known.header.input_zp = step.input_zp;
  params.known.header.output_zp = step.output_zp;
  step.block = parameter_block(emitter, params);
}

bool accepts_pool(const graph::Operator&, size_t, const View& view) { return inner_dense(view); }

void emit_pool(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  const graph::Attributes& how = op.attributes;
  PoolStep step;
  step.mode = mode_of(op.op);
  step.src = emitter.read_operand(op, 0);
  step.dst = emitter.place(op.outputs[0], emitter.facts().result(op).shape, true);
  step.kernel_h = how.kernel[0];
  step.kernel_w = how.kernel[1];
  step.stride_y = how.stride[0];
  step.stride_x = how.stride[1];
  step.pad_top = how.pad[0];
  step.pad_left = how.pad[2];
  switch (step.mode) {
    case PoolMode::kMax:
      step.ignore_nan = how.nan_mode == graph::NanMode::kIgnore && contract::is_float(step.src.type);
      break;
    case PoolMode::kAvg:
      set_zero_points(emitter, op, step);
      break;
  }
  emitter.add(std::move(step));
}

}  // namespace

const Family kPoolFamily = {Kind::kStep, contract::Engine::kVpu, check_pool, accepts_pool, emit_pool};

}  // namespace npu::compiler
