// SPDX-License-Identifier: Apache-2.0
// Values of floating-point types for tests: written and read as doubles.
#pragma once

#include <cmath>
#include <limits>

#include "sim/reference/element.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Reals = std::vector<double>;

// Calls body(Type{}) with a floating-point type.
template <typename Body>
void for_float(DType type, Body&& body) {
  const bool found =
      ((type == Fp32::kType && (body(Fp32{}), true)) || (type == Fp16::kType && (body(Fp16{}), true)) ||
       (type == Bf16::kType && (body(Bf16{}), true)) || (type == Fp8E4M3::kType && (body(Fp8E4M3{}), true)) ||
       (type == Fp8E5M2::kType && (body(Fp8E5M2{}), true)));
  EXPECT_TRUE(found) << graph::name(type);
}

inline Value real(DType type, const Shape& shape, const Reals& numbers) {
  EXPECT_EQ(graph::element_count(shape).value_or(-1), static_cast<int64_t>(numbers.size()));
  Value value{type, shape, std::vector<uint8_t>(numbers.size() * static_cast<size_t>(graph::machine_width(type)))};
  for_float(type, [&](auto t) {
    const auto out = elements<typename decltype(t)::T>(value);
    for (size_t i = 0; i < numbers.size(); ++i) {
      out[i] = decltype(t)::store(numbers[i]);
    }
  });
  return value;
}
inline Value real(DType type, const Reals& numbers) {
  return real(type, {static_cast<int64_t>(numbers.size())}, numbers);
}

inline Reals reals_of(const Value& value) {
  Reals numbers;
  for_float(value.type, [&](auto t) {
    for (const auto element : elements<typename decltype(t)::T>(value)) {
      numbers.push_back(decltype(t)::load(element));
    }
  });
  return numbers;
}

// Equal as the specification counts: any NaN is a NaN, and zeros have their sign.
inline testing::AssertionResult equal_reals(const Reals& got, const Reals& want) {
  if (got.size() != want.size()) {
    return testing::AssertionFailure() << got.size() << " numbers instead of " << want.size();
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same = (std::isnan(got[i]) && std::isnan(want[i])) ||
                      (got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i]));
    if (!same) {
      return testing::AssertionFailure() << "number " << i << " is " << got[i] << " instead of " << want[i];
    }
  }
  return testing::AssertionSuccess();
}

inline Attributes nan_mode(graph::NanMode mode) {
  Attributes attributes;
  attributes.nan_mode = mode;
  return attributes;
}

constexpr DType kMainFloats[] = {DType::kFp32, DType::kFp16, DType::kBf16};
constexpr DType kAllFloats[] = {DType::kFp32, DType::kFp16, DType::kBf16, DType::kFp8E4M3, DType::kFp8E5M2};

}  // namespace npu::reference::test
