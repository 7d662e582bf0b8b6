// SPDX-License-Identifier: Apache-2.0
// Functions of floating point against the bounds of the specification: all patterns of 16 bits, and a sample of those
// of
// 32. NPU_FLOAT_STEP sets how far the patterns of the sample are apart.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "tests/unit/compiler/float_function_bounds.h"
#include "tests/unit/compiler/float_function_sweep.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;
using graph::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

uint32_t step() {
  const char* text = std::getenv("NPU_FLOAT_STEP");
  const auto number = text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 0)) : 0;
  return number != 0 ? number : kFloatStep;
}

std::string case_name(Op op, Element type) { return std::string(graph::name(op)) + " of " + float_name(type); }

TEST(FloatFunctions, AreWithinTheBoundsOfTheSpecification) {
  int64_t compared = 0;
  for (const Op op : kFloatFunctions) {
    for (const Element type : kFloatTypes) {
      const FloatErrors errors = sweep(FloatProgram(op, type), op, type, step());
      std::printf("%-18s %10lld compared, worst %.3g of the bound, %.3g ulp; the first one is %s\n",
                  case_name(op, type).c_str(), static_cast<long long>(errors.compared), errors.share, errors.ulp,
                  errors.worst.c_str());
      EXPECT_GE(errors.compared, 1 << 16);
      EXPECT_LE(errors.share, 1) << case_name(op, type) << ' ' << errors.worst;
      compared += errors.compared;
    }
  }
  std::printf("%lld results compared\n", static_cast<long long>(compared));
}

// The bounds of some operators grow with their operands; in FP32 results stay near to what a C library computes where
// operands are of ordinary size.
TEST(FloatFunctions, OfOrdinaryNumbersAreNearInFp32) {
  constexpr double kMostUnits = 16;  // in the last place of 1
  for (const Op op : {Op::kSin, Op::kCos, Op::kTanh, Op::kErf, Op::kSigmoid}) {
    std::vector<uint32_t> x, results;
    for (double at = -8; at < 8; at += 1e-4) x.push_back(pattern_of(Element::kF32, at));
    results.resize(x.size());
    FloatProgram(op, Element::kF32).run({x}, results);
    for (size_t i = 0; i < x.size(); ++i) {
      const double at = float_of(Element::kF32, x[i]);
      ASSERT_NEAR(float_of(Element::kF32, results[i]), float_reference(op, at, 0), kMostUnits * std::ldexp(1.0, -24))
          << graph::name(op) << " of " << at;
    }
  }
}

struct Special {
  Op op;
  double x, want;
};

// The tables of the specification, in its own words: by no function of a library.
TEST(FloatFunctions, OfInfinitiesZerosAndNans) {
  const std::vector<Special> specials = {
      {Op::kCos, kInfinity, kNan},
      {Op::kCos, -kInfinity, kNan},
      {Op::kCos, 0.0, 1},
      {Op::kCos, -0.0, 1},
      {Op::kErf, 0.0, 0.0},
      {Op::kErf, -0.0, -0.0},
      {Op::kErf, kInfinity, 1},
      {Op::kErf, -kInfinity, -1},
      {Op::kExp, kInfinity, kInfinity},
      {Op::kExp, -kInfinity, 0.0},
      {Op::kExp, 0.0, 1},
      {Op::kExp, -0.0, 1},
      {Op::kLog, kInfinity, kInfinity},
      {Op::kLog, -kInfinity, kNan},
      {Op::kLog, 0.0, -kInfinity},
      {Op::kLog, -0.0, -kInfinity},
      {Op::kLog, -1, kNan},
      {Op::kLog, -1e-7, kNan},
      {Op::kLog, 1, 0.0},
      {Op::kReciprocal, kInfinity, 0.0},
      {Op::kReciprocal, -kInfinity, -0.0},
      {Op::kReciprocal, 0.0, kInfinity},
      {Op::kReciprocal, -0.0, -kInfinity},
      {Op::kReciprocal, 4, 0.25},
      {Op::kRsqrt, kInfinity, 0.0},
      {Op::kRsqrt, -kInfinity, kNan},
      {Op::kRsqrt, 0.0, kInfinity},
      {Op::kRsqrt, -0.0, -kInfinity},
      {Op::kRsqrt, -1, kNan},
      {Op::kRsqrt, -2, kNan},
      {Op::kRsqrt, -4e4, kNan},
      {Op::kRsqrt, -1e-7, kNan},
      {Op::kSigmoid, kInfinity, 1},
      {Op::kSigmoid, -kInfinity, 0.0},
      {Op::kSigmoid, 0.0, 0.5},
      {Op::kSigmoid, -0.0, 0.5},
      {Op::kSin, kInfinity, kNan},
      {Op::kSin, -kInfinity, kNan},
      {Op::kSin, 0.0, 0.0},
      {Op::kSin, -0.0, -0.0},
      {Op::kTanh, kInfinity, 1},
      {Op::kTanh, -kInfinity, -1},
      {Op::kTanh, 0.0, 0.0},
      {Op::kTanh, -0.0, -0.0},
  };
  for (const Element type : kFloatTypes) {
    for (const Special& special : specials) {
      const std::vector<uint32_t> x = {pattern_of(type, special.x)};
      std::vector<uint32_t> result(1);
      FloatProgram(special.op, type).run({x}, result);
      const double got = float_of(type, result[0]);
      const bool same = std::isnan(special.want)
                            ? std::isnan(got)
                            : got == special.want && std::signbit(got) == std::signbit(special.want);
      EXPECT_TRUE(same) << case_name(special.op, type) << ' ' << special.x << ": " << got << ", not " << special.want;
    }
    for (const Op op : kFloatFunctions) {
      if (op == Op::kPow) continue;
      for (const uint32_t sign : {0U, type == Element::kF32 ? 0x80000000U : 0x8000U}) {
        const std::vector<uint32_t> x = {sign | pattern_of(type, kNan)};
        std::vector<uint32_t> result(1);
        FloatProgram(op, type).run({x}, result);
        EXPECT_TRUE(std::isnan(float_of(type, result[0]))) << case_name(op, type) << " of a NaN";
      }
    }
  }
}

TEST(FloatFunctions, PowOfZerosAndOnes) {
  for (const Element type : kFloatTypes) {
    const std::vector<double> bases = {0, 0, 0, 1, 1, 7, 7, 1e-4, 0.5},
                              exponents = {1, 0.01, 300, 5, -5, 0, -0.0, 0, -1};
    const std::vector<double> want = {0, 0, 0, 1, 1, 1, 1, 1, 2};
    std::vector<uint32_t> x, y, results(bases.size());
    for (const double base : bases) x.push_back(pattern_of(type, base));
    for (const double exponent : exponents) y.push_back(pattern_of(type, exponent));
    FloatProgram(Op::kPow, type).run({x, y}, results);
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(float_of(type, results[i]), want[i]) << float_name(type) << ' ' << bases[i] << " to " << exponents[i];
    }
  }
}

// With loads, a rounding behind, and a store.
TEST(FloatFunctions, FitIntoACommand) {
  constexpr uint32_t kRegisters = 8;  // the fewest that a machine has
  for (const Op op : kFloatFunctions) {
    for (const Element type : kFloatTypes) {
      const FloatProgram program(op, type, type != Element::kF32);
      std::printf("%-18s %2zu micro-operations, %u registers, %zu operands\n", case_name(op, type).c_str(),
                  program.uops().size(), program.registers(), program.operands());
      EXPECT_LE(program.uops().size(), contract::kMaxUops);
      EXPECT_LE(program.operands(), contract::kMaxOperands);
      EXPECT_LE(program.registers(), kRegisters);
    }
  }
}

// What the tests compare with: every pattern of 16 bits is the number that its pattern is made of.
TEST(FloatFunctions, NumbersHaveTheirPatterns) {
  for (const Element type : {Element::kF16, Element::kBf16}) {
    for (uint32_t pattern = 0; pattern < 1 << 16; ++pattern) {
      const double number = float_of(type, pattern);
      if (std::isnan(number)) continue;
      ASSERT_EQ(pattern_of(type, number), pattern) << float_name(type);
      // Just below the middle to the next number, and in the middle, which goes to the even one.
      const double next = float_of(type, pattern + 1);
      if (!std::isfinite(number) || !std::isfinite(next)) continue;
      const double middle = (number + next) / 2;
      ASSERT_EQ(pattern_of(type, number + (middle - number) * 0.999), pattern) << float_name(type);
      ASSERT_EQ(pattern_of(type, middle), pattern + pattern % 2) << float_name(type);
    }
  }
}

}  // namespace
}  // namespace npu::compiler::testing
