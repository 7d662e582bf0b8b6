// SPDX-License-Identifier: Apache-2.0
#include "tests/block/mxu_by_reference.h"

#include <algorithm>
#include <limits>

#include "sim/reference/arithmetic.h"
#include "tests/unit/engine/scalar_math.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::rtl::test {
namespace {

using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;
using engine::testing::load;
using engine::testing::MxuCase;
using engine::testing::MxuShape;
using graph::DType;
using graph::Op;
using graph::Value;
using reference::test::OperatorCase;
using reference::test::value_of;
using Numbers = std::vector<int64_t>;

DType type_of(bool wide) { return wide ? DType::kInt16 : DType::kInt8; }

Numbers input_of(const MxuCase& test) {
  const MxuCommand& command = test.command;
  Numbers numbers;
  for (int64_t y = 0; y < command.in_h; ++y) {
    for (int64_t x = 0; x < command.in_w; ++x) {
      const uint8_t* pixel = test.memory.at(command.src) + y * command.src_row_stride + x * command.src_pixel_stride;
      for (int64_t c = 0; c < command.in_c; ++c) {
        numbers.push_back(load(pixel + c * element_bytes(command.src_type), command.src_type));
      }
    }
  }
  return numbers;
}

Numbers weights_of(const MxuCase& test, int64_t rows, int64_t columns) {
  const MxuCommand& command = test.command;
  Numbers numbers;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      numbers.push_back(
          load(test.memory.at(command.weights) + r * command.w_stride + c * element_bytes(command.weight_type),
               command.weight_type));
    }
  }
  return numbers;
}

ParameterEntry entry_of(const MxuCase& test, int64_t channel) {
  return ParameterEntry::load(test.memory.at(test.command.params) + ParameterHeader::kBytes +
                              channel * int64_t{ParameterEntry::kBytes});
}

// The addition's operators behind the accumulator's own RESCALE, whose result is `value`.
int64_t added(int64_t value, int64_t operand, const MxuShape& shape, const ParameterHeader& header) {
  static const graph::Operator op;
  static const graph::Block block;
  const reference::Call call(op, block, {}, {});
  const auto scale = [&](int64_t from, int32_t multiplier, int32_t shift) {
    if (from != static_cast<int32_t>(from)) throw Error(contract::ErrorCode::kRequireFailed, "beyond 32 bits");
    return int64_t{
        reference::scale_32(call, static_cast<int32_t>(from), multiplier, shift, shape.rescale == Rescale::kDouble32)};
  };
  int64_t from_value = (value - shape.value_zp) * (int64_t{1} << shape.value_left);
  int64_t from_operand = (operand - shape.residual_zp) * (int64_t{1} << shape.residual_left);
  int64_t& side = shape.residual == contract::Residual::kScaleValue ? from_value : from_operand;
  side = scale(side, header.residual_multiplier, header.residual_shift & 63);
  const int64_t sum = scale(from_value + from_operand, header.sum_multiplier, header.sum_shift & 63);
  const int64_t clipped = std::clamp<int64_t>(sum + header.output_zp, -128, 127);
  return std::min<int64_t>(std::max<int64_t>(clipped, header.clamp_min), header.clamp_max);
}

bool has_operator(const MxuShape& shape) {
  if (shape.format) return false;
  if (shape.wide_src && (shape.input_zp != 0 || shape.weight_zp != 0)) return false;
  const auto fits = [](int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t dilation, int64_t stride) {
    return before >= 0 && after >= 0 && (in - 1 + before + after - (kernel - 1) * dilation) % stride == 0;
  };
  return fits(shape.in_h, shape.pad_top, shape.pad_bottom, shape.kernel_h, shape.dilation_y, shape.stride_y) &&
         fits(shape.in_w, shape.pad_left, shape.pad_right, shape.kernel_w, shape.dilation_x, shape.stride_x);
}

// The operator's result with bias.
Numbers accumulators(const MxuCase& test, const MxuShape& shape) {
  const DType source = type_of(shape.wide_src), weight = type_of(shape.wide_weights);
  const DType result = shape.wide_src ? DType::kInt48 : DType::kInt32;
  const Value input_zp = value_of(source, {1}, {shape.input_zp}), weight_zp = value_of(weight, {1}, {shape.weight_zp});
  if (shape.mode == MxuMode::kMatmul) {
    const OperatorCase matmul{
        Op::kMatMul,
        {value_of(source, {1, shape.in_w, shape.in_c}, input_of(test)),
         value_of(weight, {1, shape.in_c, shape.out_c}, weights_of(test, shape.in_c, shape.out_c)), input_zp,
         weight_zp},
        result,
        {1, shape.in_w, shape.out_c}};
    Numbers numbers = matmul.numbers();
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] += entry_of(test, static_cast<int64_t>(i) % shape.out_c).bias;
    }
    return numbers;
  }
  const bool depthwise = shape.mode == MxuMode::kDepthwise;
  const int64_t taps = shape.kernel_h * shape.kernel_w;
  Numbers bias;
  for (int64_t c = 0; c < shape.out_c; ++c) bias.push_back(entry_of(test, c).bias);
  graph::Attributes attributes;
  const auto pair = [](int64_t a, int64_t b) { return std::vector{static_cast<int32_t>(a), static_cast<int32_t>(b)}; };
  attributes.pad = pair(shape.pad_top, shape.pad_bottom);
  for (const int64_t pad : {shape.pad_left, shape.pad_right}) attributes.pad.push_back(static_cast<int32_t>(pad));
  attributes.stride = pair(shape.stride_y, shape.stride_x);
  attributes.dilation = pair(shape.dilation_y, shape.dilation_x);
  attributes.acc_type = result;
  const graph::Shape kernel = depthwise ? graph::Shape{shape.kernel_h, shape.kernel_w, shape.in_c, shape.multiplier}
                                        : graph::Shape{shape.out_c, shape.kernel_h, shape.kernel_w, shape.in_c};
  const Numbers weights =
      depthwise ? weights_of(test, taps, shape.out_c) : weights_of(test, shape.out_c, taps * shape.in_c);
  const OperatorCase convolution{
      depthwise ? Op::kDepthwiseConv2d : Op::kConv2d,
      {value_of(source, {1, shape.in_h, shape.in_w, shape.in_c}, input_of(test)), value_of(weight, kernel, weights),
       value_of(result, {shape.out_c}, bias), input_zp, weight_zp},
      result,
      {1, shape.out_h(), shape.out_w(), shape.out_c},
      attributes};
  return convolution.numbers();
}

int64_t scaled(int64_t value, const MxuShape& shape, const ParameterEntry& entry, const ParameterHeader& header) {
  static const graph::Operator op;
  static const graph::Block block;
  const reference::Call call(op, block, {}, {});
  const bool single16 = shape.rescale == Rescale::kSingle16;
  const int32_t product = single16 ? reference::scale_16(call, value, entry.multiplier, entry.shift)
                                   : reference::scale_32(call, static_cast<int32_t>(value), entry.multiplier,
                                                         entry.shift, shape.rescale == Rescale::kDouble32);
  int64_t low = std::numeric_limits<int32_t>::min(), high = std::numeric_limits<int32_t>::max();
  if (shape.dst_type != Element::kI32) {
    const int64_t values = shape.dst_type == Element::kI8 ? 256 : 65536;
    low = shape.output_unsigned ? 0 : -values / 2;
    high = low + values - 1;
  }
  const int64_t placed = int64_t{product} + header.output_zp;
  if (placed != static_cast<int32_t>(placed)) throw Error(contract::ErrorCode::kRequireFailed, "beyond 32 bits");
  // The clamp comes behind the clip, and its ends may lie outside of the type's range.
  const int64_t clamped =
      std::min<int64_t>(std::max<int64_t>(std::clamp(placed, low, high), header.clamp_min), header.clamp_max);
  return shape.output_unsigned && shape.dst_type == Element::kI8    ? static_cast<int8_t>(clamped)
         : shape.output_unsigned && shape.dst_type == Element::kI16 ? static_cast<int16_t>(clamped)
                                                                    : clamped;
}

}  // namespace

std::optional<Numbers> by_reference(const MxuCase& test, const MxuShape& shape) {
  if (!has_operator(shape)) return std::nullopt;
  try {
    Numbers numbers = accumulators(test, shape);
    const int64_t limit = int64_t{1} << (shape.wide_src ? 47 : 31);
    const ParameterHeader header = ParameterHeader::load(test.memory.at(test.command.params));
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < -limit || numbers[i] >= limit) return std::nullopt;
      if (shape.rescale == Rescale::kNone) continue;
      const int64_t channel = static_cast<int64_t>(i) % shape.out_c, pixel = static_cast<int64_t>(i) / shape.out_c;
      ParameterHeader own = header;
      if (shape.residual != contract::Residual::kNone)
        own.output_zp = shape.value_zp, own.clamp_min = -128, own.clamp_max = 127;
      numbers[i] = scaled(numbers[i], shape, entry_of(test, channel), own);
      if (shape.residual == contract::Residual::kNone) continue;
      const MxuCommand& command = test.command;
      const uint8_t* operand = test.memory.at(command.residual_src) +
                               pixel / shape.out_w() * command.residual_row_stride +
                               pixel % shape.out_w() * command.residual_pixel_stride + channel;
      numbers[i] = added(numbers[i], load(operand, Element::kI8), shape, header);
    }
    return numbers;
  } catch (const Error&) {
    return std::nullopt;  // the reference complains where the specification leaves the result open
  }
}

}  // namespace npu::rtl::test
