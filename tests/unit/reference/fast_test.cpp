// SPDX-License-Identifier: Apache-2.0
// The vector loops of fast.cpp against the plain versions: equal on random shapes, and out of the way where an
// accumulator could overflow.
#include "sim/reference/fast.h"

#include "sim/reference/plain.h"
#include "tests/unit/reference/float_case.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

constexpr unsigned kFastSeed = 4711;

struct Types {
  DType in, weight, out;
  int64_t in_limit, weight_limit;
  bool in_zero, weight_zero;
};
constexpr Types kConvolutionTypes[] = {
    {DType::kInt8, DType::kInt8, DType::kInt32, 128, 128, true, true},
    {DType::kInt8, DType::kInt4, DType::kInt32, 128, 8, true, false},
    {DType::kInt16, DType::kInt8, DType::kInt48, 32768, 128, false, true},
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  Value value(DType type, const Shape& shape, int64_t limit) {
    return value_of(type, shape, random_numbers(engine_, shape, -limit, limit - 1));
  }
  // A zero point where the type may have one.
  Value zero(DType type, bool allowed) { return value_of(type, {1}, {allowed ? between(-128, 127) : 0}); }

 private:
  std::mt19937 engine_;
};

// One direction of a convolution: sizes and attributes that fit together.
struct Axis {
  int64_t in, kernel, out;
  int32_t pad_before, pad_after, stride, dilation;
};
Axis random_axis(Random& random, int64_t largest_kernel) {
  Axis axis{};
  axis.kernel = random.between(1, largest_kernel);
  axis.stride = static_cast<int32_t>(random.between(1, 3));
  axis.dilation = static_cast<int32_t>(random.between(1, 2));
  axis.pad_before = static_cast<int32_t>(random.between(0, 3));
  const int64_t reach = (axis.kernel - 1) * axis.dilation;
  axis.out = random.between(1, 5);
  // in + pads = reach + 1 + (out - 1) * stride; the padding behind takes what the image has not.
  const int64_t total = reach + 1 + (axis.out - 1) * axis.stride;
  axis.in = std::max<int64_t>(1, total - axis.pad_before - random.between(0, 3));
  axis.pad_after = static_cast<int32_t>(std::max<int64_t>(0, total - axis.pad_before - axis.in));
  axis.pad_before = static_cast<int32_t>(total - axis.in - axis.pad_after);
  return axis;
}

void expect_equal(const OperatorCase& the_case, bool (*fast)(Call&), void (*plain)(Call&)) {
  bool took_it = false;
  const Value got = the_case.call([&](Call& call) { took_it = fast(call); });
  const Value want = the_case.call([&](Call& call) { plain(call); });
  ASSERT_TRUE(took_it);
  const graph::Difference difference = graph::compare(got, want);
  ASSERT_EQ(difference.differing, 0) << "first at " << difference.first << " of " << graph::to_string(want.shape);
}

OperatorCase random_convolution(Random& random, const Types& types, bool three_d) {
  std::vector<Axis> axes;
  for (int i = 0; i < (three_d ? 3 : 2); ++i) {
    axes.push_back(random_axis(random, 4));
  }
  const int64_t n = random.between(1, 2), ic = random.between(1, 40), oc = random.between(1, 11);
  OperatorCase the_case;
  the_case.op = three_d ? Op::kConv3d : Op::kConv2d;
  Shape in{n}, weight{oc};
  the_case.result_shape = {n};
  for (const Axis& axis : axes) {
    in.push_back(axis.in);
    weight.push_back(axis.kernel);
    the_case.result_shape.push_back(axis.out);
    the_case.attributes.pad.insert(the_case.attributes.pad.end(), {axis.pad_before, axis.pad_after});
    the_case.attributes.stride.push_back(axis.stride);
    the_case.attributes.dilation.push_back(axis.dilation);
  }
  in.push_back(ic);
  weight.push_back(ic);
  the_case.result_shape.push_back(oc);
  the_case.result_type = types.out;
  the_case.inputs = {random.value(types.in, in, types.in_limit), random.value(types.weight, weight, types.weight_limit),
                     random.value(types.out, {random.between(0, 1) == 0 ? 1 : oc}, 1 << 20),
                     random.zero(types.in, types.in_zero), random.zero(types.weight, types.weight_zero)};
  return the_case;
}

TEST(Fast, ConvolutionsEqualPlain) {
  std::cout << "seed " << kFastSeed << "\n";
  Random random(kFastSeed);
  for (const Types& types : kConvolutionTypes) {
    for (int i = 0; i < 150; ++i) {
      SCOPED_TRACE(i);
      ASSERT_NO_FATAL_FAILURE(
          expect_equal(random_convolution(random, types, i % 5 == 0), fast::convolution, plain::convolution));
    }
  }
}

// Numbers of 24 bits, whose sums are rounded: the order of additions shows.
Value random_reals(Random& random, DType type, const Shape& shape) {
  const int64_t count = graph::element_count(shape).value();
  Reals numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(std::ldexp(static_cast<double>(random.between(-(1 << 24), 1 << 24)),
                                 static_cast<int>(random.between(-30, -18))));
  }
  return real(type, shape, numbers);
}

constexpr std::pair<DType, DType> kFloatTypes[] = {{DType::kFp32, DType::kFp32},
                                                   {DType::kFp16, DType::kFp16},
                                                   {DType::kBf16, DType::kBf16},
                                                   {DType::kFp8E4M3, DType::kFp16},
                                                   {DType::kFp8E5M2, DType::kFp16}};

// The same case on floating point.
OperatorCase with_reals(OperatorCase the_case, Random& random, DType in, DType out) {
  the_case.result_type = out;
  for (size_t i = 0; i < 3; ++i) {
    the_case.inputs[i] = random_reals(random, i < 2 ? in : out, the_case.inputs[i].shape);
  }
  the_case.inputs[3] = the_case.inputs[4] = real(in, {0});
  return the_case;
}

TEST(Fast, FloatConvolutionsEqualPlain) {
  std::cout << "seed " << kFastSeed << "\n";
  Random random(kFastSeed);
  for (const auto& [in, out] : kFloatTypes) {
    for (int i = 0; i < 60; ++i) {
      SCOPED_TRACE(i);
      const OperatorCase the_case =
          with_reals(random_convolution(random, kConvolutionTypes[0], i % 5 == 0), random, in, out);
      ASSERT_NO_FATAL_FAILURE(expect_equal(the_case, fast::convolution, plain::convolution));
    }
  }
}

TEST(Fast, LeavesInfiniteWeightsToPlain) {
  // Padding is no zero that is multiplied: it would make the infinity a NaN.
  Attributes a;
  a.pad = {1, 0, 0, 0};
  a.stride = a.dilation = {1, 1};
  const DType type = DType::kFp32;
  const OperatorCase the_case{Op::kConv2d,
                              {real(type, {1, 1, 1, 1}, {2}), real(type, {1, 2, 1, 1}, {kInfinity, 3}), real(type, {0}),
                               real(type, {0}), real(type, {0})},
                              type,
                              {1, 1, 1, 1},
                              a};
  bool took_it = true;
  (void)the_case.call([&](Call& call) { took_it = fast::convolution(call); });
  EXPECT_FALSE(took_it);
  EXPECT_EQ(reals_of(the_case.run()), Reals{6});
}

TEST(Fast, LongInt16DotProductsEqualPlain) {
  // More products than 32 bits can sum.
  const int64_t depth = 1500;
  std::cout << "seed " << kFastSeed << "\n";
  Random random(kFastSeed);
  Attributes a;
  a.pad = {0, 0, 0, 0};
  a.stride = {1, 1};
  a.dilation = {1, 1};
  std::vector<int64_t> extreme(depth, -32768);
  for (const Value& in : {random.value(DType::kInt16, {1, 1, 1, depth}, 32768), i16({1, 1, 1, depth}, extreme)}) {
    const OperatorCase the_case{
        Op::kConv2d,
        {in, i8({1, 1, 1, depth}, std::vector<int64_t>(depth, -128)), i48({1}, {-3}), i16({1}, {0}), i8({1}, {127})},
        DType::kInt48,
        {1, 1, 1, 1},
        a};
    ASSERT_NO_FATAL_FAILURE(expect_equal(the_case, fast::convolution, plain::convolution));
  }
}

OperatorCase random_depthwise(Random& random, const Types& types, int64_t largest_kernel) {
  const Axis y = random_axis(random, 4), x = random_axis(random, largest_kernel);
  const int64_t n = random.between(1, 2), c = random.between(1, 40), m = random.between(1, 3);
  OperatorCase the_case{
      .op = Op::kDepthwiseConv2d, .inputs = {}, .result_type = types.out, .result_shape = {n, y.out, x.out, c * m}};
  the_case.attributes.pad = {y.pad_before, y.pad_after, x.pad_before, x.pad_after};
  the_case.attributes.stride = {y.stride, x.stride};
  the_case.attributes.dilation = {y.dilation, x.dilation};
  the_case.inputs = {random.value(types.in, {n, y.in, x.in, c}, types.in_limit),
                     random.value(types.weight, {y.kernel, x.kernel, c, m}, types.weight_limit),
                     random.value(types.out, {random.between(0, 1) == 0 ? 1 : c * m}, 1 << 20),
                     random.zero(types.in, types.in_zero), random.zero(types.weight, types.weight_zero)};
  return the_case;
}

TEST(Fast, DepthwiseEqualsPlain) {
  std::cout << "seed " << kFastSeed << "\n";
  Random random(kFastSeed);
  for (const Types& types : kConvolutionTypes) {
    for (int i = 0; i < 150; ++i) {
      SCOPED_TRACE(i);
      ASSERT_NO_FATAL_FAILURE(expect_equal(random_depthwise(random, types, i == 0 ? 300 : 4), fast::depthwise_conv2d,
                                           plain::depthwise_conv2d));
    }
  }
}

TEST(Fast, FloatDepthwiseEqualsPlain) {
  std::cout << "seed " << kFastSeed << "\n";
  Random random(kFastSeed);
  for (const auto& [in, out] : kFloatTypes) {
    for (int i = 0; i < 60; ++i) {
      SCOPED_TRACE(i);
      const OperatorCase the_case = with_reals(random_depthwise(random, kConvolutionTypes[0], 4), random, in, out);
      ASSERT_NO_FATAL_FAILURE(expect_equal(the_case, fast::depthwise_conv2d, plain::depthwise_conv2d));
    }
  }
}

TEST(Fast, MatMulEqualsPlain) {
  std::cout << "seed " << kFastSeed << "\n";
  Random random(kFastSeed);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    const DType type = i % 2 == 0 ? DType::kInt8 : DType::kInt16;
    const int64_t limit = type == DType::kInt8 ? 128 : 32768;
    const int64_t n = random.between(1, 3), h = random.between(1, 9), c = random.between(1, 200),
                  w = random.between(1, 9);
    const OperatorCase the_case{Op::kMatMul,
                                {random.value(type, {n, h, c}, limit), random.value(type, {n, c, w}, limit),
                                 random.zero(type, type == DType::kInt8), random.zero(type, type == DType::kInt8)},
                                type == DType::kInt8 ? DType::kInt32 : DType::kInt48,
                                {n, h, w}};
    ASSERT_NO_FATAL_FAILURE(expect_equal(the_case, fast::matmul, plain::matmul));
  }
}

TEST(Fast, LeavesPossibleOverflowToPlain) {
  const int64_t depth = 33026;  // * 255 * 255 > 2^31
  const std::vector<int64_t> high(depth, 127);
  const OperatorCase the_case{Op::kMatMul,
                              {i8({1, 1, depth}, high), i8({1, depth, 1}, high), i8({1}, {-128}), i8({1}, {-128})},
                              DType::kInt32,
                              {1, 1, 1}};
  bool took_it = true;
  (void)the_case.call([&](Call& call) { took_it = fast::matmul(call); });
  EXPECT_FALSE(took_it);
  EXPECT_EQ(error_of(the_case), ErrorCode::kRequireFailed);
}

}  // namespace
}  // namespace npu::reference::test
