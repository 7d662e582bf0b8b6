// SPDX-License-Identifier: Apache-2.0
// The inner loops of the engines, compiled once for each instruction set and chosen when an engine is made. All sets
// give the same bits. The loops know nothing of commands or memory views: they see arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/contract/gen/commands.h"

namespace npu::engine {

// Weights are packed into panels of kPanel output channels: for every group of four consecutive bytes of the reduction
// (four int8 or two int16 elements) the kPanel channels' bytes lie side by side.
inline constexpr size_t kPanel = 16;
inline constexpr size_t kGroupBytes = 4;

// Taps that one call of a kernel takes: their products fit into 32 bits together.
inline constexpr size_t kMaxTaps = 64;

// One of the RESCALEs of a residual, as OutputStage scales.
struct OutputScale {
  int32_t multiplier = 0;
  int64_t round = 0, extra = 0, shift = 0;
};

// What OutputStage does before its zero point, clip and clamp where it adds a residual: the scaled value gets
// value_zp and is clipped to int8; then sum((value - value_zp) << value_left + (operand - operand_zp) << operand_left),
// one side of them scaled by `side` before. All of it wraps at 32 bits.
struct OutputResidual {
  bool scales_operand = false;  // else it scales the value
  int32_t value_zp = 0, operand_zp = 0;
  uint32_t value_left = 0, operand_left = 0;
  OutputScale side, sum;
};

// What the MXU does to an accumulator, an array entry per output channel: bias, scale, zero point, clip, clamp.
// Scaling is (value * multiplier + round + (value < 0 ? -extra : extra)) >> shift, kept to 32 bits: `extra` is the
// first rounding of double rounding or 0.
struct OutputStage {
  const OutputResidual* residual = nullptr;  // null: adds none
  bool raw = false;                          // only the bias
  contract::Element type = contract::Element::kI8;
  const int32_t* bias32 = nullptr;  // for 32-bit accumulators
  const int64_t* bias48 = nullptr;
  const int32_t* multiplier = nullptr;
  const int64_t* round = nullptr;
  const int64_t* extra = nullptr;
  const int64_t* shift = nullptr;
  int32_t zero_point = 0;
  int32_t low = 0, high = 0;  // range of `type`, signed or unsigned
  int32_t clamp_min = 0, clamp_max = 0;
};

// A block of accumulators on its way to memory: rows[r] is where channel 0 of pixel r goes, row_offset (or null) is
// added to every accumulator of its pixel.
template <class Accumulator>
struct OutputBlock {
  const Accumulator* acc = nullptr;
  size_t acc_stride = 0;  // elements from pixel to pixel
  size_t first_channel = 0, channels = 0;
  size_t pixels = 0;
  uint8_t* const* rows = nullptr;
  const int64_t* row_offset = nullptr;
  const uint8_t* const* residual = nullptr;  // as rows, of the operand that is added
};

struct UopBlock;  // vpu_uops.h

// How a pooling window's sum or maximum becomes a result: value - offset, scaled as in OutputStage, zero point, clip.
struct PoolFinish {
  contract::Element type = contract::Element::kI8;
  bool average = false;
  int32_t offset = 0;  // count * zero point
  int32_t multiplier = 0;
  int64_t round = 0;
  int64_t shift = 0;
  int32_t zero_point = 0;
};

// How floating-point values become one. max and min are those of the contract's fmax and fmin.
struct FloatJoin {
  enum class Op : uint8_t { kSum, kProduct, kMax, kMin };
  Op op = Op::kSum;
  bool ignore_nan = false;
};

// The output stage of floating point: bias, limits, rounding to `type`. What is added to the value is of that type.
struct FloatOutput {
  contract::Element type = contract::Element::kF32;
  const float* bias = nullptr;  // an entry a channel
  float clamp_min = 0, clamp_max = 0;
};

struct Kernels {
  const char* name;

  // One panel from int8 weights with the reduction contiguous: channel c starts at w + c * stride, k elements, zeros up
  // to a whole group and kPanel channels.
  void (*pack8)(const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k, uint8_t* panel);

  // acc[r * acc_stride + c] = sum of a[r][i] * b[c][i], a unsigned and b signed bytes, for rows of a and
  // panels * kPanel channels. Rows are `a_stride` bytes apart and groups * kGroupBytes long.
  void (*gemm8)(const uint8_t* a, size_t a_stride, size_t rows, const uint8_t* b, size_t groups, size_t panels,
                int32_t* acc, size_t acc_stride);

  // As gemm8 for signed 16-bit elements; adds scale times the sum to acc. No product may exceed 2^23.
  void (*gemm16)(const uint8_t* a, size_t a_stride, size_t rows, const uint8_t* b, size_t groups, size_t panels,
                 int64_t scale, int64_t* acc, size_t acc_stride);

  // For few rows, without packing: acc as in gemm8, weights as in pack8; sums[c] = sum of the weights of channel c.
  void (*dot8)(const uint8_t* a, size_t a_stride, size_t rows, const uint8_t* w, ptrdiff_t stride, size_t channels,
               size_t k, int32_t* acc, size_t acc_stride, int32_t* sums);

  // acc[c] += sum over taps of (src[t][c] - zero_point) * weights[t][c], wrapping; src are int8 or int16 elements,
  // weights differences of int8, and there are at most kMaxTaps taps.
  void (*depthwise8)(const uint8_t* const* src, const int16_t* const* weights, size_t taps, int32_t zero_point,
                     size_t channels, int32_t* acc);
  void (*depthwise16)(const uint8_t* const* src, const int16_t* const* weights, size_t taps, int32_t zero_point,
                      size_t channels, int64_t* acc);

  void (*output32)(const OutputStage& stage, const OutputBlock<int32_t>& block);
  void (*output48)(const OutputStage& stage, const OutputBlock<int64_t>& block);

  // Runs the micro-program on one block of elements.
  void (*uops)(const UopBlock& block);

  // acc[c] = max or wrapping sum of acc[c] and src[t][c] over the taps; `type` is i8 or i16.
  void (*pool_add)(contract::Element type, bool average, const uint8_t* const* src, size_t taps, size_t channels,
                   int32_t* acc);
  void (*pool_finish)(const PoolFinish& finish, const int32_t* acc, size_t channels, uint8_t* dst);

  // Elements of a floating-point type to FP32, and FP32 rounded to it.
  void (*to_floats)(contract::Element type, const uint8_t* from, size_t count, float* to);
  void (*from_floats)(contract::Element type, const float* from, size_t count, uint8_t* to);
  // acc[i] = acc[i] joined with values[i], in ascending order: values may be acc's own, further behind.
  void (*join_floats)(const FloatJoin& join, float* acc, const float* values, size_t count);
  // acc[i] = acc[i] joined with rows[0][i], rows[1][i] and so on, elements of a floating-point type.
  void (*join_rows)(const FloatJoin& join, contract::Element type, const uint8_t* const* rows, size_t row_count,
                    size_t count, float* acc);

  // One panel of FP32 from weights of a floating-point type with the reduction contiguous: channel c starts at
  // w + c * stride, k elements, zeros up to kPanel channels. False where one of them is infinite or a NaN.
  bool (*pack_float)(contract::Element type, const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k,
                     float* panel);
  // The same of weights with the channels contiguous: element k of the reduction starts at w + k * stride.
  bool (*pack_float_rows)(contract::Element type, const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k,
                          float* panel);
  // acc[r * kPanel + c] += for each cycle the sum of a[r][k] * panel[k][c] over its k, in pairs of neighbours, for rows
  // of `a_stride` elements. `cycles[i]` is the number of elements that cycle i takes, from where the last one ended on.
  void (*gemm_float)(const float* a, size_t a_stride, size_t rows, const float* panel, std::span<const uint32_t> cycles,
                     float* acc);
  // acc[c] += the same of src[t][c] * weights[t][c]; a null src makes +0. Whole vectors of at most kPanel channels are
  // read and written: what lies behind the channels must be there, and in acc means nothing.
  void (*depthwise_float)(const float* const* src, const float* const* weights, std::span<const uint32_t> cycles,
                          size_t channels, float* acc);
  // Channels first .. first + count of a pixel; acc[0] is that of channel `first`, and so are the first elements of
  // `residual`, null where nothing is added, and dst.
  void (*output_float)(const FloatOutput& stage, const float* acc, const uint8_t* residual, size_t first, size_t count,
                       uint8_t* dst);
};

// Every set that this machine can run, best first; the last one is plain C++.
[[nodiscard]] std::span<const Kernels* const> supported_kernels();

[[nodiscard]] inline const Kernels& best_kernels() { return *supported_kernels().front(); }

}  // namespace npu::engine
