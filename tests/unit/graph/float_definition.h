// SPDX-License-Identifier: Apache-2.0
// The number that a pattern stands for, from the definition of its format: sign, exponent and mantissa taken apart.
#pragma once

#include <cmath>
#include <limits>

#include "driver/graph/float_format.h"

namespace npu::graph::test {

inline double defined_number(const FloatFormat& format, uint32_t pattern) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const uint32_t mantissa = pattern % (1u << format.mantissa_bits);
  const uint32_t exponent = (pattern >> format.mantissa_bits) % (1u << format.exponent_bits);
  const double sign = pattern >> (format.bits() - 1) != 0 ? -1.0 : 1.0;
  const uint32_t top = (1u << format.exponent_bits) - 1;
  if (format.has_infinity && exponent == top) {
    return mantissa == 0 ? sign * kInfinity : kNan;
  }
  if (!format.has_infinity && exponent == top && mantissa == (1u << format.mantissa_bits) - 1) {
    return kNan;
  }
  const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, format.min_exponent())
                       : sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - format.bias());
}

// Equal as numbers, zeros by their sign; any NaN is a NaN.
inline bool same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace npu::graph::test
