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

// Of the angle x what is left of x / (2 pi) once a whole number of turns is taken away: -1/2 to 1/2. The quotient is
// wrong by 1.7 * 2^-24 of it, so the angle by so much of x, where bounds have 2^-11.5 of x at least. The difference is
// exact; where the quotient is so large that it is whole itself it is 0, and of an infinity it is a NaN.
constexpr float kTurn = 0.159154943F;
Value turns(FloatUops& uops, Value x) {
  const Value quotient = uops.affine(x, kTurn, 0);
  return uops.sub(quotient, uops.nearest(quotient));
}
// With the sign of x = -0: -0 - +0 is -0, but -0 - -0 is not.
Value signed_turns(FloatUops& uops, Value x) {
  return uops.sub(uops.affine(x, kTurn, -0.0F), uops.nearest(uops.affine(x, kTurn, 0)));
}

// sin(2 pi r) is r times a polynomial of r^2, minimax of the error relative to 2 pi r: 6.8e-8, and 1.6e-4. The bound,
// which is 6.9e-4, does with the second one for any type; in FP32 it would be some thousand units of the last place
// of 1.
Value sine(FloatUops& uops, Value x, Precision precision) {
  constexpr std::array kSingle = {6.28318501F, -41.3415985F, 81.6001816F, -76.6168671F, 41.3531914F, -12.487175F};
  constexpr std::array kHalf = {6.28216076F, -41.2074852F, 78.8449402F, -58.1838417F};
  const Value r = signed_turns(uops, x);
  const Value z = uops.mul(r, r);
  return uops.mul(r, precision == Precision::kSingle ? uops.polynomial(z, kSingle) : uops.polynomial(z, kHalf));
}

// cos(2 pi r), 1 at 0, minimax of the error: 1.5e-8, and 4.6e-5 where the bound is 3.5e-4.
Value cosine(FloatUops& uops, Value x, Precision precision) {
  constexpr std::array kSingle = {1.0F,        -19.7392063F, 64.9391861F, -85.4511795F,
                                  60.1750641F, -25.9926872F, 6.56089973F};
  constexpr std::array kHalf = {1.0F, -19.7333488F, 64.7077332F, -82.589859F, 45.9817276F};
  const Value r = turns(uops, x);
  const Value z = uops.mul(r, r);
  return precision == Precision::kSingle ? uops.polynomial(z, kSingle) : uops.polynomial(z, kHalf);
}

// x * P(x^2) / Q(x^2), minimax of the relative error, found by fits of P - tanh * Q that take the last fit's Q as
// weight: in FP32 up to 8, 2.4e-7, which keeps large results as near to their limit as small ones, in 16 bits up
// to 4.5, 6e-4. Operands are clamped to where the quotient is 1 once it is rounded, for the first time.
Value tanh(FloatUops& uops, Value x, Precision precision) {
  constexpr std::array kAboveSingle = {0.999999762F, 0.127122521F, 0.00269635208F, 7.16215209e-06F, -6.14193718e-09F};
  constexpr std::array kBelowSingle = {-1.0F, -0.460454106F, -0.0228500497F, -0.000196738314F};
  constexpr std::array kAboveHalf = {0.999330342F, 0.0799222961F};
  constexpr std::array kBelowHalf = {-1.0F, -0.410173923F, -0.00605788734F};
  const bool single = precision == Precision::kSingle;
  const float limit = single ? 7.60947609F : 4.0F;
  const Value clamped = uops.clamp(x, -limit, limit);
  const Value z = uops.mul(clamped, clamped);
  const Value above = single ? uops.polynomial(z, kAboveSingle) : uops.polynomial(z, kAboveHalf);
  const Value negative_below = single ? uops.polynomial(z, kBelowSingle) : uops.polynomial(z, kBelowHalf);
  return uops.mul(uops.mul(clamped, above), emit_inverse(uops, negative_below, precision));
}

// x times a polynomial of w = x^2 - h, minimax of the relative error: 0.16 of the bound up to 3.7 in FP32, 0.20 up
// to 2.5 in 16 bits. It is of w, which has either sign, since the terms of a polynomial of x^2 were large and
// cancelled. Operands are clamped as those of TANH.
Value erf(FloatUops& uops, Value x, Precision precision) {
  constexpr std::array kSingle = {0.382137477F,    -0.0278258901F,   0.00300497073F,  -0.000351183699F,
                                  4.12388508e-05F, -4.69670431e-06F, 5.06316837e-07F, -5.06529538e-08F,
                                  4.83235452e-09F, -4.59059901e-10F, 3.60813844e-11F, -1.79593601e-12F,
                                  1.56195071e-13F, -2.48130255e-14F, 1.39782343e-15F};
  constexpr std::array kHalf = {0.558902681F,    -0.0813710913F,  0.0150846094F,
                                -0.00282818475F, 0.000603507273F, -7.88994948e-05F};
  const bool single = precision == Precision::kSingle;
  const float limit = single ? 3.69957376F : 2.45F;
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
      return sine(uops, in[0], precision);
    case Op::kCos:
      return cosine(uops, in[0], precision);
    case Op::kTanh:
      return tanh(uops, in[0], precision);
    case Op::kErf:
      return erf(uops, in[0], precision);
    default:
      panic(__FILE__, __LINE__, "an operator that is not a function of floating point");
  }
}

}  // namespace npu::compiler
