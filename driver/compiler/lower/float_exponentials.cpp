// SPDX-License-Identifier: Apache-2.0
// Exponential function and logarithm, and what is made of them. The coefficients of polynomials are those of Remez'
// exchange in double precision, rounded to FP32 from the lowest on, where each rounding moves the coefficients above
// it. An error is relative to the bound where it has no unit.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "driver/compiler/lower/float_uops.h"

namespace npu::compiler {
namespace {

using Value = FloatUops::Value;

constexpr float kLog2E = 1.44269504F, kLn2 = 0.693147181F;
constexpr float kBeyondFloat = 160;  // 2^160 and 2^-160 are infinity and 0 in FP32

// 2^r on [0, 1] with 1 at 0, minimax of the relative error: 8.2e-8, and 8.6e-5.
constexpr std::array kExp2Single = {1.0F, 0.693151295F, 0.240164593F, 0.0557995141F, 0.00901748054F, 0.00186695263F};
constexpr std::array kExp2Half = {1.0F, 0.695116758F, 0.227645069F, 0.0770669952F};

// 2^t, and 2^limit above the limit, exactly, as it is for all whole t. With r = t - floor(t), from 0 to 1, it is
// 2^r * 2^floor(t). Rounded down rather than to the nearest, since a polynomial that is 1 at 0 exactly is better where
// 0 is an end of its interval. The errors are r's, 2^-25, that of the polynomial, and its last rounding, 2^-24.
Value exp2(FloatUops& uops, Value t, float limit, Precision precision) {
  const Value clamped = uops.clamp(t, -kBeyondFloat, limit);
  const Value whole = uops.floor(clamped);
  const Value rest = uops.sub(clamped, whole);
  const Value power =
      precision == Precision::kSingle ? uops.polynomial(rest, kExp2Single) : uops.polynomial(rest, kExp2Half);
  return uops.scale(power, uops.to_whole(whole));
}

// log2(1 + f) / f for 1 + f from `least` to 2 * least; the polynomials times f are minimax of the error of the natural
// logarithm, relative to LOG's bound: 2^-24 near 1, 5 * 2^-23 of the result elsewhere, or as much in 16 bits. What is
// left of the bound is for roundings. A `least` is chosen where a polynomial of this degree, that has to be right at 0,
// does best; the one of 9 coefficients has a positive last one, so that the logarithm of infinity is infinity.
struct Logarithm {
  float scale;  // 1 / least
  std::span<const float> coefficients;
};
constexpr std::array kLogSingle = {1.4426949F,    -0.721347451F, 0.480918974F,  -0.360704243F, 0.287766039F,
                                   -0.238672823F, 0.216162935F,  -0.210335672F, 0.130658776F};
constexpr std::array kPowSingle = {1.44269574F,  -0.721347988F, 0.480805397F, -0.360501647F,
                                   0.291344911F, -0.249250785F, 0.190202743F, -0.0802763626F};
constexpr std::array kLogHalf = {1.44813502F, -0.725403249F, 0.329643011F};
constexpr Logarithm kOfLog = {1 / 0.70F, kLogSingle};   // 0.06 of the bound
constexpr Logarithm kOfPow = {1 / 0.765F, kPowSingle};  // 0.30
constexpr Logarithm kOfHalf = {1 / 0.79F, kLogHalf};    // 0.62 of what rounding to 16 bits leaves of the bound

// log2(x) = e + log2(x / 2^e), with e so that x / 2^e is from `least` to 2 * least: the exponent of `scaled`, x *
// scale. f = x / 2^e - 1 is exact, and near 1, where e is 0, the sum is the polynomial times f, rounded once.
Value log2(FloatUops& uops, Value x, Value scaled, const Logarithm& logarithm) {
  const Value exponent = uops.exponent(scaled);
  const Value mantissa = uops.scale(x, uops.negate(exponent));
  const Value f = uops.affine(mantissa, 1, -1);
  return uops.fma(f, uops.polynomial(f, logarithm.coefficients), uops.to_float(exponent));
}

// x * scale, where both zeros are +0, whose pattern is 0.
Value scaled_for_log(FloatUops& uops, Value x, const Logarithm& logarithm) {
  return uops.affine(x, logarithm.scale, 0);
}

}  // namespace

// e^x = 2^(x * log2(e)), whose exponent is wrong by 1.3 * 2^-24 of it: an error of the result of 0.65 * |x| * 2^-23,
// where the bound has 2 * |x| * 2^-23.
uint32_t emit_exp(FloatUops& uops, uint32_t x, Precision precision) {
  return exp2(uops, uops.affine(x, kLog2E, 0), kBeyondFloat, precision);
}

// Patterns of negative numbers are negative integers below those of NaNs with a sign, so the clamp makes NaNs of all of
// them, and of -0 too. Zeros are told by `scaled`.
uint32_t emit_log(FloatUops& uops, uint32_t x, Precision precision) {
  const Logarithm& logarithm = precision == Precision::kSingle ? kOfLog : kOfHalf;
  const Value scaled = scaled_for_log(uops, x, logarithm);
  const Value not_negative = uops.whole_clamp(x, -1, INT32_MAX);
  const Value natural = uops.affine(log2(uops, not_negative, scaled, logarithm), kLn2, 0);
  return uops.select(scaled, natural, uops.constant(std::bit_cast<uint32_t>(-INFINITY), x));
}

// 2^(y * log2(x)); of a zero that zero, which is what a positive y makes of it. Others have no rule there.
uint32_t emit_pow(FloatUops& uops, uint32_t x, uint32_t y, Precision precision) {
  const Logarithm& logarithm = precision == Precision::kSingle ? kOfPow : kOfHalf;
  const Value scaled = scaled_for_log(uops, x, logarithm);
  const Value power = exp2(uops, uops.mul(y, log2(uops, x, scaled, logarithm)), kBeyondFloat, precision);
  return uops.select(scaled, power, x);
}

// E / (1 + E) with E = e^x, where the quotient has as many correct bits for small E as for large ones. From 2^64 on,
// which is more than enough, E is a power of two, and the result 1. In FP32 the bound near 0, 2 * 2^-23, takes a
// quotient that is rounded almost right: what it leaves of E, times the inverse of 1 + E again, is added.
uint32_t emit_sigmoid(FloatUops& uops, uint32_t x, Precision precision) {
  const Value power = exp2(uops, uops.affine(x, kLog2E, 0), 64, precision);
  const Value negative_sum = uops.affine(power, -1, -1);
  const Value inverse = emit_inverse(uops, negative_sum, Precision::kHalf);
  const Value quotient = uops.mul(power, inverse);
  if (precision == Precision::kHalf) return quotient;
  return uops.fma(uops.fma(negative_sum, quotient, power), inverse, quotient);
}

}  // namespace npu::compiler
