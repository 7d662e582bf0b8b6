// SPDX-License-Identifier: Apache-2.0
// REDUCE_* and ARGMAX: one axis of a tensor seen as [outer, axis, inner].
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
#include "hw/contract/elements.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::ReduceOp;
using graph::Op;

std::optional<View> as_reduction(const View& view, size_t axis) {
  const std::span<const int64_t> dims(view.dims);
  const auto folded = reshape(view, {product(dims.first(axis)), dims[axis], product(dims.subspan(axis + 1))});
  return folded && inner_dense(*folded) ? folded : std::nullopt;
}

bool accepts_reduce(const graph::Operator& op, size_t, const View& view) {
  return as_reduction(view, static_cast<size_t>(op.attributes.axis)).has_value();
}

ReduceOp code_of(Op op) {
  switch (op) {
    case Op::kReduceSum:
      return ReduceOp::kSum;
    case Op::kReduceMax:
      return ReduceOp::kMax;
    case Op::kReduceMin:
      return ReduceOp::kMin;
    case Op::kReduceAll:
      return ReduceOp::kAll;
    case Op::kReduceAny:
      return ReduceOp::kAny;
    case Op::kReduceProduct:
      return ReduceOp::kProduct;
    case Op::kArgMax:
      return ReduceOp::kArgmax;
    default:
      panic(__FILE__, __LINE__, "an operator of this family that is no reduction");
  }
}

void emit_reduce(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  ReduceStep step;
  step.op = code_of(op.op);
  const View src = emitter.read_operand(op, 0);
  step.src = *as_reduction(src, static_cast<size_t>(op.attributes.axis));
  step.dst = emitter.place(op.outputs[0], {step.src.dims[0], step.src.dims[2]}, true);
  const bool compares = step.op == ReduceOp::kMax || step.op == ReduceOp::kMin || step.op == ReduceOp::kArgmax;
  step.ignore_nan = op.attributes.nan_mode == graph::NanMode::kIgnore && compares && contract::is_float(step.src.type);
  emitter.add(std::move(step));
}

}  // namespace

const Family kReduceFamily = {Kind::kStep, contract::Engine::kVpu, refuse_vpu_type, accepts_reduce, emit_reduce};

}  // namespace npu::compiler
