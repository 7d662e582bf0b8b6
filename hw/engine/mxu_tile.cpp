// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_tile.h"

#include <algorithm>

#include "hw/contract/elements.h"
#include "hw/engine/kernels.h"
#include "hw/timing/cycles.h"

namespace npu::engine {

namespace {

using contract::Element;
using contract::ErrorCode;
using contract::MxuCommand;
using contract::MxuMode;
using contract::Rescale;

// Two of one format into FP32, and what that is rounded to.
bool floats_fit(const MxuCommand& command) {
  const bool result =
      command.dst_type == Element::kF16 || command.dst_type == Element::kBf16 || command.dst_type == Element::kF32;
  return command.weight_type == command.src_type && result && command.rescale == Rescale::kFloating &&
         !command.output_unsigned;
}

bool types_fit(const MxuCommand& command) {
  if (contract::is_float(command.src_type)) return floats_fit(command);
  const bool narrow = command.src_type == Element::kI8 && command.weight_type == Element::kI8;
  const Element wide_weights = command.mode == MxuMode::kMatmul ? Element::kI16 : Element::kI8;
  const bool wide = command.src_type == Element::kI16 && command.weight_type == wide_weights;
  if (!narrow && !wide) return false;
  const bool dst_signed_or_not = command.dst_type == Element::kI8 || command.dst_type == Element::kI16;
  if (command.output_unsigned && !dst_signed_or_not) return false;
  switch (command.rescale) {
    case Rescale::kNone:
      return command.dst_type == (wide ? Element::kI48 : Element::kI32);
    case Rescale::kSingle32:
    case Rescale::kDouble32:
      return !wide && (dst_signed_or_not || command.dst_type == Element::kI32);
    case Rescale::kSingle16:
      return dst_signed_or_not || command.dst_type == Element::kI32;
    case Rescale::kFloating:
      return false;
  }
  return false;
}

// A residual is added to values that were scaled, or rounded, to what it is.
bool residual_fits(const MxuCommand& command) {
  switch (command.residual) {
    case contract::Residual::kNone:
      return true;
    case contract::Residual::kScaleValue:
    case contract::Residual::kScaleOperand:
      return command.src_type == Element::kI8 && command.dst_type == Element::kI8 && !command.output_unsigned &&
             (command.rescale == Rescale::kSingle32 || command.rescale == Rescale::kDouble32);
    case contract::Residual::kFloating:
      return command.rescale == Rescale::kFloating;
  }
  return false;
}

// What pixels that are computed side by side must be whatever the machine: their results are one run of bytes.
bool side_by_side_fits(const MxuCommand& command) {
  if (command.side_by_side_log2 == 0) return true;
  if (command.mode == MxuMode::kMatmul || command.out_w % (1U << command.side_by_side_log2) != 0) return false;
  const auto neighbours = [&](int64_t stride, Element type) {
    return stride == static_cast<int64_t>(command.out_c * element_bytes(type));
  };
  return neighbours(command.dst_pixel_stride, command.dst_type) &&
         (command.residual == contract::Residual::kNone || neighbours(command.residual_pixel_stride, command.dst_type));
}

bool dims_fit(const MxuCommand& command) {
  for (const uint32_t dim :
       {command.in_h, command.in_w, command.in_c, command.out_h, command.out_w, command.out_c, command.kernel_h,
        command.kernel_w, command.stride_y, command.stride_x, command.dilation_y, command.dilation_x}) {
    if (dim == 0) return false;
  }
  return true;
}

// False when the product of a and b is above the limit.
bool multiply(uint64_t& a, uint64_t b) {
  if (b != 0 && a > kMaxTileMacs / b) return false;
  a *= b;
  return true;
}

}  // namespace

Range used_range(int64_t first, int64_t last, int64_t stride, int64_t pad, int64_t kernel, int64_t dilation,
                 int64_t in) {
  return {std::max<int64_t>(0, first * stride - pad), std::min(in, last * stride - pad + (kernel - 1) * dilation + 1)};
}

// By kernel positions, of which there are few: the outputs that one of them reaches the input from follow each other.
uint64_t taps_inside(int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t dilation, int64_t in) {
  uint64_t sum = 0;
  for (int64_t tap = 0; tap < kernel; ++tap) {
    const int64_t before = pad - tap * dilation;  // the first output is so many positions before the input
    const int64_t first = before <= 0 ? 0 : (before + stride - 1) / stride;
    const int64_t end = in + before <= 0 ? 0 : std::min(out, (in + before - 1) / stride + 1);
    sum += static_cast<uint64_t>(std::max<int64_t>(0, end - first));
  }
  return sum;
}

ErrorCode MxuTile::make(const MxuCommand& issued, MxuTile& tile) {
  tile = {};
  tile.issued = issued;
  MxuCommand& command = tile.command;
  command = issued;
  if (!known(command.mode) || !types_fit(command) || !residual_fits(command)) return ErrorCode::kFaultBadCommand;
  if (command.mode == MxuMode::kMatmul) {
    if (command.in_h != 1 || command.out_h != 1 || command.in_w != command.out_w) return ErrorCode::kFaultBadCommand;
    command.kernel_h = command.kernel_w = command.stride_y = command.stride_x = 1;
    command.dilation_y = command.dilation_x = 1;
    command.pad_top = command.pad_left = 0;
  }
  if (!dims_fit(command) || !side_by_side_fits(command)) return ErrorCode::kFaultBadCommand;
  const bool depthwise = command.mode == MxuMode::kDepthwise;
  if (depthwise && (command.multiplier == 0 || uint64_t{command.in_c} * command.multiplier != command.out_c)) {
    return ErrorCode::kFaultBadCommand;
  }

  tile.wide = command.src_type == Element::kI16;
  tile.src_bytes = element_bytes(command.src_type);
  tile.weight_bytes = element_bytes(command.weight_type);
  tile.dst_bytes = element_bytes(command.dst_type);
  tile.taps = uint64_t{command.kernel_h} * command.kernel_w;
  tile.reduction = tile.taps;
  tile.pixels = command.out_h;
  if (!multiply(tile.reduction, depthwise ? 1 : command.in_c) || !multiply(tile.pixels, command.out_w)) {
    return ErrorCode::kFaultBadCommand;
  }
  tile.macs = tile.reduction;
  if (!multiply(tile.macs, command.out_c) || !multiply(tile.macs, tile.pixels)) return ErrorCode::kFaultBadCommand;
  const uint64_t of_a_channel = tile.macs / command.out_c, channels = timing::ceil_div(command.out_c, kPanel) * kPanel;
  if (contract::is_float(command.src_type) && of_a_channel > kMaxFloatTileMacs / channels) {
    return ErrorCode::kFaultBadCommand;
  }

  tile.rows = used_range(0, int64_t{command.out_h} - 1, command.stride_y, command.pad_top, command.kernel_h,
                         command.dilation_y, command.in_h);
  tile.cols = used_range(0, int64_t{command.out_w} - 1, command.stride_x, command.pad_left, command.kernel_w,
                         command.dilation_x, command.in_w);
  return ErrorCode::kOk;
}

Box MxuTile::src_box() const {
  Box box;
  box.base = command.src;
  box.offset = rows.begin * command.src_row_stride + cols.begin * command.src_pixel_stride;
  box.count = {1, 1, static_cast<uint64_t>(rows.size()), static_cast<uint64_t>(cols.size())};
  box.stride = {0, 0, command.src_row_stride, command.src_pixel_stride};
  box.run = command.in_c * src_bytes;
  return box;
}

Box MxuTile::weight_box() const {
  Box box;
  box.base = command.weights;
  uint64_t rows_of_weights = command.out_c;
  box.run = reduction * weight_bytes;
  if (command.mode != MxuMode::kConv) {
    rows_of_weights = command.mode == MxuMode::kMatmul ? command.in_c : taps;
    box.run = command.out_c * weight_bytes;
  }
  box.count = {1, 1, 1, rows_of_weights};
  box.stride = {0, 0, 0, command.w_stride};
  return box;
}

Box MxuTile::params_box() const {
  Box box;
  box.base = command.params;
  box.run = contract::ParameterHeader::kBytes + uint64_t{command.out_c} * contract::ParameterEntry::kBytes;
  return box;
}

Box MxuTile::residual_box() const {
  Box box;
  box.base = command.residual_src;
  box.count = {1, 1, command.out_h, command.out_w};
  box.stride = {0, 0, command.residual_row_stride, command.residual_pixel_stride};
  box.run = command.out_c * dst_bytes;
  return box;
}

Box MxuTile::dst_box() const {
  Box box;
  box.base = command.dst;
  box.count = {1, 1, command.out_h, command.out_w};
  box.stride = {0, 0, command.dst_row_stride, command.dst_pixel_stride};
  box.run = command.out_c * dst_bytes;
  return box;
}

ErrorCode MxuOperands::resolve(const MxuTile& tile, MemoryView& memory) {
  *this = {};
  if (tile.reads_input()) {
    const Resolved input = resolve_box(tile.src_box(), memory, Access::kRead, /*disjoint=*/false);
    if (input.error != ErrorCode::kOk) return input.error;
    src = input.data;
  }
  const Resolved weight = resolve_box(tile.weight_box(), memory, Access::kRead, /*disjoint=*/true);
  if (weight.error != ErrorCode::kOk) return weight.error;
  const Resolved parameters = resolve_box(tile.params_box(), memory, Access::kRead, /*disjoint=*/true);
  if (parameters.error != ErrorCode::kOk) return parameters.error;
  if (tile.adds()) {
    const Resolved added = resolve_box(tile.residual_box(), memory, Access::kRead, /*disjoint=*/false);
    if (added.error != ErrorCode::kOk) return added.error;
    residual = added.data;
  }
  const Resolved result = resolve_box(tile.dst_box(), memory, Access::kWrite, /*disjoint=*/true);
  if (result.error != ErrorCode::kOk) return result.error;
  weights = weight.data;
  params = parameters.data;
  dst = result.data;
  return ErrorCode::kOk;
}

}  // namespace npu::engine
