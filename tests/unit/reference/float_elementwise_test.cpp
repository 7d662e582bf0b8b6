// SPDX-License-Identifier: Apache-2.0
// Corner values of the element-wise operators on floating point.
#include "tests/unit/reference/float_case.h"

namespace npu::reference::test {
namespace {

using graph::NanMode;

Reals one(Op op, DType type, const Reals& in, const Attributes& attributes = {}) {
  const Value value = real(type, in);
  return reals_of(OperatorCase{op, {value}, type, value.shape, attributes}.run());
}
Reals two(Op op, DType type, const Reals& a, const Reals& b, const Attributes& attributes = {}) {
  const Value first = real(type, a);
  return reals_of(OperatorCase{op, {first, real(type, b)}, type, first.shape, attributes}.run());
}
std::vector<int64_t> compared(Op op, DType type, const Reals& a, const Reals& b) {
  const Value first = real(type, a);
  return OperatorCase{op, {first, real(type, b)}, DType::kBool, first.shape}.numbers();
}

TEST(FloatElementwise, FunctionsAtInfinityZeroAndNan) {
  const Reals in{-kInfinity, kInfinity, -0.0, 0.0, kNan};
  const std::pair<Op, Reals> cases[] = {
      {Op::kAbs, {kInfinity, kInfinity, 0, 0, kNan}},
      {Op::kCeil, {-kInfinity, kInfinity, -0.0, 0, kNan}},
      {Op::kFloor, {-kInfinity, kInfinity, -0.0, 0, kNan}},
      {Op::kCos, {kNan, kNan, 1, 1, kNan}},
      {Op::kSin, {kNan, kNan, -0.0, 0, kNan}},
      {Op::kErf, {-1, 1, -0.0, 0, kNan}},
      {Op::kExp, {0, kInfinity, 1, 1, kNan}},
      {Op::kLog, {kNan, kInfinity, -kInfinity, -kInfinity, kNan}},
      {Op::kReciprocal, {-0.0, 0, -kInfinity, kInfinity, kNan}},
      {Op::kRsqrt, {kNan, 0, -kInfinity, kInfinity, kNan}},
      {Op::kSigmoid, {0, 1, 0.5, 0.5, kNan}},
      {Op::kTanh, {-1, 1, -0.0, 0, kNan}},
  };
  for (const auto& [op, want] : cases) {
    for (const DType type : kMainFloats) {
      EXPECT_TRUE(equal_reals(one(op, type, in), want)) << graph::name(op) << " of " << graph::name(type);
    }
  }
}

// Against the definition in double, rounded to the type by an independent search of the nearest neighbour.
TEST(FloatElementwise, FunctionsOfEveryHalfAreTheNearestNumbers) {
  Reals in;
  for (uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    in.push_back(decode(graph::kFp16Format, pattern));
  }
  const std::pair<Op, double (*)(double)> cases[] = {
      {Op::kExp, [](double x) { return std::exp(x); }},
      {Op::kLog, [](double x) { return std::log(x); }},
      {Op::kTanh, [](double x) { return std::tanh(x); }},
      {Op::kErf, [](double x) { return std::erf(x); }},
      {Op::kReciprocal, [](double x) { return 1.0 / x; }},
      {Op::kRsqrt, [](double x) { return 1.0 / std::sqrt(x); }},
      {Op::kFloor, [](double x) { return std::floor(x); }},
      {Op::kCeil, [](double x) { return std::ceil(x); }},
      {Op::kSigmoid, [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }},
  };
  for (const auto& [op, f] : cases) {
    const Reals got = one(op, DType::kFp16, in);
    for (size_t i = 0; i < in.size(); ++i) {
      const double want = f(in[i]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got[i])) << graph::name(op) << " of " << in[i];
      } else if (std::fabs(want) >= 65520) {
        ASSERT_EQ(got[i], std::copysign(kInfinity, want)) << graph::name(op) << " of " << in[i];
      } else {
        const double step = std::ldexp(1.0, std::max(std::ilogb(want == 0 ? 1e-9 : want), -14) - 10);
        ASSERT_LE(std::fabs(got[i] - want), step / 2) << graph::name(op) << " of " << in[i];
      }
    }
  }
}

TEST(FloatElementwise, ArithmeticRoundsOnce) {
  EXPECT_TRUE(equal_reals(two(Op::kAdd, DType::kFp16, {2048, 2050, 65504, 65504}, {1, 1, 15, 16}),
                          {2048, 2052, 65504, kInfinity}));
  EXPECT_TRUE(
      equal_reals(two(Op::kSub, DType::kFp32, {1, kInfinity, 0, -0.0}, {1, kInfinity, 0, 0}), {0, kNan, 0, -0.0}));
  EXPECT_TRUE(equal_reals(two(Op::kAdd, DType::kBf16, {256, 258}, {1, 1}), {256, 260}));
  const Value a = real(DType::kFp16, {0x1p-14, 0x1p-24, kInfinity, 256});
  const Value b = real(DType::kFp16, {0.5, 0.5, 0, -256});
  EXPECT_TRUE(equal_reals(reals_of(OperatorCase{Op::kMul, {a, b, i8({1}, {0})}, DType::kFp16, {4}}.run()),
                          {0x1p-15, 0, kNan, -kInfinity}));
}

TEST(FloatElementwise, SubnormalsAreKept) {
  EXPECT_TRUE(equal_reals(one(Op::kAbs, DType::kFp32, {-0x1p-149, -0x1p-130}), {0x1p-149, 0x1p-130}));
  EXPECT_TRUE(
      equal_reals(two(Op::kAdd, DType::kFp16, {0x1p-24, 0x1p-15}, {0x1p-24, 0x1p-24}), {0x1p-23, 0x1p-15 + 0x1p-24}));
  EXPECT_TRUE(equal_reals(one(Op::kReciprocal, DType::kBf16, {0x1p127}), {0x1p-127}));
}

TEST(FloatElementwise, NegateOnlyTurnsTheSign) {
  for (const DType type : kMainFloats) {
    const Value zero = real(type, {0});
    const OperatorCase the_case{
        Op::kNegate, {real(type, {-kInfinity, kInfinity, -0.0, 0, kNan, 1.5}), zero, zero}, type, {6}};
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {kInfinity, -kInfinity, 0, -0.0, kNan, -1.5}));
  }
  const OperatorCase moved{
      Op::kNegate, {real(DType::kFp32, {1}), real(DType::kFp32, {1}), real(DType::kFp32, {0})}, DType::kFp32, {1}};
  EXPECT_EQ(error_of(moved), ErrorCode::kBadArgument);
}

TEST(FloatElementwise, MaximumAndMinimumInBothNanModes) {
  const Reals a{1, kNan, 1, kNan, -kInfinity, -0x1p-24};
  const Reals b{2, 3, kNan, kNan, kInfinity, 0};
  const Attributes propagate = nan_mode(NanMode::kPropagate), ignore = nan_mode(NanMode::kIgnore);
  for (const DType type : {DType::kFp32, DType::kFp16}) {
    EXPECT_TRUE(equal_reals(two(Op::kMaximum, type, a, b, propagate), {2, kNan, kNan, kNan, kInfinity, 0}));
    EXPECT_TRUE(equal_reals(two(Op::kMinimum, type, a, b, propagate), {1, kNan, kNan, kNan, -kInfinity, -0x1p-24}));
    EXPECT_TRUE(equal_reals(two(Op::kMaximum, type, a, b, ignore), {2, 3, 1, kNan, kInfinity, 0}));
    EXPECT_TRUE(equal_reals(two(Op::kMinimum, type, a, b, ignore), {1, 3, 1, kNan, -kInfinity, -0x1p-24}));
  }
}

TEST(FloatElementwise, ClampInBothNanModes) {
  for (const DType type : kMainFloats) {
    Attributes attributes = nan_mode(NanMode::kPropagate);
    attributes.min_val = real(type, {-1.5}).bytes;
    attributes.max_val = real(type, {2}).bytes;
    const Reals in{-kInfinity, -2, -1, 0.5, 3, kInfinity, kNan};
    EXPECT_TRUE(equal_reals(one(Op::kClamp, type, in, attributes), {-1.5, -1.5, -1, 0.5, 2, 2, kNan}));
    attributes.nan_mode = NanMode::kIgnore;
    EXPECT_TRUE(equal_reals(one(Op::kClamp, type, in, attributes), {-1.5, -1.5, -1, 0.5, 2, 2, -1.5}));
    attributes.max_val = real(type, {kNan}).bytes;
    EXPECT_EQ(error_of([&] { (void)one(Op::kClamp, type, in, attributes); }), ErrorCode::kBadArgument);
  }
}

TEST(FloatElementwise, NothingIsEqualToNanOrOrderedWithIt) {
  const Reals a{1, kNan, 1, kNan, -0.0, kInfinity, 2};
  const Reals b{1, 1, kNan, kNan, 0, kInfinity, 1};
  for (const DType type : kMainFloats) {
    EXPECT_EQ(compared(Op::kEqual, type, a, b), (std::vector<int64_t>{1, 0, 0, 0, 1, 1, 0}));
    EXPECT_EQ(compared(Op::kGreater, type, a, b), (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(compared(Op::kGreaterEqual, type, a, b), (std::vector<int64_t>{1, 0, 0, 0, 1, 1, 1}));
  }
}

TEST(FloatElementwise, Select) {
  for (const DType type : kMainFloats) {
    const OperatorCase the_case{
        Op::kSelect, {boolean({3}, {1, 0, 1}), real(type, {1, 2, -0.0}), real(type, {4, kInfinity, 6})}, type, {3}};
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {1, kInfinity, -0.0}));
  }
}

TEST(FloatElementwise, PowNamesWhatItsResultIsUndefinedFor) {
  EXPECT_TRUE(equal_reals(two(Op::kPow, DType::kFp32, {2, 0, 5, 4}, {10, 3, 0, -0.5}), {1024, 0, 1, 0.5}));
  for (const auto& [base, exponent] : {std::pair{-1.0, 2.0}, {0.0, 0.0}, {0.0, -1.0}, {kNan, 1.0}, {1.0, kInfinity}}) {
    EXPECT_EQ(error_of([&, b = base, e = exponent] { (void)two(Op::kPow, DType::kFp32, {b}, {e}); }),
              ErrorCode::kRequireFailed)
        << base << " to the power " << exponent;
  }
}

Reals cast(DType from, const Reals& in, DType to) {
  const Value value = real(from, in);
  return reals_of(OperatorCase{Op::kCast, {value}, to, value.shape}.run());
}
std::vector<int64_t> to_integers(DType from, const Reals& in, DType to) {
  const Value value = real(from, in);
  return OperatorCase{Op::kCast, {value}, to, value.shape}.numbers();
}

TEST(FloatCast, BetweenFloatsRoundsAndOverflows) {
  EXPECT_TRUE(equal_reals(cast(DType::kFp32, {1 + 0x1p-11, 1 + 0x3p-11, 65519.99, 65520, -0x1p-25, kNan}, DType::kFp16),
                          {1, 1 + 0x1p-9, 65504, kInfinity, -0.0, kNan}));
  // Without saturation: E4M3 has no infinity and gives NaN, E5M2 gives an infinity.
  EXPECT_TRUE(equal_reals(cast(DType::kFp32, {448, 464, 465, -kInfinity, 0x1p-9, 0x1p-10}, DType::kFp8E4M3),
                          {448, 448, kNan, kNan, 0x1p-9, 0}));
  EXPECT_TRUE(equal_reals(cast(DType::kFp16, {57344, 61408, 61440, -65504, kInfinity}, DType::kFp8E5M2),
                          {57344, 57344, kInfinity, -kInfinity, kInfinity}));
  EXPECT_TRUE(equal_reals(cast(DType::kFp8E4M3, {-448, kNan, 0x1p-9}, DType::kBf16), {-448, kNan, 0x1p-9}));
}

TEST(FloatCast, ToIntegersTiesToEvenAndSaturates) {
  EXPECT_EQ(to_integers(DType::kFp32, {0.5, 1.5, -2.5, 127.5, -1e30, kInfinity}, DType::kInt8),
            (std::vector<int64_t>{0, 2, -2, 127, -128, 127}));
  EXPECT_EQ(to_integers(DType::kFp32, {2147483520.0, 2147483648.0, -kInfinity}, DType::kInt32),
            (std::vector<int64_t>{2147483520, 2147483647, -2147483648LL}));
  EXPECT_EQ(to_integers(DType::kFp16, {65504, -kInfinity}, DType::kInt16), (std::vector<int64_t>{32767, -32768}));
  EXPECT_EQ(error_of([] { (void)to_integers(DType::kBf16, {kNan}, DType::kInt8); }), ErrorCode::kRequireFailed);
}

TEST(FloatCast, FromIntegersRoundsTiesToEven) {
  const auto from = [](const Value& value, DType to) {
    return reals_of(OperatorCase{Op::kCast, {value}, to, value.shape}.run());
  };
  EXPECT_TRUE(equal_reals(from(i32({3}, {16777217, 16777219, -2147483647}), DType::kFp32),
                          {16777216, 16777220, -2147483648.0}));
  EXPECT_TRUE(equal_reals(from(i32({3}, {2049, 65519, 65520}), DType::kFp16), {2048, 65504, kInfinity}));
  EXPECT_TRUE(equal_reals(from(i16({2}, {-32768, 257}), DType::kBf16), {-32768, 256}));
}

TEST(FloatCast, TakesWhatTheTableOfOperatorsHas) {
  EXPECT_EQ(error_of([] { (void)cast(DType::kFp16, {1}, DType::kBf16); }), ErrorCode::kTypeUnsupported);
  EXPECT_EQ(error_of([] { (void)to_integers(DType::kFp32, {1}, DType::kBool); }), ErrorCode::kTypeUnsupported);
  EXPECT_EQ(error_of([] { (void)cast(DType::kFp32, {1}, DType::kFp32); }), ErrorCode::kTypeUnsupported);
}

}  // namespace
}  // namespace npu::reference::test
