// SPDX-License-Identifier: Apache-2.0
// What the micro-programs of functions (float_functions.h) are written in: a call for each micro-operation.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "driver/compiler/lower/float_functions.h"
#include "hw/contract/error.h"

namespace npu::compiler {

// A function's programs: for results of 24 bits, or of at most 11 as f16 and bf16 have.
enum class Precision : uint8_t { kSingle, kHalf };

// Numbers are FP32 values, whole numbers and patterns the integers that registers hold.
class FloatUops {
 public:
  using Value = uint32_t;

  explicit FloatUops(UopSink& sink) : sink_(sink) {}

  [[nodiscard]] Value sub(Value a, Value b) { return emit(contract::UopCode::kFsub, a, b, kFormat); }
  [[nodiscard]] Value mul(Value a, Value b) { return emit(contract::UopCode::kFmul, a, b, kFormat); }
  // a * b + c
  [[nodiscard]] Value fma(Value a, Value b, Value c) {
    return emit(contract::UopCode::kFma, a, b, static_cast<int32_t>(c));
  }
  [[nodiscard]] Value fma(Value a, Value b, float c) { return emit(contract::UopCode::kFmaImm, a, b, pattern(c)); }
  // a * factor + offset; an offset of -0 keeps the sign of a zero, one of +0 makes +0 of both.
  [[nodiscard]] Value affine(Value a, float factor, float offset) {
    return emit(contract::UopCode::kFaffine, a, 0, pattern(factor), pattern(offset));
  }
  // A NaN stays.
  [[nodiscard]] Value clamp(Value a, float low, float high) {
    return emit(contract::UopCode::kFclamp, a, 0, pattern(low), pattern(high));
  }
  [[nodiscard]] Value floor(Value a) { return emit(contract::UopCode::kFround, a, 0, 0); }
  [[nodiscard]] Value nearest(Value a) { return emit(contract::UopCode::kFround, a, 0, 2); }
  // a * 2^n for the whole number n; beyond +-512 as at the limit.
  [[nodiscard]] Value scale(Value a, Value n) { return emit(contract::UopCode::kFscale, a, n); }
  // The whole number n with 2^n <= |a| < 2^(n + 1); of a zero -256, of an infinity or NaN 128.
  [[nodiscard]] Value exponent(Value a) { return emit(contract::UopCode::kFexponent, a); }
  [[nodiscard]] Value to_whole(Value a) {
    return emit(contract::UopCode::kFloatToInt, a, 0, static_cast<int32_t>(contract::Element::kI32));
  }
  [[nodiscard]] Value to_float(Value n) { return emit(contract::UopCode::kIntToFloat, n, 0, kFormat); }

  // Of whole numbers and patterns.
  [[nodiscard]] Value constant(uint32_t pattern, Value seed) { return sink_.constant(pattern, seed); }
  [[nodiscard]] Value whole_add(Value a, Value b) { return emit(contract::UopCode::kAdd, a, b); }
  [[nodiscard]] Value whole_sub(Value a, Value b) { return emit(contract::UopCode::kSub, a, b); }
  // a * b / 2^shift, rounded half up.
  [[nodiscard]] Value whole_mul(Value a, Value b, int32_t shift) { return emit(contract::UopCode::kMul, a, b, shift); }
  // from - a
  [[nodiscard]] Value negate(Value a, int32_t from = 0) {
    return emit(contract::UopCode::kNegate, a, static_cast<uint32_t>(contract::Element::kI32), 0, from);
  }
  [[nodiscard]] Value whole_clamp(Value a, int32_t low, int32_t high) {
    return emit(contract::UopCode::kClamp, a, 0, low, high);
  }
  [[nodiscard]] Value bit_or(Value a, Value b) { return emit(contract::UopCode::kBitOr, a, b); }
  // a where the pattern of `condition` is not 0, else b.
  [[nodiscard]] Value select(Value condition, Value a, Value b) {
    return emit(contract::UopCode::kSelect, a, b, static_cast<int32_t>(condition));
  }

  // c[0] + c[1] * z + c[2] * z^2 + ..., two coefficients or more, by Horner's rule.
  [[nodiscard]] Value polynomial(Value z, std::span<const float> c) {
    NPU_CHECK(c.size() >= 2);
    Value sum = affine(z, c[c.size() - 1], c[c.size() - 2]);
    for (size_t i = c.size() - 2; i-- > 0;) sum = fma(sum, z, c[i]);
    return sum;
  }

 private:
  static constexpr auto kFormat = static_cast<int32_t>(contract::Element::kF32);

  static int32_t pattern(float value) { return std::bit_cast<int32_t>(value); }
  Value emit(contract::UopCode op, uint32_t a, uint32_t b = 0, int32_t imm0 = 0, int32_t imm1 = 0) {
    return sink_.emit({op, 0, a, b, imm0, imm1});
  }

  UopSink& sink_;
};

// float_exponentials.cpp
[[nodiscard]] uint32_t emit_exp(FloatUops& uops, uint32_t x, Precision precision);
[[nodiscard]] uint32_t emit_log(FloatUops& uops, uint32_t x, Precision precision);
[[nodiscard]] uint32_t emit_pow(FloatUops& uops, uint32_t x, uint32_t y, Precision precision);
[[nodiscard]] uint32_t emit_sigmoid(FloatUops& uops, uint32_t x, Precision precision);

// float_reciprocals.cpp
[[nodiscard]] uint32_t emit_reciprocal(FloatUops& uops, uint32_t x, Precision precision);
[[nodiscard]] uint32_t emit_rsqrt(FloatUops& uops, uint32_t x, Precision precision);
// 1 / b for -b from -2^64 to -1.
[[nodiscard]] uint32_t emit_inverse(FloatUops& uops, uint32_t negative_b, Precision precision);

}  // namespace npu::compiler
