// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the specification's "Arithmetic Helpers" and "Scaling Helpers", with their REQUIREs.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/reference/element.h"

namespace npu::reference {

// Throw require_failed. They are functions of their own so that what calls them is small enough to be inlined.
[[noreturn]] void fail_outside(const Call& call, const char* what, int64_t value, DType type);
[[noreturn]] void fail_above_shift(const Call& call, int64_t value, int32_t shift);

// The value, which must lie in Type's range; `what` names it in the message.
template <typename Type>
typename Type::T in_range(const Call& call, int64_t value, const char* what) {
  if (value < Type::kMin || value > Type::kMax) [[unlikely]] {
    fail_outside(call, what, value, Type::kType);
  }
  return static_cast<typename Type::T>(value);
}

template <typename Type>
typename Type::Wide add(const Call& call, typename Type::Wide a, typename Type::Wide b) {
  if constexpr (Type::kIsFloat) {
    return a + b;
  } else {
    return in_range<Type>(call, a + b, "the sum");
  }
}

// The larger or smaller of two numbers, the first one of equals. A NaN wins, or loses where the operator ignores it.
struct Extreme {
  bool ignore_nan = false;

  explicit Extreme(const Call& call) : ignore_nan(call.attributes().nan_mode == graph::NanMode::kIgnore) {}

  // What to start from: nothing beats it but a number that the operator looks at.
  template <typename Type>
  [[nodiscard]] typename Type::Wide lowest() const {
    if constexpr (Type::kIsFloat) {
      return ignore_nan ? std::numeric_limits<double>::quiet_NaN() : -std::numeric_limits<double>::infinity();
    } else {
      return Type::kMin;
    }
  }
  template <typename Type>
  [[nodiscard]] typename Type::Wide highest() const {
    if constexpr (Type::kIsFloat) {
      return -lowest<Type>();
    } else {
      return Type::kMax;
    }
  }
  template <typename T>
  [[nodiscard]] T larger(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b) {
        return (a != a) == ignore_nan ? b : a;
      }
    }
    return a >= b ? a : b;
  }
  template <typename T>
  [[nodiscard]] T smaller(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b) {
        return (a != a) == ignore_nan ? b : a;
      }
    }
    return a < b ? a : b;
  }
};

template <typename Type>
typename Type::T clip(int64_t value) {
  return static_cast<typename Type::T>(std::min(std::max(value, Type::kMin), Type::kMax));
}

inline int32_t count_leading_zeros(int32_t value) { return std::countl_zero(static_cast<uint32_t>(value)); }

// value * multiplier / 2^shift, rounded once (half up) or twice.
inline int32_t scale_32(const Call& call, int32_t value, int32_t multiplier, int32_t shift, bool double_round) {
  call.require(multiplier >= 0, "the multiplier is negative");
  call.require(2 <= shift && shift <= 62, "the shift is outside 2..62");
  const int64_t limit = int64_t{1} << (shift - 1);
  if (value < -limit || value >= limit) [[unlikely]] {
    fail_above_shift(call, value, shift);
  }
  int64_t round = limit;
  if (double_round && shift > 31) {
    round += value >= 0 ? int64_t{1} << 30 : -(int64_t{1} << 30);
  }
  return static_cast<int32_t>((int64_t{value} * multiplier + round) >> shift);
}

// The same for a value of 48 bits and a multiplier of 16.
inline int32_t scale_16(const Call& call, int64_t value, int32_t multiplier, int32_t shift) {
  call.require(multiplier >= 0, "the multiplier is negative");
  call.require(2 <= shift && shift <= 62, "the shift is outside 2..62");
  const int64_t round = int64_t{1} << (shift - 1);
  return in_range<Int32>(call, (value * multiplier + round) >> shift, "the scaled value");
}

// Multiplier and shift that divide by `value` > 0.
struct Scale {
  int32_t multiplier = 0;
  int32_t shift = 0;
};
inline Scale reciprocal_scale(uint32_t value) {
  const int32_t k = 32 - std::countl_zero(value - 1);
  const int64_t numerator = ((int64_t{1} << 30) + 1) << k;
  return {static_cast<int32_t>(numerator / value), 30 + k};
}

}  // namespace npu::reference
