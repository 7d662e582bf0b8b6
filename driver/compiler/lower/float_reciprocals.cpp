// SPDX-License-Identifier: Apache-2.0
// Reciprocals of numbers and of their roots: a first guess, and steps that make it better. Steps see what is wrong of a
// guess by a fused multiply and add, without the rounding of a product, so the last one rounds the result almost right.
#include <array>
#include <bit>
#include <cstdint>

#include "driver/compiler/lower/float_uops.h"

namespace npu::compiler {
namespace {

using Value = FloatUops::Value;

// A pattern is about a logarithm, so this pattern less that of x is about the pattern of 1 / x: x times it is between
// 0.9500 and 1.0515. No other constant has a smaller ratio of those.
constexpr uint32_t kGuess = 0x7ef33400;
constexpr uint32_t kSign = 0x80000000;

// With u = b * y for a guess y, y * ((u - kShift)^2 + kRest) is y * (3 - 3u + u^2), Halley's step, but with the
// constants that are minimax for such u: 1 / b but for 3.3e-5 of it. b may have either sign where `shift` has the other
// one than u.
constexpr float kShift = 1.50096122F, kRest = 0.749039087F;
Value halley_step(FloatUops& uops, Value b, Value y, float shift) {
  const Value moved = uops.fma(b, y, shift);
  return uops.mul(y, uops.fma(moved, moved, kRest));
}

// (y + y * e) for e = 1 - b * y.
Value newton_step(FloatUops& uops, Value negative_b, Value y, float one) {
  return uops.fma(uops.fma(negative_b, y, one), y, y);
}

}  // namespace

// The guess and Halley's step give 1 / b but for 3.3e-5 of it, which Newton's step squares.
uint32_t emit_inverse(FloatUops& uops, uint32_t negative_b, Precision precision) {
  // The patterns of negative numbers are less by 2^31 as integers.
  const Value guess = uops.negate(negative_b, static_cast<int32_t>(kGuess - kSign));
  const Value inverse = halley_step(uops, negative_b, guess, kShift);
  return precision == Precision::kHalf ? inverse : newton_step(uops, negative_b, inverse, 1);
}

// 1 / x = 2^-e / (x / 2^e), so that all steps work on m from 1 to 2 or -1 to -2. A zero makes a guess of 1.6e38, which
// a factor of 2^256 makes infinite; an infinity becomes kLargest, whose guess is 0 with its sign.
//
// In FP32 Newton's step leaves 1.3e-3, with a constant that makes this as much above as below. Then e = 1 - m * y, and
// y * (1 + e + e^2) is wrong by e^3, 2e-9. For a zero these make three times and twice the guess, the second not before
// the end infinite.
uint32_t emit_reciprocal(FloatUops& uops, uint32_t x, Precision precision) {
  constexpr auto kLargest = std::bit_cast<float>(kGuess);
  constexpr float kOne = 1.00129426F;
  const Value down = uops.negate(uops.exponent(x));
  const Value m = uops.clamp(uops.scale(x, down), -kLargest, kLargest);
  const Value guess = uops.whole_sub(uops.constant(kGuess, x), m);
  if (precision == Precision::kHalf) return uops.scale(halley_step(uops, m, guess, -kShift), down);
  const Value negative = uops.affine(m, -1, 0);
  const Value y = newton_step(uops, negative, guess, kOne);
  const Value e = uops.fma(negative, y, 1.0F);
  return uops.scale(uops.fma(uops.fma(e, e, e), y, y), down);
}

// 1 / sqrt(x) = 2^j / sqrt(m) for m = x * 2^2j from 1 to 4. With u = m * y^2 a step is y * (3/2 - u/2), again with
// constants that make the error as much above as below.
//
// In FP32 the guess is a polynomial of degree 3, relative error 7.5e-3, and one step leaves 4.3e-5, another 2.7e-9. In
// 16 bits it is a straight line, 0.085, and one step of degree 2 in u leaves 4.0e-4: y * ((a - u/2)^2 + b). The line is
// a bit too large, so that the coefficient of u^2 is right.
//
// Guesses are 0 at 6 and 7, exactly, where an infinity is clamped to, so its result is 0. Zeros have j = 128, and what
// the steps make of the guess at 0 is above 1, so the result is infinite. Negative numbers are clamped to -1: steps
// make a number between 2 and 32 of it, and all bits of its exponent together with those of -1 are set: a NaN. The same
// or puts the sign on the result of -0.
uint32_t emit_rsqrt(FloatUops& uops, uint32_t x, Precision precision) {
  constexpr std::array kCubic = {1.5657599F, -0.750829697F, 0.199298695F, -0.0196089577F};
  constexpr float kLine = 173329.0F / (1 << 20);
  const Value j = uops.whole_mul(uops.exponent(x), uops.constant(UINT32_MAX, x), 1);
  const Value scaled = uops.scale(x, uops.whole_add(j, j));
  const bool single = precision == Precision::kSingle;
  const Value m = uops.clamp(scaled, -1, single ? 6 : 7);
  const Value guess = single ? uops.polynomial(m, kCubic) : uops.affine(m, -kLine, 7 * kLine);
  const Value half = uops.affine(m, -0.5F, 0);
  const Value squared = uops.mul(guess, guess);
  Value factor = uops.fma(half, squared, single ? 1.50004231F : 0.985514914F);
  if (!single) factor = uops.fma(factor, factor, 0.764150894F);
  const Value sign_or_negative = uops.whole_clamp(m, INT32_MIN, 0);
  Value y = uops.bit_or(uops.mul(guess, factor), sign_or_negative);
  if (single) y = uops.fma(y, uops.fma(half, uops.mul(y, y), 0.5F), y);
  return uops.scale(y, j);
}

}  // namespace npu::compiler
