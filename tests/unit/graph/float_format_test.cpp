// SPDX-License-Identifier: Apache-2.0
// The conversions, exhaustively: every pattern of the narrow formats against its definition, and the numbers around
// every midpoint between neighbours.
#include "driver/graph/float_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <string>

#include "tests/unit/graph/float_definition.h"

namespace npu::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Named {
  const char* name;
  FloatFormat format;
  double largest, smallest_normal, smallest;
};

class Format : public testing::TestWithParam<Named> {
 protected:
  [[nodiscard]] const FloatFormat& format() const { return GetParam().format; }
  [[nodiscard]] uint32_t patterns() const { return 1u << format().bits(); }

  [[nodiscard]] double defined(uint32_t pattern) const { return test::defined_number(format(), pattern); }
  [[nodiscard]] uint32_t above_largest() const { return format().has_infinity ? format().infinity() : format().nan(); }
};

TEST_P(Format, DecodesEveryPatternAsDefined) {
  for (uint32_t pattern = 0; pattern < patterns(); ++pattern) {
    ASSERT_TRUE(test::same_number(decode(format(), pattern), defined(pattern))) << pattern;
  }
  std::cout << patterns() << " patterns compared\n";
}

TEST_P(Format, EncodesEveryNumberAsItself) {
  for (uint32_t pattern = 0; pattern < patterns(); ++pattern) {
    const double value = defined(pattern);
    ASSERT_EQ(encode(format(), value), std::isnan(value) ? format().nan() : pattern);
  }
}

TEST_P(Format, RoundsToTheNearestAndTiesToEven) {
  for (uint32_t low = 0; low < format().largest(); ++low) {
    const double middle = (defined(low) + defined(low + 1)) / 2;  // exact in double
    const uint32_t even = low % 2 == 0 ? low : low + 1;
    for (const uint32_t sign : {0u, format().sign_bit()}) {
      const double s = sign == 0 ? 1 : -1;
      ASSERT_EQ(encode(format(), s * std::nextafter(middle, 0)), sign | low) << low;
      ASSERT_EQ(encode(format(), s * middle), sign | even) << low;
      ASSERT_EQ(encode(format(), s * std::nextafter(middle, kInfinity)), sign | (low + 1)) << low;
      ASSERT_EQ(encode(format(), s * middle, Overflow::kSaturate), sign | even) << low;
    }
  }
}

TEST_P(Format, OverflowsWhereTheNextNumberWouldBeNearer) {
  const double largest = defined(format().largest());
  const double step = largest - defined(format().largest() - 1);
  const double middle = largest + step / 2;
  // An even largest number wins the tie with what would follow it; an odd one loses.
  const bool largest_wins = format().largest() % 2 == 0;
  for (const uint32_t sign : {0u, format().sign_bit()}) {
    const double s = sign == 0 ? 1 : -1;
    const uint32_t most = sign | format().largest();
    EXPECT_EQ(encode(format(), s * std::nextafter(middle, 0)), most);
    EXPECT_EQ(encode(format(), s * middle), largest_wins ? most : sign | above_largest());
    for (const double value : {std::nextafter(middle, kInfinity), largest * 3, 1e308, kInfinity}) {
      EXPECT_EQ(encode(format(), s * value), sign | above_largest()) << value;
      EXPECT_EQ(encode(format(), s * value, Overflow::kSaturate), most) << value;
    }
  }
  EXPECT_EQ(encode(format(), kNan, Overflow::kSaturate), format().nan());
  EXPECT_EQ(encode(format(), -kNan), format().nan());
}

TEST_P(Format, TinyNumbersBecomeZeroOfTheirSign) {
  for (const double value : {GetParam().smallest / 2, GetParam().smallest / 1000, 5e-324}) {
    EXPECT_EQ(encode(format(), value), 0u);
    EXPECT_EQ(encode(format(), -value), format().sign_bit());
  }
}

TEST_P(Format, HasItsNamedNumbers) {
  EXPECT_EQ(decode(format(), format().largest()), GetParam().largest);
  EXPECT_EQ(decode(format(), 1u << format().mantissa_bits), GetParam().smallest_normal);
  EXPECT_EQ(decode(format(), 1), GetParam().smallest);
}

INSTANTIATE_TEST_SUITE_P(All, Format,
                         testing::Values(Named{"FP16", kFp16Format, 65504, 0x1p-14, 0x1p-24},
                                         Named{"BF16", kBf16Format, 0x1.fep127, 0x1p-126, 0x1p-133},
                                         Named{"FP8E4M3", kFp8E4M3Format, 448, 0x1p-6, 0x1p-9},
                                         Named{"FP8E5M2", kFp8E5M2Format, 57344, 0x1p-14, 0x1p-16}),
                         [](const auto& info) { return std::string(info.param.name); });

// FP32 is the machine's own: the formulation for all formats must agree with its conversions.
TEST(FloatFormat, Fp32AgreesWithTheMachine) {
  uint32_t pattern = 12345;
  for (int i = 0; i < 2'000'000; ++i) {
    pattern = pattern * 1664525 + 1013904223;
    const auto machine = std::bit_cast<float>(pattern);
    ASSERT_TRUE(test::same_number(decode(kFp32Format, pattern), machine)) << pattern;
    if (!std::isnan(machine)) {
      ASSERT_EQ(encode(kFp32Format, machine), pattern);
      // Between two numbers, also where they are subnormal.
      const double between = machine * (1 + pattern % 64 * 0x1p-29);
      ASSERT_EQ(encode(kFp32Format, between), std::bit_cast<uint32_t>(static_cast<float>(between))) << pattern;
    }
  }
}

TEST(FloatFormat, IntegersRoundTiesToEvenAndSaturate) {
  const auto rounded = [](double value) { return to_integer(value, -128, 127); };
  EXPECT_EQ(rounded(0.5), 0);
  EXPECT_EQ(rounded(1.5), 2);
  EXPECT_EQ(rounded(2.5), 2);
  EXPECT_EQ(rounded(-0.5), 0);
  EXPECT_EQ(rounded(-1.5), -2);
  EXPECT_EQ(rounded(126.5), 126);
  EXPECT_EQ(rounded(127.5), 127);
  EXPECT_EQ(rounded(-128.5), -128);
  EXPECT_EQ(rounded(1e300), 127);
  EXPECT_EQ(rounded(-kInfinity), -128);
}

}  // namespace
}  // namespace npu::graph
