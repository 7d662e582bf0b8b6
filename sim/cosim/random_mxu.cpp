// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/random_mxu.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hw/contract/error.h"
#include "hw/timing/mxu_cycles.h"
#include "sim/cosim/random_floats.h"

namespace npu::cosim {

using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;
using contract::Residual;

namespace {

constexpr int kMxuTries = 10'000;  // of shapes that take too long

int64_t out_size(int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t dilation, int64_t stride) {
  return (in - 1 + before + after - (kernel - 1) * dilation) / stride + 1;
}

void choose_window(MxuShape& shape, Random& random) {
  shape.kernel_h = random.pick<int64_t>({1, 1, 2, 3, 3, 5});
  shape.kernel_w = random.pick<int64_t>({1, 1, 2, 3, 3, 5});
  shape.stride_y = random.pick<int64_t>({1, 1, 1, 2, 3});
  shape.stride_x = random.pick<int64_t>({1, 1, 1, 2, 3});
  shape.dilation_y = random.pick<int64_t>({1, 1, 1, 2, 3});
  shape.dilation_x = random.pick<int64_t>({1, 1, 1, 2, 3});
  shape.in_h = random.between(1, 9);
  shape.in_w = random.between(1, 12);
  shape.pad_top = random.between(-1, 3);
  shape.pad_left = random.between(-1, 3);
  shape.pad_bottom = random.between(-1, 3);
  shape.pad_right = random.between(-1, 3);
  // At least one output.
  shape.pad_bottom =
      std::max(shape.pad_bottom, (shape.kernel_h - 1) * shape.dilation_y + 1 - shape.in_h - shape.pad_top);
  shape.pad_right =
      std::max(shape.pad_right, (shape.kernel_w - 1) * shape.dilation_x + 1 - shape.in_w - shape.pad_left);
}

void choose_output(MxuShape& shape, Random& random) {
  shape.rescale = random.pick({Rescale::kNone, Rescale::kSingle32, Rescale::kDouble32, Rescale::kSingle16});
  if (shape.wide_src && shape.rescale != Rescale::kNone) shape.rescale = Rescale::kSingle16;
  if (shape.rescale == Rescale::kNone) {
    shape.dst_type = shape.wide_src ? Element::kI48 : Element::kI32;
    return;
  }
  shape.dst_type = random.pick({Element::kI8, Element::kI8, Element::kI16, Element::kI32});
  shape.output_unsigned = shape.dst_type != Element::kI32 && random.chance(30);
  shape.output_zp = static_cast<int32_t>(random.between(-128, 127));
  if (random.chance(50)) {
    shape.clamp_min = static_cast<int32_t>(random.between(-128, 0));
    shape.clamp_max = static_cast<int32_t>(random.between(0, 127));
  }
}

void choose_zero_points(MxuShape& shape, Random& random) {
  if (!shape.wide_src) {
    shape.input_zp = static_cast<int32_t>(random.pick<int64_t>({-128, 0, 127, random.between(-128, 127)}));
    shape.weight_zp = random.chance(40) ? static_cast<int32_t>(random.between(-128, 127)) : 0;
  } else if (random.chance(20)) {
    // Outside the operator's conditions, but the contract has the fields.
    shape.input_zp = static_cast<int32_t>(random.between(-32768, 32767));
    shape.weight_zp = static_cast<int32_t>(random.between(-128, 127));
  }
}

// One more, one less or exactly what the array has of channels, depth and accumulators.
void move_next_to_the_machine(MxuShape& shape, const contract::Capabilities& caps, Random& random) {
  const int64_t depth = caps.mxu_depth, cols = caps.mxu_cols;
  const int64_t block = std::max<int64_t>(1, caps.mxu_acc_bytes / 2 / (shape.wide_src ? 8 : 4) / cols);
  if (random.chance(50)) {
    shape.in_h = 1;
    shape.in_w = std::max<int64_t>(1, random.pick<int64_t>({block - 1, block, block + 1, 2 * block + 1}));
  }
  if (shape.mode == MxuMode::kDepthwise) {
    shape.kernel_h = std::max<int64_t>(1, caps.mxu_dw_taps + random.between(-1, 1));
    shape.multiplier = std::max<int64_t>(1, random.pick<int64_t>({1, 2, cols - 1, cols, cols + 1}));
    shape.in_c = random.chance(50) ? random.between(1, 3) : std::max<int64_t>(1, cols + random.between(-1, 1));
    shape.out_c = shape.in_c * shape.multiplier;
    return;
  }
  shape.in_c = std::max<int64_t>(1, random.pick<int64_t>({depth - 1, depth, depth + 1, 2 * depth}));
  shape.out_c = std::max<int64_t>(1, random.pick<int64_t>({cols - 1, cols, cols + 1, 2 * cols + 1}));
}

// Of the scale of one side and of the sum: numbers of real networks, or any that the fields hold.
void fill_residual(ParameterHeader& header, const MxuShape& shape, Random& random) {
  header.value_zp = static_cast<int8_t>(shape.value_zp);
  header.residual_zp = static_cast<int8_t>(shape.residual_zp);
  const bool any = shape.extreme;
  header.residual_multiplier = static_cast<int32_t>(random.between(any ? INT32_MIN : 1 << 30, INT32_MAX));
  header.sum_multiplier = static_cast<int32_t>(random.between(any ? INT32_MIN : 1 << 30, INT32_MAX));
  // Above six bits hardware keeps none of a shift.
  const auto shift = [&](int64_t low, int64_t high) {
    const int64_t bits = any ? random.between(2, 62) + 64 * random.between(0, 3) : random.between(low, high);
    return static_cast<uint8_t>(bits);
  };
  header.residual_shift = shift(31, 34);
  header.sum_shift = shift(46, 50);
}

FloatRange range_of(const MxuShape& shape) {
  return shape.extreme ? FloatRange::kWithExtremes : FloatRange::kAroundOne;
}

// An FP32 pattern, below bits that mean nothing.
int64_t random_bias(const MxuShape& shape, Random& random) {
  const uint64_t high = random.bits() << 32;
  return static_cast<int64_t>(high | random_float(Element::kF32, range_of(shape), random));
}

void fill_params(uint8_t* to, const MxuShape& shape, Random& random) {
  ParameterHeader header;
  header.input_zp = shape.input_zp;
  header.weight_zp = shape.weight_zp;
  header.output_zp = shape.output_zp;
  header.clamp_min = shape.clamp_min;
  header.clamp_max = shape.clamp_max;
  if (shape.residual != Residual::kNone) fill_residual(header, shape, random);
  header.store(to);
  const bool narrow_multiplier = shape.rescale == Rescale::kSingle16;
  for (int64_t oc = 0; oc < shape.out_c; ++oc) {
    ParameterEntry entry;
    const int64_t bias_bits = shape.wide_src ? (shape.extreme ? 46 : 30) : (shape.extreme ? 31 : 16);
    entry.bias = random.between(-(int64_t{1} << bias_bits), (int64_t{1} << bias_bits) - 1);
    const int64_t largest = narrow_multiplier ? 0x7fff : 0x7fffffff;
    entry.multiplier = static_cast<int32_t>(random.between(shape.extreme ? 0 : largest / 2, largest));
    if (shape.extreme && random.chance(30)) entry.multiplier = random.pick<int32_t>({0, 1, int32_t(largest)});
    if (shape.format) entry.bias = random_bias(shape, random);
    const int64_t middle = narrow_multiplier ? 15 : 31;
    entry.shift = static_cast<int32_t>(shape.extreme ? random.between(2, 62) : random.between(middle, middle + 14));
    entry.store(to + ParameterHeader::kBytes + oc * int64_t{ParameterEntry::kBytes});
  }
}

void fill_elements(std::span<uint8_t> bytes, const MxuShape& shape, Random& random) {
  if (shape.constant_elements) {
    std::fill(bytes.begin(), bytes.end(), *shape.constant_elements);
    return;
  }
  random.fill(bytes);
  if (!shape.extreme) return;
  for (uint8_t& byte : bytes) {
    if (random.chance(60)) byte = random.pick<uint8_t>({0x80, 0x7f, 0xff, 0x00});
  }
}

// Elements of a row of weights.
int64_t weight_row(const MxuCommand& command) {
  return command.mode == MxuMode::kConv ? int64_t{command.kernel_h} * command.kernel_w * command.in_c : command.out_c;
}

int64_t weight_rows(const MxuCommand& command) {
  switch (command.mode) {
    case MxuMode::kConv:
      return command.out_c;
    case MxuMode::kDepthwise:
      return int64_t{command.kernel_h} * command.kernel_w;
    case MxuMode::kMatmul:
      return command.in_c;
  }
  return 0;
}

// Source, weights and residual, row by row; what lies between the rows stays.
void fill_with_floats(MadeTile<MxuCommand>& tile, const MxuShape& shape, Random& random) {
  const MxuCommand& command = tile.command;
  for (int64_t y = 0; y < command.in_h; ++y) {
    for (int64_t x = 0; x < command.in_w; ++x) {
      fill_floats(tile.at(command.src) + y * command.src_row_stride + x * command.src_pixel_stride, command.in_c,
                  command.src_type, range_of(shape), random);
    }
  }
  for (int64_t y = 0; command.residual != Residual::kNone && y < command.out_h; ++y) {
    for (int64_t x = 0; x < command.out_w; ++x) {
      fill_floats(tile.at(command.residual_src) + y * command.residual_row_stride + x * command.residual_pixel_stride,
                  command.out_c, command.dst_type, range_of(shape), random);
    }
  }
  for (int64_t row = 0; row < weight_rows(command); ++row) {
    fill_floats(tile.at(command.weights) + row * command.w_stride, weight_row(command), command.weight_type,
                range_of(shape), random);
  }
}

}  // namespace

void make_float(MxuShape& shape, Element format, Random& random) {
  shape.format = format;
  shape.wide_src = shape.wide_weights = false;
  shape.rescale = Rescale::kFloating;
  shape.dst_type = random_result_format(random);
  shape.output_unsigned = false;
  if (shape.residual != Residual::kNone) shape.residual = Residual::kFloating;
  constexpr int32_t kInfinity = 0x7f800000, kMinusInfinity = INT32_MIN | kInfinity;
  constexpr int32_t kSix = 0x40c00000, kMinusOne = INT32_MIN | 0x3f800000;
  shape.clamp_min = random.pick({kMinusInfinity, kMinusInfinity, 0, INT32_MIN, kMinusOne});
  shape.clamp_max = random.pick({kInfinity, kInfinity, kSix});
}

void add_residual(MxuShape& shape, Random& random) {
  if (shape.wide_src || shape.format) return;
  shape.rescale = random.pick({Rescale::kSingle32, Rescale::kDouble32, Rescale::kDouble32});
  shape.dst_type = Element::kI8;
  shape.output_unsigned = false;
  shape.residual = random.pick({Residual::kScaleValue, Residual::kScaleOperand});
  shape.value_zp = static_cast<int32_t>(random.between(-128, 127));
  shape.residual_zp = static_cast<int32_t>(random.between(-128, 127));
  const auto left = [&] {
    return static_cast<uint32_t>(shape.extreme ? random.between(0, 31) : random.between(18, 20));
  };
  shape.value_left = left();
  shape.residual_left = left();
}

void put_side_by_side(MxuShape& shape, const contract::Capabilities& caps, Random& random) {
  if (caps.mxu_split < 2 || shape.mode == MxuMode::kMatmul) return;
  shape.side_by_side_log2 = static_cast<uint32_t>(random.between(1, std::countr_zero(caps.mxu_split)));
  const int64_t pixels = int64_t{1} << shape.side_by_side_log2;
  shape.out_c = caps.mxu_cols / pixels;
  if (shape.mode == MxuMode::kDepthwise) {
    shape.multiplier = std::min<int64_t>(shape.out_c, random.pick({1, 1, 2, 4}));
    shape.in_c = shape.out_c / shape.multiplier;
  }
  while (shape.out_w() % pixels != 0) ++shape.pad_right;
}

Element MxuShape::src_type() const { return format.value_or(wide_src ? Element::kI16 : Element::kI8); }
int64_t MxuShape::out_h() const { return out_size(in_h, pad_top, pad_bottom, kernel_h, dilation_y, stride_y); }
int64_t MxuShape::out_w() const { return out_size(in_w, pad_left, pad_right, kernel_w, dilation_x, stride_x); }

std::string MxuShape::describe() const {
  const MxuCommand command = mxu_command(*this);
  return fmt::format(
      "{} in {}x{}x{} out {}x{}x{} kernel {}x{} stride {}x{} dilation {}x{} pad {} {} {} {} multiplier {} "
      "{} times {} zero points {} {} {} clamp {} {} gap {} rescale {} to {}{}{} residual {} zero points {} {} left {} "
      "{} side by side {}",
      name(mode), in_h, in_w, in_c, out_h(), out_w(), out_c, kernel_h, kernel_w, stride_y, stride_x, dilation_y,
      dilation_x, pad_top, pad_left, pad_bottom, pad_right, multiplier, name(command.src_type),
      name(command.weight_type), input_zp, weight_zp, output_zp, clamp_min, clamp_max, gap, name(rescale),
      name(dst_type), output_unsigned ? " unsigned" : "", extreme ? " extreme" : "", name(residual), value_zp,
      residual_zp, value_left, residual_left, int64_t{1} << side_by_side_log2);
}

std::string MxuShape::kind() const {
  const std::string_view type = format ? name(*format) : wide_src ? "int16" : "int8";
  return fmt::format("{} {} {}{}{}", name(mode), type, name(rescale), output_unsigned ? " unsigned" : "",
                     residual != Residual::kNone ? " residual" : "");
}

MxuShape random_mxu_shape(Random& random) {
  MxuShape shape;
  shape.mode = random.pick({MxuMode::kConv, MxuMode::kConv, MxuMode::kDepthwise, MxuMode::kMatmul});
  const bool matmul = shape.mode == MxuMode::kMatmul;
  shape.wide_src = random.chance(35);
  shape.wide_weights = matmul && shape.wide_src;
  shape.in_c = random.pick<int64_t>({1, 2, 3, 4, 5, 8, 13, 16, 17, 31, 32, 40, 64, 65, 100, 257});
  shape.out_c = random.pick<int64_t>({1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 50, 70});
  if (matmul) {
    shape.in_w = random.between(1, 40);
  } else {
    choose_window(shape, random);
  }
  if (shape.mode == MxuMode::kDepthwise) {
    shape.multiplier = random.pick<int64_t>({1, 1, 1, 2, 3, 8});
    shape.out_c = shape.in_c * shape.multiplier;
  }
  choose_output(shape, random);
  choose_zero_points(shape, random);
  shape.gap = random.chance(40) ? random.between(1, 9) : 0;
  shape.extreme = random.chance(30);
  return shape;
}

MxuShape random_mxu_windows(Random& random) {
  MxuShape shape;
  shape.mode = random.pick({MxuMode::kConv, MxuMode::kDepthwise});
  shape.wide_src = random.chance(30);
  shape.in_h = random.between(1, 3);
  shape.in_w = random.between(1, 3);
  shape.in_c = random.pick<int64_t>({1, 3, 9, 40});
  shape.out_c = shape.mode == MxuMode::kDepthwise ? shape.in_c : random.between(1, 40);
  shape.kernel_h = random.between(2, 9);
  shape.kernel_w = random.between(2, 40);
  shape.dilation_y = random.between(1, 4);
  shape.dilation_x = random.between(1, 4);
  shape.stride_x = random.between(1, 50);
  shape.pad_top = random.between(-4, 40);
  shape.pad_left = random.between(-4, 100);
  shape.pad_bottom = (shape.kernel_h - 1) * shape.dilation_y + random.between(1, 3) - shape.in_h - shape.pad_top;
  shape.pad_right = (shape.kernel_w - 1) * shape.dilation_x + random.between(1, 90) - shape.in_w - shape.pad_left;
  shape.input_zp = shape.wide_src ? 0 : static_cast<int32_t>(random.between(-128, 127));
  shape.weight_zp = shape.wide_src ? 0 : static_cast<int32_t>(random.between(-128, 127));
  shape.dst_type = shape.wide_src ? Element::kI48 : Element::kI32;
  return shape;
}

MxuShape random_mxu_shape(Random& random, const contract::Capabilities& caps, uint64_t most_cycles) {
  for (int i = 0; i < kMxuTries; ++i) {
    MxuShape shape = random.chance(5) ? random_mxu_windows(random) : random_mxu_shape(random);
    if (random.chance(25)) {
      shape.in_h = shape.mode == MxuMode::kMatmul ? 1 : random.between(1, 30);
      shape.in_w = random.between(1, shape.mode == MxuMode::kMatmul ? 600 : 40);
      if (shape.mode != MxuMode::kDepthwise) shape.in_c = random.between(1, 12);
    } else if (random.chance(25)) {
      move_next_to_the_machine(shape, caps, random);
    }
    if (caps.mxu_residual != 0 && random.chance(30)) add_residual(shape, random);
    const std::optional<Element> format = random_mxu_format(caps, random);
    if (format && random.chance(40)) make_float(shape, *format, random);
    if (shape.mode != MxuMode::kMatmul && random.chance(10)) shape.pad_top = -random.between(0, shape.in_h);
    if (shape.out_h() < 1 || shape.out_w() < 1 || (shape.wide_src && caps.mxu_int16 == 0)) continue;
    if (random.chance(25)) put_side_by_side(shape, caps, random);
    if (timing::mxu_cycles(mxu_command(shape), caps).total() <= most_cycles) return shape;
  }
  throw Error(
      contract::ErrorCode::kBadInput,
      fmt::format("of {} random tiles of the MXU none takes at most {} cycles: allow more", kMxuTries, most_cycles));
}

MxuCommand mxu_command(const MxuShape& shape) {
  MxuCommand command;
  command.header.opcode = contract::Opcode::kMxu;
  command.header.queue = contract::Queue::kMxu;
  command.mode = shape.mode;
  command.rescale = shape.rescale;
  command.src_type = shape.src_type();
  command.weight_type = shape.format.value_or(shape.wide_weights ? Element::kI16 : Element::kI8);
  command.dst_type = shape.dst_type;
  command.output_unsigned = shape.output_unsigned;
  command.residual = shape.residual;
  command.value_left = shape.value_left;
  command.residual_left = shape.residual_left;
  command.side_by_side_log2 = shape.side_by_side_log2;
  const auto field = [](int64_t value) { return static_cast<uint32_t>(value); };
  command.in_h = field(shape.in_h);
  command.in_w = field(shape.in_w);
  command.in_c = field(shape.in_c);
  command.out_h = field(shape.out_h());
  command.out_w = field(shape.out_w());
  command.out_c = field(shape.out_c);
  command.kernel_h = field(shape.kernel_h);
  command.kernel_w = field(shape.kernel_w);
  command.stride_y = field(shape.stride_y);
  command.stride_x = field(shape.stride_x);
  command.dilation_y = field(shape.dilation_y);
  command.dilation_x = field(shape.dilation_x);
  command.pad_top = static_cast<int32_t>(shape.pad_top);
  command.pad_left = static_cast<int32_t>(shape.pad_left);
  command.multiplier = field(shape.multiplier);

  const auto stride = [](int64_t bytes) { return static_cast<int32_t>(bytes); };
  const int64_t src_bytes = element_bytes(command.src_type), w_bytes = element_bytes(command.weight_type),
                dst_bytes = element_bytes(command.dst_type);
  command.src_pixel_stride = stride(shape.in_c * src_bytes + shape.gap);
  command.src_row_stride = stride(command.src_pixel_stride * shape.in_w + shape.gap);
  const int64_t gap = shape.side_by_side_log2 == 0 ? shape.gap : 0;  // results of several pixels are one run
  command.dst_pixel_stride = stride(shape.out_c * dst_bytes + gap);
  command.dst_row_stride = stride(command.dst_pixel_stride * shape.out_w() + shape.gap);
  if (shape.residual != Residual::kNone) {
    command.residual_pixel_stride = stride(shape.out_c * dst_bytes + gap / 2);
    command.residual_row_stride = stride(command.residual_pixel_stride * shape.out_w() + shape.gap);
  }
  command.w_stride = stride(weight_row(command) * w_bytes + shape.gap);
  return command;
}

MadeTile<MxuCommand> make_mxu_tile(const MxuShape& shape, Random& random) {
  MadeTile<MxuCommand> tile{mxu_command(shape), {}};
  MxuCommand& command = tile.command;
  int64_t at = 0;
  const auto place = [&](int64_t bytes) {
    at += random.between(1, 17);
    const contract::Address address = scratchpad(static_cast<uint32_t>(at));
    at += bytes;
    return address;
  };
  const int64_t src_size = command.src_row_stride * shape.in_h, weight_size = command.w_stride * weight_rows(command);
  command.src = place(src_size);
  command.weights = place(weight_size);
  command.params = place(ParameterHeader::kBytes + shape.out_c * int64_t{ParameterEntry::kBytes});
  const int64_t residual_size = command.residual_row_stride * shape.out_h();
  if (shape.residual != Residual::kNone) command.residual_src = place(residual_size);
  command.dst = place(command.dst_row_stride * shape.out_h());
  tile.bytes.assign(static_cast<size_t>(at + 32), kPoison);
  fill_elements({tile.at(command.src), static_cast<size_t>(src_size)}, shape, random);
  fill_elements({tile.at(command.weights), static_cast<size_t>(weight_size)}, shape, random);
  if (shape.residual != Residual::kNone) {
    fill_elements({tile.at(command.residual_src), static_cast<size_t>(residual_size)}, shape, random);
  }
  if (shape.format) fill_with_floats(tile, shape, random);
  fill_params(tile.at(command.params), shape, random);
  return tile;
}

void reverse_some(MxuCommand& command, Random& random) {
  const auto reverse = [&](contract::Address& address, int32_t& stride, int64_t rows) {
    if (!random.chance(60)) return;
    address.offset += static_cast<uint32_t>((rows - 1) * stride);
    stride = -stride;
  };
  if (random.chance(20)) {
    command.src_row_stride = 0;
  } else {
    reverse(command.src, command.src_row_stride, command.in_h);
  }
  reverse(command.dst, command.dst_row_stride, command.out_h);
  reverse(command.src, command.src_pixel_stride, command.in_w);
  const bool alone = command.side_by_side_log2 == 0;  // pixels, whose results may lie in any order
  if (command.residual != Residual::kNone) {
    reverse(command.residual_src, command.residual_row_stride, command.out_h);
    if (alone) reverse(command.residual_src, command.residual_pixel_stride, command.out_w);
  }
  if (alone) reverse(command.dst, command.dst_pixel_stride, command.out_w);
  reverse(command.weights, command.w_stride, weight_rows(command));
}

}  // namespace npu::cosim
