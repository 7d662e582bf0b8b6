// SPDX-License-Identifier: Apache-2.0
// Floating-point formats as bits: FP16, BF16, FP8E4M3, FP8E5M2, and FP32, to and from double, which holds every number
// of each of them. Nothing else in the project converts them. Source: TOSA 1.0 specification, "Supported number
// formats" and CAST; OCP 8-bit Floating Point.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "driver/graph/graph.h"

namespace npu::graph {

struct FloatFormat {
  int exponent_bits = 0, mantissa_bits = 0;
  // Without infinities only the pattern of all ones is a NaN, and the largest exponent holds numbers.
  bool has_infinity = true;

  [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int min_exponent() const { return 1 - bias(); }  // of normal numbers
  [[nodiscard]] constexpr uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  [[nodiscard]] constexpr uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  [[nodiscard]] constexpr uint32_t nan() const {
    return has_infinity ? infinity() | 1u << (mantissa_bits - 1) : sign_bit() - 1;
  }
  [[nodiscard]] constexpr uint32_t largest() const { return (has_infinity ? infinity() : nan()) - 1; }
};
inline constexpr FloatFormat kFp32Format{8, 23};
inline constexpr FloatFormat kBf16Format{8, 7};
inline constexpr FloatFormat kFp16Format{5, 10};
inline constexpr FloatFormat kFp8E4M3Format{4, 3, false};
inline constexpr FloatFormat kFp8E5M2Format{5, 2};

// None for types that are not floating point.
constexpr std::optional<FloatFormat> float_format(DType type) {
  switch (type) {
    case DType::kFp32:
      return kFp32Format;
    case DType::kFp16:
      return kFp16Format;
    case DType::kBf16:
      return kBf16Format;
    case DType::kFp8E4M3:
      return kFp8E4M3Format;
    case DType::kFp8E5M2:
      return kFp8E5M2Format;
    default:
      return std::nullopt;
  }
}

// What becomes of a number above the largest: infinity (NaN in a format without it), as all operators of TOSA want, or
// the largest number, as does then an infinity.
enum class Overflow { kInfinity, kSaturate };

// 2^exponent, -1022 to 1023.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// The number that a pattern stands for; exact.
constexpr double decode(const FloatFormat& format, uint32_t pattern) {
  const uint32_t magnitude = pattern & (format.sign_bit() - 1);
  const auto sign = static_cast<uint64_t>((pattern & format.sign_bit()) != 0) << 63;
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  if (magnitude > format.largest()) {
    const bool is_nan = !format.has_infinity || mantissa != 0;
    return std::bit_cast<double>(sign | 0x7ff0000000000000u | static_cast<uint64_t>(is_nan) << 51);
  }
  if (exponent == 0) {
    const double value = mantissa * power_of_two(format.min_exponent() - format.mantissa_bits);
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<double>(sign | static_cast<uint64_t>(exponent - format.bias() + 1023) << 52 |
                               static_cast<uint64_t>(mantissa) << (52 - format.mantissa_bits));
}

// The pattern of the number nearest to `value`, of two equally near ones the even one; subnormal numbers are kept, and
// any NaN becomes the format's quiet one.
constexpr uint32_t encode(const FloatFormat& format, double value, Overflow overflow = Overflow::kInfinity) {
  if (value != value) {
    return format.nan();
  }
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint32_t sign = bits >> 63 != 0 ? format.sign_bit() : 0;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const int steps = exponent < format.min_exponent() ? 0 : exponent - format.min_exponent();
  uint32_t magnitude = format.largest() + 1;
  if (exponent <= format.bias() + 1) {
    // In units of the last place, added to 2^52 so that the addition rounds; the hidden bit counts up the exponent.
    constexpr double kNoFraction = 4503599627370496.0;
    const double units = std::bit_cast<double>(bits & ~(uint64_t{1} << 63)) *
                         power_of_two(format.mantissa_bits - format.min_exponent() - steps);
    magnitude = (static_cast<uint32_t>(steps) << format.mantissa_bits) +
                static_cast<uint32_t>(units + kNoFraction - kNoFraction);
  }
  if (magnitude > format.largest()) {
    magnitude = overflow == Overflow::kSaturate ? format.largest()
                : format.has_infinity           ? format.infinity()
                                                : format.nan();
  }
  return sign | magnitude;
}

// The integer nearest to `value`, of two equally near ones the even one, saturated to `low`..`high`; not for NaN.
inline int64_t to_integer(double value, int64_t low, int64_t high) {
  const double whole = std::nearbyint(value);
  if (whole <= static_cast<double>(low)) {
    return low;
  }
  return whole >= static_cast<double>(high) ? high : static_cast<int64_t>(whole);
}

}  // namespace npu::graph
