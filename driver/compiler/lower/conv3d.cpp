// SPDX-License-Identifier: Apache-2.0
// CONV3D as convolutions of images. Its window has a dimension more than the MXU walks; but a row of its taps lies in
// one piece with the channels: the MXU takes them as channels, depth and y as the window's dimensions, and the columns
// of results as a batch. No element is copied, unless columns are padded or dilated. Without depth the images are the
// slices.
#include <numeric>

#include "driver/compiler/lower/convolution.h"
#include "driver/compiler/lower/layout.h"
#include "driver/graph/analyse.h"

namespace npu::compiler {
namespace {

enum Axis : size_t { kDepth, kY, kX };                         // of stride, dilation and window; of pad twice
enum Dim : size_t { kN, kD, kH, kW, kC };                      // of operand and result
enum PlaneDim : size_t { kPlane = 3, kPlaneColumn, kPlaneC };  // of the columns by their position modulo the dilation

// Rows of taps, with their channels, are one run of memory.
bool accepts_conv3d(const graph::Operator&, size_t operand, const View& view) {
  if (operand == 1) return has_dense_rows(view);
  const bool runs = view.dims[kW] == 1 || view.strides[kW] == view.dims[kC] * contract::element_bytes(view.type);
  return inner_dense(view) && runs;
}

View drop_dim(View view, size_t dim) {
  view.dims.erase(view.dims.begin() + static_cast<std::ptrdiff_t>(dim));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  return view;
}

class Images {
 public:
  Images(Emitter& emitter, const graph::Operator& op, const OutputStage& stage)
      : emitter_(emitter),
        facts_(emitter.facts()),
        op_(op),
        how_(op.attributes),
        window_(window_of(facts_, op)),
        step_(convolution_step(emitter, op, stage, facts_.result(op).shape[kC])) {
    step_.weights = emitter.read_operand(op, 1);
    step_.dst = emitter.place(stage.result, facts_.result(op).shape, true);
  }

  void run() { window_[kDepth] == 1 ? add_slices() : add_columns(); }

 private:
  // A step for all of a batch, or for each position of dimension `outer` or `inner` where these two are no batch: with
  // one dimension left, both views are images.
  void add_batch(const MxuStep& step, size_t outer, size_t inner) {
    const int64_t rows = step.dst.dims[outer], columns = step.dst.dims[inner];
    const size_t looped = rows <= columns ? outer : inner;
    for (int64_t i = 0; i < step.dst.dims[looped]; ++i) {
      MxuStep part = step;
      for (View* view : {&part.src, &part.dst}) *view = drop_dim(every(*view, looped, i, 1, 1), looped);
      emitter_.add(std::move(part));
    }
  }

  // The kernel has no depth: slices are images, and those of padding have the bias alone.
  void add_slices() {
    MxuStep step = step_;
    const View src = emitter_.read_operand(op_, 0);
    const int64_t stride = how_.stride[kDepth], pad = how_.pad[0], slices = step_.dst.dims[kD];
    const int64_t first = std::min(slices, (pad + stride - 1) / stride);
    const int64_t end = std::clamp((pad + src.dims[kD] + stride - 1) / stride, first, slices);
    if (first > 0) add_bias_only(emitter_, step_, every(step_.dst, kD, 0, first, 1));
    if (end < slices) add_bias_only(emitter_, step_, every(step_.dst, kD, end, slices - end, 1));
    if (first == end) return;
    step.src = every(src, kD, first * stride - pad, end - first, stride);
    step.dst = every(step_.dst, kD, first, end - first, 1);
    const Dims& w = step.weights.dims;
    step.weights = *reshape(step.weights, {w[0], w[2], w[3], w[4]});
    set_window(step, kY, kX);
    add_batch(step, kN, kD);
  }

  // The window in depth and y; what x needs is done by the views.
  void add_columns() {
    MxuStep step = step_;
    const Dims& w = step.weights.dims;
    step.weights = *reshape(step.weights, {w[0], w[1], w[2], w[3] * w[4]});
    set_window(step, kDepth, kY);
    // Every so many results begin in the same plane, so many columns of it apart.
    const int64_t stride = how_.stride[kX], columns = step_.dst.dims[kW];
    const int64_t dilation = window_[kX] == 1 ? 1 : how_.dilation[kX];
    const int64_t period = dilation / std::gcd(dilation, stride);
    const View planes = columns_by_plane(dilation, std::min(period, columns));
    for (int64_t at = 0; at < planes.dims[kPlane]; ++at) {
      const int64_t count = (columns - at + period - 1) / period;
      View src = every(planes, kPlane, at, 1, 1);
      src = every(src, kPlaneColumn, at * stride / dilation, count, stride * period / dilation);
      src.dims[kPlaneC] *= window_[kX];
      step.src = to_front(drop_dim(src, kPlane));
      step.dst = to_front(every(step_.dst, kW, at, count, period));
      add_batch(step, 0, 1);
    }
  }

  // [N, D, H, W, C] as [N, W, D, H, C]
  static View to_front(const View& view) { return permute(view, std::vector<int32_t>{kN, kW, kD, kH, kC}); }

  void set_window(MxuStep& step, Axis rows, Axis columns) const {
    step.kernel_h = window_[rows];
    step.kernel_w = window_[columns];
    step.stride_y = how_.stride[rows];
    step.stride_x = how_.stride[columns];
    step.dilation_y = how_.dilation[rows];
    step.dilation_x = how_.dilation[columns];
    step.pad_top = how_.pad[2 * rows];
    step.pad_left = how_.pad[2 * columns];
  }

  // The operand as [N, D, H, planes, columns, C]. A plane has columns of the padded operand that are a dilation apart:
  // those that the result of its number reads are among them.
  View columns_by_plane(int64_t dilation, int64_t count) {
    const int64_t before = how_.pad[2 * kX], after = how_.pad[2 * kX + 1];
    const auto as_plane = [](View view) {
      view.dims.insert(view.dims.begin() + kPlane, 1);
      view.strides.insert(view.strides.begin() + kPlane, 0);
      return view;
    };
    if (dilation == 1 && before == 0 && after == 0) return as_plane(emitter_.read_operand(op_, 0));
    const View from = emitter_.read(op_.inputs[0]);
    const Dims& d = from.dims;
    const int64_t columns = (before + d[kW] + after + dilation - 1) / dilation;
    const View planes = emitter_.intermediate(facts_.tensor(op_.inputs[0]).name, from.type,
                                              {d[kN], d[kD], d[kH], count, columns, d[kC]});
    for (int64_t number = 0; number < count; ++number) {
      const View plane = drop_dim(every(planes, kPlane, number, 1, 1), kPlane);
      // Column i of the plane is column i * dilation + p - before of the operand.
      const int64_t p = number * how_.stride[kX] % dilation;
      const int64_t first = std::min(columns, std::max<int64_t>(0, before - p + dilation - 1) / dilation);
      const int64_t end = std::clamp((before + d[kW] - p + dilation - 1) / dilation, first, columns);
      Dims start(plane.dims.size()), size = plane.dims;
      start[kW] = first;
      size[kW] = end - first;
      fill_shell(emitter_, plane, start, size, element_value(emitter_, op_.inputs[3]));
      if (first == end) continue;
      emitter_.add_copy(every(from, kW, first * dilation + p - before, end - first, dilation),
                        slice(plane, start, size));
    }
    return planes;
  }

  Emitter& emitter_;
  const Facts& facts_;
  const graph::Operator& op_;
  const graph::Attributes& how_;
  const std::span<const int64_t> window_;
  MxuStep step_;  // what all steps share; dst and weights as the operator has them
};

void emit_conv3d(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  emitter.layer().macs = graph::macs(emitter.facts().block(), op);
  Images(emitter, op, stage_of(emitter.facts(), group)).run();
}

}  // namespace

const Family kConv3dFamily = {Kind::kMxu, contract::Engine::kMxu, check_convolution, accepts_conv3d, emit_conv3d};

}  // namespace npu::compiler
