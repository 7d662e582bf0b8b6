// SPDX-License-Identifier: Apache-2.0
// Tiles of CONV2D, DEPTHWISE_CONV2D and MATMUL: axes are batch, output rows, output columns, and channels (output
// channels; input channels in depthwise mode). The batch comes behind the columns where memory has it there. The
// reduction is never cut. Where the parameter block comes at run time, neither are output channels: the block of a part
// of them lies nowhere (split_mxu.cpp makes steps of fewer channels before).
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "driver/compiler/parameter_block.h"
#include "driver/compiler/schedule/image.h"
#include "driver/compiler/schedule/image_operand.h"
#include "driver/compiler/schedule/tiled_step.h"
#include "driver/compiler/schedule/window.h"
#include "hw/contract/error.h"
#include "hw/timing/mxu_cycles.h"

namespace npu::compiler::backend {
namespace {

using contract::MxuMode;

// Dimension `outer` of the views into `inner`, where their strides allow.
void merge_dims(std::span<View* const> views, size_t outer, size_t inner) {
  const auto fits = [&](const View& v) {
    return v.dims[outer] == 1 || v.dims[inner] == 1 || v.strides[outer] == v.strides[inner] * v.dims[inner];
  };
  if (!std::all_of(views.begin(), views.end(), [&](const View* v) { return fits(*v); })) return;
  for (View* v : views) {
    if (v->dims[inner] == 1) v->strides[inner] = v->strides[outer];
    v->dims[inner] *= v->dims[outer];
    v->dims[outer] = 1;
  }
}

// Whether an output channel sums over one input channel, and not over all of them.
bool is_channelwise(MxuMode mode) {
  switch (mode) {
    case MxuMode::kDepthwise:
      return true;
    case MxuMode::kConv:
    case MxuMode::kMatmul:
      return false;
  }
  return false;
}

class MxuTiles : public TiledStep {
  enum AxisIndex : size_t { kN, kY, kX, kC };
  enum OperandIndex : size_t { kSource, kWeights, kParams, kResult, kResidual };

 public:
  MxuTiles(const MxuStep& step, const contract::Capabilities& capabilities)
      : TiledStep(contract::Engine::kMxu),
        step_(step),
        capabilities_(capabilities),
        src_(step.src),
        dst_(step.dst),
        residual_(step.residual ? step.residual->view : View{}) {
    const bool pointwise = step.mode == MxuMode::kConv && step.kernel_h == 1 && step.kernel_w == 1 &&
                           step.stride_y == 1 && step.stride_x == 1 && src_.dims[1] == dst_.dims[1] &&
                           src_.dims[2] == dst_.dims[2] && step.pad_top == 0 && step.pad_left == 0;
    if (pointwise) {  // pixels are rows of a matrix: the more in one command, the better the array is filled
      std::vector<View*> images = {&src_, &dst_};
      if (step.residual) images.push_back(&residual_);
      const auto is_open = [&](size_t dim) { return (step.open >> dim & 1) != 0; };
      if (!is_open(2)) merge_dims(images, 1, 2);
      if (!is_open(2) && !is_open(1)) merge_dims(images, 0, 2);
    }
    src_operand_.emplace(src_);
    dst_operand_.emplace(dst_);
    if (dst_operand_->batch_inside()) axis_of_ = {2, 0, 1, 3};
    y_ = {step.kernel_h, step.stride_y, step.dilation_y, step.pad_top, src_.dims[1]};
    x_ = {step.kernel_w, step.stride_x, step.dilation_x, step.pad_left, src_.dims[2]};
    const bool depthwise = is_channelwise(step.mode);
    const int64_t columns = capabilities.mxu_cols;
    axes_.resize(4);
    for (const AxisIndex axis : {kN, kY, kX}) axes_[at(axis)] = {dst_.dims[axis], 1, 0};
    axes_[at(kC)] = {depthwise ? src_.dims[3] : dst_.dims[3],
                     depthwise ? std::max<int64_t>(1, columns / step.multiplier) : columns, 1};
    // Tiles that pixels side by side fill. A batch inside takes columns a few at a time, and they may be too many.
    if (!dst_operand_->batch_inside()) axes_[at(kX)].granule = most_side_by_side();
    const bool matmul = step.mode == MxuMode::kMatmul;
    axes_[at(kN)].name = "batch";
    axes_[at(kY)].name = matmul ? "planes" : "rows";
    axes_[at(kX)].name = matmul ? "rows" : pointwise ? "pixels" : "columns";
    axes_[at(kC)].name = matmul ? "columns" : depthwise ? "input channels" : "channels";
    if (step.block) {
      axes_[at(kC)].granule = axes_[at(kC)].extent;
      axes_[at(kC)].divisible = false;
    }
    const View& w = step.weights;
    const uint32_t pixels = 1u << at(kN) | 1u << at(kY) | 1u << at(kX), channels = 1u << at(kC);
    const int64_t weight_unit = element_size(w);
    bool weights_walkable = false;
    uint32_t weights_axes = channels;
    switch (step.mode) {
      case MxuMode::kConv:
        weights_walkable = dense(std::span(w.dims).subspan(1), std::span(w.strides).subspan(1), weight_unit);
        break;
      case MxuMode::kDepthwise:
        weights_walkable = dense(std::span(w.dims).subspan(2), std::span(w.strides).subspan(2), weight_unit) &&
                           (w.dims[0] == 1 || w.strides[0] == w.dims[1] * w.strides[1]);
        break;
      case MxuMode::kMatmul:
        weights_walkable = w.dims[2] == 1 || w.strides[2] == weight_unit;
        if (batched()) weights_axes |= 1u << at(kN);
        break;
    }
    operands_ = {
        {&src_operand_->view(), false, contiguous_channels(src_), false, depthwise ? pixels | channels : pixels},
        {&w, false, weights_walkable, false, weights_axes},
        {step.block ? &*step.block : nullptr, false, true, false, step.block ? 0 : channels},
        {&dst_operand_->view(), true, contiguous_channels(dst_), false, pixels | channels}};
    if (!step.residual) return;
    residual_operand_.emplace(residual_);
    operands_.push_back({&residual_operand_->view(), false, contiguous_channels(residual_), false, pixels | channels});
  }

  void box_of(size_t index, const Tile& tile, Box& box) const override {
    switch (static_cast<OperandIndex>(index)) {
      case kSource:
        box = src_operand_->box(tile[at(kN)], y_.input(tile[at(kY)]), x_.input(tile[at(kX)]),
                                is_channelwise(step_.mode) ? tile[at(kC)] : Range{0, src_.dims[3]});
        break;
      case kWeights:
        box = weights_box(tile);
        break;
      case kParams:
        box = whole(step_.block.value());  // else it has no view
        break;
      case kResult:
        box = dst_operand_->box(tile[at(kN)], tile[at(kY)], tile[at(kX)], outputs(tile[at(kC)]));
        break;
      case kResidual:
        box = residual_operand_->box(tile[at(kN)], tile[at(kY)], tile[at(kX)], outputs(tile[at(kC)]));
        break;
    }
  }

  int64_t bytes(size_t index, const Tile& tile) const override {
    if (index == kParams) return bytes_of_block(outputs(tile[at(kC)]).count);
    return TiledStep::bytes(index, tile);
  }

  int64_t largest_bytes(size_t index, std::span<const int64_t> size) const override {
    const int64_t channels = outputs({0, size[at(kC)]}).count;
    switch (static_cast<OperandIndex>(index)) {
      case kSource:
        return src_operand_->bytes(size[at(kN)], y_.largest_input(size[at(kY)]), x_.largest_input(size[at(kX)]),
                                   is_channelwise(step_.mode) ? size[at(kC)] : src_.dims[3]);
      case kWeights:
        return weights_bytes(size);
      case kParams:
        return bytes_of_block(channels);
      case kResult:
        return dst_operand_->bytes(size[at(kN)], size[at(kY)], size[at(kX)], channels);
      case kResidual:
        return residual_operand_->bytes(size[at(kN)], size[at(kY)], size[at(kX)], channels);
    }
    return 0;
  }

  std::optional<RowAxis> row_axis() const override {
    const std::vector<int64_t>& dims = step_.dst.dims;
    const bool inside = dst_operand_->batch_inside();
    const int64_t images = inside ? 1 : dims[0];
    const std::optional<size_t> image_axis =
        images > 1 && dst_.dims[0] == images ? std::optional(at(kN)) : std::nullopt;
    switch (step_.mode) {
      case MxuMode::kMatmul:
        if (images > 1 && dims[1] > 1) return std::nullopt;
        return RowAxis{at(kX), 1, dims[2], images, image_axis};
      case MxuMode::kConv:
      case MxuMode::kDepthwise:
        if (dst_.dims[1] == dims[1]) {
          if (images > 1 && !image_axis) return std::nullopt;
          return RowAxis{at(kY), 1, dims[1], images, image_axis};
        }
        return RowAxis{at(kX), dims[2], dims[1], images, image_axis};
    }
    return std::nullopt;
  }

  void make(size_t, const Tile& tile, uint8_t* out) const override {
    step_.params.header.store(out);
    const Range range = outputs(tile[at(kC)]);
    out += contract::ParameterHeader::kBytes;
    for (int64_t i = 0; i < range.count; ++i, out += contract::ParameterEntry::kBytes) {
      step_.params.entries[static_cast<size_t>(range.start + i)].store(out);
    }
  }

  double cycles(std::span<const int64_t> size) const override {
    contract::MxuCommand c = shape(size[at(kY)], size[at(kX)], size[at(kC)]);
    choose_side_by_side(c, dst_.strides[2], step_.residual ? residual_.strides[2] : 0);
    return static_cast<double>(size[at(kN)]) * static_cast<double>(timing::mxu_cycles(c, capabilities_).total());
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    const View& w = step_.weights;
    const Range rows = y_.input(tile[at(kY)]), columns = x_.input(tile[at(kX)]);
    contract::MxuCommand c = shape(tile[at(kY)].count, tile[at(kX)].count, tile[at(kC)].count);
    c.rescale = step_.rescale;
    c.output_unsigned = step_.output_unsigned;
    c.in_h = static_cast<uint32_t>(rows.count);
    c.in_w = static_cast<uint32_t>(columns.count);
    const Placed src = {placed[kSource].address, src_operand_->strides(placed[kSource].strides)};
    const Placed dst = {placed[kResult].address, dst_operand_->strides(placed[kResult].strides)};
    const std::vector<int64_t>& v = placed[kWeights].strides;
    set_image_strides(src, dst, c);
    Placed residual;
    if (step_.residual) {
      residual = {placed[kResidual].address, residual_operand_->strides(placed[kResidual].strides)};
      c.residual_row_stride = field32(residual.strides[1]);
      c.residual_pixel_stride = field32(residual.strides[2]);
      c.value_left = step_.residual->value_left;
      c.residual_left = step_.residual->residual_left;
    }
    switch (step_.mode) {
      case MxuMode::kConv:
        c.w_stride = field32(v[0]);
        break;
      case MxuMode::kDepthwise:
        c.w_stride = field32(w.dims[1] > 1 ? v[1] : v[0]);
        break;
      case MxuMode::kMatmul:
        c.w_stride = field32(v[1]);
        break;
    }
    c.stride_y = field_of_window(step_.stride_y);
    c.stride_x = field_of_window(step_.stride_x);
    c.dilation_y = field_of_window(step_.dilation_y);
    c.dilation_x = field_of_window(step_.dilation_x);
    c.pad_top = field_of_padding(y_.padding(tile[at(kY)]));
    c.pad_left = field_of_padding(x_.padding(tile[at(kX)]));
    c.multiplier = static_cast<uint32_t>(is_channelwise(step_.mode) ? step_.multiplier : 1);
    c.params = placed[kParams].address;
    choose_side_by_side(c, c.dst_pixel_stride, c.residual_pixel_stride);
    for (int64_t n = 0; n < tile[at(kN)].count; ++n) {
      c.src = moved(src.address, n * src.strides[0]);
      c.dst = moved(dst.address, n * dst.strides[0]);
      if (step_.residual) c.residual_src = moved(residual.address, n * residual.strides[0]);
      c.weights = batched() ? moved(placed[kWeights].address, n * v[0]) : placed[kWeights].address;
      out.emplace_back(c);
    }
  }

 private:
  // Where an axis is in `axes_`, tiles and sizes.
  [[nodiscard]] size_t at(AxisIndex axis) const { return axis_of_[axis]; }
  // A command of this size, as far as its time depends on it.
  [[nodiscard]] contract::MxuCommand shape(int64_t rows, int64_t columns, int64_t channels) const {
    contract::MxuCommand c;
    c.mode = step_.mode;
    c.src_type = src_.type;
    c.weight_type = step_.weights.type;
    c.dst_type = dst_.type;
    if (step_.residual) c.residual = step_.residual->scales;
    c.in_c = static_cast<uint32_t>(is_channelwise(step_.mode) ? channels : src_.dims[3]);
    c.out_h = static_cast<uint32_t>(rows);
    c.out_w = static_cast<uint32_t>(columns);
    c.out_c = static_cast<uint32_t>(outputs({0, channels}).count);
    c.kernel_h = field_of_window(step_.kernel_h);
    c.kernel_w = field_of_window(step_.kernel_w);
    return c;
  }
  // Pixels that commands for all channels may compute side by side, each with an equal part of the array's columns.
  [[nodiscard]] int64_t most_side_by_side() const { return side_by_side(shape(1, 1, axes_[at(kC)].extent)); }
  // The same of one command, if it has columns for them.
  [[nodiscard]] uint32_t side_by_side(const contract::MxuCommand& c) const {
    if (step_.mode == MxuMode::kMatmul || capabilities_.mxu_cols % c.out_c != 0) return 1;
    const uint32_t pixels = capabilities_.mxu_cols / c.out_c;
    return pixels <= capabilities_.mxu_split ? pixels : 1;
  }
  // Where that takes fewer cycles. The strides are those between pixels of the result and of the residual, whose
  // channels must follow each other from pixel to pixel.
  void choose_side_by_side(contract::MxuCommand& c, int64_t dst_stride, int64_t residual_stride) const {
    const uint32_t pixels = side_by_side(c);
    const auto fits = [&](int64_t stride, const View& v) { return stride == c.out_c * element_size(v); };
    if (pixels == 1 || c.out_w % pixels != 0 || !fits(dst_stride, dst_)) return;
    if (step_.residual && !fits(residual_stride, residual_)) return;
    contract::MxuCommand together = c;
    together.side_by_side_log2 = static_cast<uint32_t>(std::countr_zero(pixels));
    const auto total = [&](const contract::MxuCommand& one) { return timing::mxu_cycles(one, capabilities_).total(); };
    if (total(together) < total(c)) c = together;
  }
  [[nodiscard]] Box weights_box(const Tile& tile) const {
    const View& w = step_.weights;
    switch (step_.mode) {
      case MxuMode::kConv:
        return {tile[at(kC)], {0, w.dims[1]}, {0, w.dims[2]}, {0, w.dims[3]}};
      case MxuMode::kDepthwise:
        return {{0, w.dims[0]}, {0, w.dims[1]}, tile[at(kC)], {0, w.dims[3]}};
      case MxuMode::kMatmul:
        return {batched() ? tile[at(kN)] : Range{}, {0, w.dims[1]}, tile[at(kC)]};
    }
    return {};
  }
  [[nodiscard]] int64_t weights_bytes(std::span<const int64_t> size) const {
    const View& w = step_.weights;
    const int64_t all = elements(w.dims) * element_size(w);
    switch (step_.mode) {
      case MxuMode::kConv:
        return all / w.dims[0] * size[at(kC)];
      case MxuMode::kDepthwise:
        return all / w.dims[2] * size[at(kC)];
      case MxuMode::kMatmul:
        return all / w.dims[0] / w.dims[2] * size[at(kC)] * (batched() ? size[at(kN)] : 1);
    }
    return 0;
  }
  // Whether each batch has weights of its own: a MATMUL's B.
  [[nodiscard]] bool batched() const {
    const View& w = step_.weights;
    switch (step_.mode) {
      case MxuMode::kMatmul:
        return w.dims[0] > 1 && w.strides[0] != 0;
      case MxuMode::kConv:
      case MxuMode::kDepthwise:
        return false;
    }
    return false;
  }
  // Output channels of a range of the channel axis.
  [[nodiscard]] Range outputs(Range channels) const {
    if (!is_channelwise(step_.mode)) return channels;
    return {channels.start * step_.multiplier, channels.count * step_.multiplier};
  }

  const MxuStep& step_;
  const contract::Capabilities& capabilities_;
  View src_, dst_, residual_;  // as images
  std::optional<ImageOperand> src_operand_, dst_operand_, residual_operand_;
  std::array<size_t, 4> axis_of_ = {0, 1, 2, 3};
  Window y_, x_;
};

}  // namespace

std::unique_ptr<TiledStep> tile_mxu(const MxuStep& step, const contract::Capabilities& capabilities) {
  return std::make_unique<MxuTiles>(step, capabilities);
}

}  // namespace npu::compiler::backend
