// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/float_function_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hw/contract/error.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;
using graph::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTurn = 6.283185307179586;

struct Format {
  int fraction;        // bits of the mantissa behind its first one
  int least, largest;  // exponents
};

Format format_of(Element type) {
  switch (type) {
    case Element::kF16:
      return {10, -14, 15};
    case Element::kBf16:
      return {7, -126, 127};
    default:
      return {23, -126, 127};
  }
}

// 2^exponent, which a double has as a normal number.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }

double least_normal(Element type) { return power_of_two(format_of(type).least); }

// The unit of the last place of a number, of subnormals that of the smallest normal number.
double unit_of(Element type, double value) {
  const double magnitude = std::max(std::abs(value), least_normal(type));
  const auto power = std::bit_cast<double>(std::bit_cast<uint64_t>(magnitude) & uint64_t{0x7ff} << 52);
  return power * power_of_two(-format_of(type).fraction);
}

// `units` of a relative precision of a magnitude, but no less than `least` of them of 1: calcAbsErrorBound of the
// specification.
enum class Digits : uint8_t { kAll, kHalf };
double bound_of(Element type, double magnitude, double units, double least = 0, Digits digits = Digits::kAll) {
  const double value = std::max({std::abs(magnitude), least_normal(type), least > 0 ? least / units : 0});
  const double precision = power_of_two(-format_of(type).fraction);
  return (digits == Digits::kAll ? precision : std::sqrt(precision)) * value * units;
}

double bound(Op op, Element type, FloatOperands operands, double want) {
  const double x = operands.x, size = std::abs(x);
  const double exp_base = type == Element::kF32 ? 3 : 1;
  switch (op) {
    case Op::kExp:
      return bound_of(type, want, exp_base + 2 * size);
    case Op::kLog:
      return bound_of(type, want, 5, 0.5);
    case Op::kSigmoid:
      return bound_of(type, want, 2 * (1 + size));
    case Op::kTanh:
      return bound_of(type, want, 4 * (exp_base + 2 * size), 0.5);
    case Op::kSin:
      return std::max(bound_of(type, x, 2, 0, Digits::kHalf), kTurn / 2 * least_normal(type));
    case Op::kCos:
      return bound_of(type, 1 + size, 1, 0, Digits::kHalf);
    case Op::kErf:
      return 5 * unit_of(type, want);
    case Op::kReciprocal:
      return unit_of(type, want);
    case Op::kRsqrt:
      return 2 * unit_of(type, want);
    case Op::kPow: {
      const double exponent = operands.y * std::log(x);
      const double of_exponent = bound_of(type, exponent, 5.5, std::abs(0.55 * operands.y));
      const double of_exp = bound_of(type, want, exp_base + 2 * std::abs(exponent + of_exponent));
      return want * std::expm1(of_exponent) + of_exp;
    }
    default:
      panic(__FILE__, __LINE__, "an operator that is not a function of floating point");
  }
}

// Whether the specification names the result for these operands, and not only a bound.
bool is_special(Op op, FloatOperands operands) {
  if (op == Op::kPow) return operands.x == 0 || operands.y == 0;
  return operands.x == 0 || (std::isinf(operands.x) && op != Op::kErf);
}

// What results may not be beyond, though bounds allow it. Angles may be so large that every number is within the bound.
double most_of(Op op) {
  constexpr double kRoughly1 = 1.001;
  if (op == Op::kSin || op == Op::kCos) return kRoughly1;
  return op == Op::kTanh || op == Op::kErf || op == Op::kSigmoid ? 1 : kInfinity;
}

}  // namespace

double float_of(Element type, uint32_t pattern) {
  if (type != Element::kF16) return std::bit_cast<float>(type == Element::kF32 ? pattern : pattern << 16);
  const uint32_t exponent = pattern >> 10 & 31, mantissa = pattern & 0x3ff;
  const double magnitude = exponent == 31  ? (mantissa == 0 ? kInfinity : std::nan(""))
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(mantissa + 1024, static_cast<int>(exponent) - 25);
  return (pattern & 0x8000) != 0 ? -magnitude : magnitude;
}

uint32_t pattern_of(Element type, double value) {
  if (type == Element::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  const Format format = format_of(type);
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0, infinity = (0x7fffU >> format.fraction) << format.fraction;
  if (std::isnan(value)) return infinity | 1U << (format.fraction - 1);
  const double units = std::nearbyint(std::abs(value) / unit_of(type, value));  // of the last place
  if (!(std::abs(value) < std::ldexp(1.0, format.largest + 1)) || units * unit_of(type, value) > largest_float(type)) {
    return sign | infinity;
  }
  // A normal number has a leading one among its units, which adds to its exponent.
  const int above = std::max(std::ilogb(std::max(std::abs(value), least_normal(type))) - format.least, 0);
  return sign | ((static_cast<uint32_t>(above) << format.fraction) + static_cast<uint32_t>(units));
}

double largest_float(Element type) {
  const Format format = format_of(type);
  return std::ldexp(2 - std::ldexp(1.0, -format.fraction), format.largest);
}

bool is_defined(Op op, double x, double y) {
  if (op != Op::kPow) return true;
  return std::isfinite(x) && std::isfinite(y) && !std::signbit(x) && (x > 0 || y > 0);
}

double float_reference(Op op, double x, double y) {
  switch (op) {
    case Op::kExp:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kSigmoid:
      return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
    case Op::kTanh:
      return std::tanh(x);
    case Op::kSin:
      return std::sin(x);
    case Op::kCos:
      return std::cos(x);
    case Op::kErf:
      return std::erf(x);
    case Op::kReciprocal:
      return 1 / x;
    case Op::kRsqrt:
      return 1 / std::sqrt(x);
    case Op::kPow:
      return std::pow(x, y);
    default:
      panic(__FILE__, __LINE__, "an operator that is not a function of floating point");
  }
}

double error_share(Op op, Element type, FloatOperands operands, double got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kInfinity;
  if (is_special(op, operands) || std::isinf(want)) {
    return got == want && std::signbit(got) == std::signbit(want) ? 0 : kInfinity;
  }
  const double allowed = bound(op, type, operands, want);
  const double most = std::abs(want) + allowed;
  if (std::isinf(got)) return (got > 0) == (want > 0) && most > largest_float(type) ? 0 : kInfinity;
  if (std::abs(got) > most_of(op)) return kInfinity;
  return std::abs(got - want) / allowed;
}

double error_ulp(Op op, Element type, double x, double got, double want) {
  if (!std::isfinite(got) || !std::isfinite(want)) return 0;
  if (op != Op::kSin && op != Op::kCos) return std::abs(got - want) / unit_of(type, want);
  return std::abs(x) > kTurn ? 0 : std::abs(got - want) / unit_of(type, 1);
}

}  // namespace npu::compiler::testing
