// SPDX-License-Identifier: Apache-2.0
// CONV2D, DEPTHWISE_CONV2D and MATMUL, with the RESCALE, ADD and CLAMP that their output stage takes along.
#include <utility>

#include "driver/compiler/lower/convolution.h"
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
#include "driver/graph/analyse.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::MxuMode;
using graph::Op;

MxuMode mode_of_convolution(Op op) {
  switch (op) {
    case Op::kConv2d:
      return MxuMode::kConv;
    case Op::kDepthwiseConv2d:
      return MxuMode::kDepthwise;
    default:
      panic(__FILE__, __LINE__, "an operator of this family that is no convolution");
  }
}

std::optional<Refusal> check_matmul(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  return refuse_mxu_type(facts, op);
}

// Weights are rows of output channels (conv) or taps (depthwise), each of them dense.
bool accepts_conv(const graph::Operator& op, size_t operand, const View& view) {
  if (operand != 1) return inner_dense(view);
  return op.op == Op::kConv2d ? has_dense_rows(view) : is_dense(view);
}

// B [N,C,W] whose columns are dense, as after a transposition: columns are then the weight rows of a convolution.
bool has_dense_columns(const View& b) {
  constexpr int64_t kMostBatches = 64;  // each becomes a step of its own
  return b.type == contract::Element::kI8 && b.dims[0] <= kMostBatches &&
         inner_dense(permute(b, std::vector<int32_t>{0, 2, 1}));
}

bool accepts_matmul(const graph::Operator&, size_t operand, const View& view) {
  return inner_dense(view) || (operand == 1 && has_dense_columns(view));
}

// A tensor with other dimensions of the same elements.
View read_as(Emitter& emitter, graph::TensorId id, const Dims& dims) {
  const std::optional<View> view = reshape(emitter.read(id), dims);
  return view ? *view : *reshape(emitter.read_dense(id), dims);
}

void emit_conv(Emitter& emitter, const Group& group) {
  const Facts& facts = emitter.facts();
  const graph::Operator& op = facts.op(group.ops[0]);
  const graph::Attributes& how = op.attributes;
  const OutputStage stage = stage_of(facts, group);
  Dims out = facts.result(op).shape;
  MxuStep step = convolution_step(emitter, op, stage, out[3]);
  step.mode = mode_of_convolution(op.op);
  const bool depthwise = step.mode == MxuMode::kDepthwise;  // else it is kConv
  step.src = emitter.read_operand(op, 0);
  step.weights = emitter.read_operand(op, 1);
  step.kernel_h = window_of(facts, op)[0];
  step.kernel_w = window_of(facts, op)[1];
  step.multiplier = depthwise ? step.weights.dims[3] : 1;
  step.stride_y = how.stride[0];
  step.stride_x = how.stride[1];
  step.dilation_y = how.dilation[0];
  step.dilation_x = how.dilation[1];
  step.pad_top = how.pad[0];
  step.pad_left = how.pad[2];
  if (out[1] == 1 && out[2] == 1 && step.src.dims[1] == 1 && step.src.dims[2] == 1 &&
      step.kernel_h * step.kernel_w == 1) {
    // A fully connected layer: its rows are a batch of images of one pixel, and run better as one image. Strides step
    // over pixels of an image, never over images.
    step.src = *reshape(step.src, {1, 1, step.src.dims[0], step.src.dims[3]});
    step.stride_y = step.stride_x = step.dilation_y = step.dilation_x = 1;
    std::swap(out[0], out[2]);
  }
  if (step.residual) step.residual->view = read_as(emitter, stage.residual->operand, out);
  step.dst = emitter.place(stage.result, out, true);
  emitter.layer().macs = graph::macs(facts.block(), op);
  emitter.add(std::move(step));
}

// One image of one row for each batch, with the transposed B as weights.
void emit_as_convolutions(Emitter& emitter, const MxuStep& matmul) {
  const View rows = permute(matmul.weights, std::vector<int32_t>{0, 2, 1});
  for (int64_t n = 0; n < matmul.src.dims[0]; ++n) {
    const auto image = [n](const View& view) {
      return slice(view, {n, 0, 0, 0}, {1, view.dims[1], view.dims[2], view.dims[3]});
    };
    MxuStep step = matmul;
    step.mode = MxuMode::kConv;
    step.src = image(matmul.src);
    step.dst = image(matmul.dst);
    step.weights =
        *reshape(slice(rows, {n, 0, 0}, {1, rows.dims[1], rows.dims[2]}), {rows.dims[1], 1, 1, rows.dims[2]});
    emitter.add(std::move(step));
  }
}

void emit_matmul(Emitter& emitter, const Group& group) {
  const Facts& facts = emitter.facts();
  const graph::Operator& op = facts.op(group.ops[0]);
  const OutputStage stage = stage_of(facts, group);
  MxuStep step{};
  step.mode = MxuMode::kMatmul;
  const View a = emitter.read_operand(op, 0);
  const graph::Shape& out = facts.result(op).shape;
  step.src = *reshape(a, {a.dims[0], 1, a.dims[1], a.dims[2]});
  step.weights = emitter.read_operand(op, 1);
  const Dims rows = {out[0], 1, out[1], out[2]};
  step.dst = emitter.place(stage.result, rows, true);
  BlockParams params;
  set_zero_point(facts, op.inputs[2], false, params.known.header.input_zp, params.input_zp);
  set_zero_point(facts, op.inputs[3], false, params.known.header.weight_zp, params.weight_zp);
  fill_stage(facts, stage, std::nullopt, out[2], step, params);
  if (step.residual) step.residual->view = read_as(emitter, stage.residual->operand, rows);
  set_params(emitter, std::move(params), step);
  emitter.layer().macs = graph::macs(facts.block(), op);
  if (inner_dense(step.weights)) {
    emitter.add(std::move(step));
  } else {
    emit_as_convolutions(emitter, step);
  }
}

}  // namespace

const Family kConvFamily = {Kind::kMxu, contract::Engine::kMxu, check_convolution, accepts_conv, emit_conv};
const Family kMatmulFamily = {Kind::kMxu, contract::Engine::kMxu, check_matmul, accepts_matmul, emit_matmul};

}  // namespace npu::compiler
