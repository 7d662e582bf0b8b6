// SPDX-License-Identifier: Apache-2.0
// MAX_POOL2D and AVG_POOL2D.
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
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

std::optional<Refusal> refuse_zero_points(const Facts& facts, const graph::Operator& op) {
  switch (mode_of(op.op)) {
    case PoolMode::kMax:
      return std::nullopt;
    case PoolMode::kAvg:
      return refuse_run_time(facts, op, 1, {"input_zp", "output_zp"});
  }
  return std::nullopt;
}

std::optional<Refusal> check_pool(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  if (auto refusal = refuse_zero_points(facts, op)) return refusal;
  const std::vector<int64_t> kernel(op.attributes.kernel.begin(), op.attributes.kernel.end());
  return refuse_window(op, kernel);
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
      break;
    case PoolMode::kAvg:
      step.input_zp = static_cast<int32_t>(*emitter.facts().scalar(op, 1));
      step.output_zp = static_cast<int32_t>(*emitter.facts().scalar(op, 2));
      break;
  }
  emitter.add(std::move(step));
}

}  // namespace

const Family kPoolFamily = {Kind::kStep, contract::Engine::kVpu, check_pool, accepts_pool, emit_pool};

}  // namespace npu::compiler
