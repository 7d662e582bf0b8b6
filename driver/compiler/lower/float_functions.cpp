// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/float_functions.h"

#include <array>

#include "driver/compiler/lower/float_uops.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using Value = FloatUops::Value;
using graph::Op;

// Coefficients are made as those of float_exponentials.cpp.

// Turns of the angle x: what is left of x / (2 pi) once it is rounded to a whole number, -1/2 to 1/2. The quotient is
// wrong by 1.2 * 2^-24 of it, so the angle by so much of x, where bounds have 2^-11.5 of x at least. The difference is
// exact; where the quotient is so large that it is whole itself it is 0, and of an infinity it is a NaN. `zero`: what is
// added before rounding; -0 for the sign of x = -0, which +0 would lose.
Value turns(FloatUops& uops, Value x) {
  constexpr float kTurn = 0.159154943F;
  const Value quotient = uops.affine(x, kTurn, -0.0F);
  // -0 - +0 is -0, but -0 - -0 is not.
  return uops.sub(quotient, uops.nearest(uops.affine(x, kTurn, 0.0F)));
}

// sin(2 pi r) is r times a polynomial of r^2, minimax of the error relative to 2 pi r: 1.6e-4, 0.24 of the bound.
Value sine(FloatUops& uops, Value x) {
  constexpr std::array kSine = {6.28216076F, -41.2074738F, 78.8447571F, -58.1832123F};
  const Value r = turns(uops, x);
  return uops.mul(r, uops.polynomial(uops.mul(r, r), kSine));
}

// cos(2 pi r), 1 at 0, minimax of the error: 4.6e-5, 0.14 of the bound.
Value cosine(FloatUops& uops, Value x) {
  constexpr std::array kCosine = {1.0F, -19.7333488F, 64.7077255F, -82.5897675F, 45.9814682F};
  const Value r = turns(uops, x);
  return uops.polynomial(uops.mul(r, r), kCosine);
}

// x * P(x^2) / Q(x^2), minimax of the error relative to the bound, found by fits of P - tanh * Q that take the last fit's Q
// as weight: 0.22 of the bound up to 7 in FP32, 0.16 up to 4.5 in 16 bits. Operands are clamped to where the quotient is 1
// once it is rounded.
Value tanh(FloatUops& uops, Value x, Precision precision) {
  constexpr std::array kAboveSingle = {0.999999702F, 0.123623587F, 0.00232827803F, 4.15341901e-06F};
  constexpr std::array kBelowSingle = {-1.0F, -0.456953347F, -0.0213181935F, -0.000147719766F};
  constexpr std::array kAboveHalf = {0.999330342F, 0.0799222961F};
  constexpr std::array kBelowHalf = {-1.0F, -0.410173923F, -0.00605788734F};
  const bool single = precision == Precision::kSingle;
  const float limit = single ? 6.9965F : 4.0F;
  const Value clamped = uops.clamp(x, -limit, limit);
  const Value z = uops.mul(clamped, clamped);
  const Value above = single ? uops.polynomial(z, kAboveSingle) : uops.polynomial(z, kAboveHalf);
  const Value negative_below = single ? uops.polynomial(z, kBelowSingle) : uops.polynomial(z, kBelowHalf);
  return uops.mul(uops.mul(clamped, above), emit_inverse(uops, negative_below, precision));
}

// x times a polynomial of w = x^2 - h, minimax of the relative error: 0.16 of the bound up to 3.7 in FP32, 0.20 up to 2.5 in
// 16 bits. It is of w, which has either sign, since the terms of a polynomial of x^2 were large and cancelled. Operands
// are clamped as those of TANH.
Value erf(FloatUops& uops, Value x, Precision precision) {
  constexpr std::array kSingle = {0.382137477F,     -0.0278258901F,   0.00300497073F,   -0.000351183699F,
                                  4.12388508e-05F,  -4.69670431e-06F, 5.06316837e-07F,  -5.06529538e-08F,
                                  4.83235452e-09F,  -4.59059901e-10F, 3.60813844e-11F,  -1.79593601e-12F,
                                  1.56195071e-13F,  -2.48130255e-14F, 1.39782343e-15F};
  constexpr std::array kHalf = {0.558902681F,   -0.0813710913F, 0.0150846094F,
                                -0.00282818475F, 0.000603507273F, -7.88994948e-05F};
  const bool single = precision == Precision::kSingle;
  const float limit = single ? 3.7075F : 2.45F;
  const Value clamped = uops.clamp(x, -limit, limit);
  const Value w = uops.fma(clamped, clamped, single ? -6.84499979F : -3.125F);
  return uops.mul(clamped, single ? uops.polynomial(w, kSingle) : uops.polynomial(w, kHalf));
}

}  // namespace

uint32_t emit_float_function(Op op, std::span<const uint32_t> in, UopSink& sink, contract::Element type) {
  NPU_CHECK(in.size() == (op == Op::kPow ? 2 : 1));
  const Precision precision = type == contract::Element::kF32 ? Precision::kSingle : Precision::kHalf;
  FloatUops uops(sink);
  switch (op) {
    case Op::kExp:
      return emit_exp(uops, in[0], precision);
    case Op::kLog:
      return emit_log(uops, in[0], precision);
    case Op::kPow:
      return emit_pow(uops, in[0], in[1], precision);
    case Op::kSigmoid:
      return emit_sigmoid(uops, in[0], precision);
    case Op::kReciprocal:
      return emit_reciprocal(uops, in[0], precision);
    case Op::kRsqrt:
      return emit_rsqrt(uops, in[0], precision);
    case Op::kSin:
      return sine(uops, in[0]);
    case Op::kCos:
      return cosine(uops, in[0]);
    case Op::kTanh:
      return tanh(uops, in[0], precision);
    case Op::kErf:
      return erf(uops, in[0], precision);
    default:
      panic(__FILE__, __LINE__, "an operator that is not a function of floating point");
  }
}

}  // namespace npu::compiler
