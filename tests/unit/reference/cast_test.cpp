// SPDX-License-Identifier: Apache-2.0
// CAST between every pair of types that the table of operators has: every pattern of the narrow types, and of the wide
// ones the numbers around every boundary at which a result changes, against conversions by exact arithmetic.
#include <bit>
#include <iostream>

#include "driver/graph/operators.h"
#include "tests/unit/graph/float_definition.h"
#include "tests/unit/reference/float_case.h"

namespace npu::reference::test {
namespace {

using graph::float_format;
using graph::test::defined_number;
using graph::test::same_number;
using Bits = std::vector<int64_t>;

constexpr unsigned kCastSeed = 20260102;

// The whole number nearest to x >= 0, of two equally near ones the even one. Exact: floor and the rest of a double are.
double nearest_whole(double x) {
  const double whole = std::floor(x);
  const double rest = x - whole;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
  return up ? whole + 1 : whole;
}

// The number of a format that stands for x: counted in units of the last place of x's binade.
double nearest_number(const FloatFormat& format, double x) {
  if (std::isnan(x) || x == 0) {
    return x;
  }
  const double beyond = std::copysign(format.has_infinity ? kInfinity : kNan, x);
  if (std::isinf(x)) {
    return beyond;
  }
  const int exponent = std::max(std::ilogb(x), format.min_exponent());
  const double unit = std::ldexp(1, exponent - format.mantissa_bits);
  const double result = nearest_whole(std::fabs(x) / unit) * unit;
  const double largest = defined_number(format, format.largest());
  return result > largest ? beyond : std::copysign(result, x);
}

int64_t nearest_integer(double x, int bits) {
  const double limit = std::ldexp(1, bits - 1);
  return static_cast<int64_t>(std::clamp(std::copysign(nearest_whole(std::fabs(x)), x), -limit, limit - 1));
}

int bits_of(DType type) { return static_cast<int>(8 * graph::machine_width(type)); }

// What the low bits of a number are as a signed integer.
int64_t low_bits(int64_t value, int bits) {
  const int64_t modulus = int64_t{1} << bits;
  const int64_t rest = (value % modulus + modulus) % modulus;
  return rest >= modulus / 2 ? rest - modulus : rest;
}

Bits int32_inputs() {
  Bits values;
  std::mt19937 random(kCastSeed);
  for (int power = 0; power < 32; ++power) {
    for (int64_t near = -3; near <= 3; ++near) {
      values.push_back((int64_t{1} << power) + near);
    }
  }
  // Ties of every format at every size, and their neighbours.
  for (const DType type : kAllFloats) {
    const int mantissa = float_format(type)->mantissa_bits;
    for (int shift = 1; shift + mantissa < 31; ++shift) {
      for (int i = 0; i < 40; ++i) {
        const int64_t number = (int64_t{1} << mantissa) + random() % (1u << mantissa);
        for (int64_t near = -1; near <= 1; ++near) {
          values.push_back((number << shift) + (int64_t{1} << (shift - 1)) + near);
        }
      }
    }
  }
  const size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i) {
    values.push_back(-values[i]);
  }
  for (int64_t& value : values) {
    value = low_bits(value, 32);
  }
  return values;
}

Bits fp32_inputs() {
  Bits patterns;
  // All of BF16, its ties and their neighbours; the ties of both FP8 formats are among them.
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      patterns.push_back(upper << 16 | lower);
    }
  }
  const auto add_around = [&](double middle) {
    const auto pattern = std::bit_cast<uint32_t>(static_cast<float>(middle));
    for (const uint32_t near : {pattern - 1, pattern, pattern + 1}) {
      patterns.push_back(near);
      patterns.push_back(near ^ 0x80000000u);
    }
  };
  for (uint32_t low = 0; low <= graph::kFp16Format.largest(); ++low) {
    const double number = defined_number(graph::kFp16Format, low);
    const double next = low == graph::kFp16Format.largest() ? 65536 : defined_number(graph::kFp16Format, low + 1);
    add_around((number + next) / 2);
  }
  for (int whole = 0; whole < 33000; ++whole) {
    add_around(whole + 0.5);
  }
  return patterns;
}

Bits inputs_of(DType type) {
  if (type == DType::kInt32) {
    return int32_inputs();
  }
  if (type == DType::kFp32) {
    return fp32_inputs();
  }
  Bits patterns;
  for (int64_t pattern = 0; pattern < (type == DType::kBool ? 2 : int64_t{1} << bits_of(type)); ++pattern) {
    patterns.push_back(pattern);
  }
  return patterns;
}

// As numbers; a double holds each of them.
double number_of(DType type, int64_t bits) {
  const auto format = float_format(type);
  return format ? defined_number(*format, static_cast<uint32_t>(bits))
                : static_cast<double>(type == DType::kBool ? bits : low_bits(bits, bits_of(type)));
}

bool is_right(DType from, int64_t input, DType to, int64_t result) {
  const double x = number_of(from, input);
  if (const auto format = float_format(to)) {
    return same_number(number_of(to, result), nearest_number(*format, x));
  }
  if (to == DType::kBool) {
    return result == (x != 0 ? 1 : 0);
  }
  return result ==
         (float_format(from) ? nearest_integer(x, bits_of(to)) : low_bits(static_cast<int64_t>(x), bits_of(to)));
}

void compare_cast(DType from, DType to) {
  Bits inputs = inputs_of(from);
  if (!float_format(to)) {  // a NaN has no integer
    std::erase_if(inputs, [&](int64_t bits) { return std::isnan(number_of(from, bits)); });
  }
  const Shape shape{static_cast<int64_t>(inputs.size())};
  const Bits results = OperatorCase{Op::kCast, {value_of(from, shape, inputs)}, to, shape}.numbers();
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(is_right(from, inputs[i], to, results[i]))
        << graph::name(from) << " " << std::hex << inputs[i] << " became " << graph::name(to) << " " << results[i];
  }
  std::cout << graph::name(from) << " to " << graph::name(to) << ": " << inputs.size() << " compared\n";
}

TEST(Cast, EveryPairOfTypesIsExact) {
  std::cout << "seed " << kCastSeed << "\n";
  size_t pairs = 0;
  for (const graph::TypeRow& row : graph::info(Op::kCast).types) {
    compare_cast(row.types[static_cast<size_t>(graph::Slot::kIn)], row.types[static_cast<size_t>(graph::Slot::kOut)]);
    ++pairs;
    if (HasFatalFailure()) {
      return;
    }
  }
  // 12 among integers and truth values, 18 between integers and FP32, FP16 and BF16, 16 among floating point.
  EXPECT_EQ(pairs, 46u);
}

}  // namespace
}  // namespace npu::reference::test
