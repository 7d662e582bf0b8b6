// SPDX-License-Identifier: Apache-2.0
// Corner values of the operators that combine elements of floating point: products, pools, reductions, images.
#include <random>

#include "tests/unit/reference/float_case.h"

namespace npu::reference::test {
namespace {

using graph::NanMode;

Reals random_reals(std::mt19937& random, const Shape& shape) {
  std::uniform_real_distribution<double> any(-2, 2);
  Reals numbers(static_cast<size_t>(graph::element_count(shape).value()));
  for (double& number : numbers) {
    number = any(random);
  }
  return numbers;
}

TEST(FloatMatMul, SumsWithoutRoundingInBetween) {
  // In half precision the sum would stay at 2048.
  const OperatorCase halves{
      Op::kMatMul,
      {real(DType::kFp16, {1, 1, 5}, {2048, 1, 1, 1, 1}), real(DType::kFp16, {1, 5, 1}, Reals(5, 1)),
       real(DType::kFp16, {0}), real(DType::kFp16, {0})},
      DType::kFp16,
      {1, 1, 1}};
  EXPECT_TRUE(equal_reals(reals_of(halves.run()), {2052}));
}

TEST(FloatMatMul, EveryRowOfTypes) {
  const std::pair<DType, DType> rows[] = {{DType::kFp8E4M3, DType::kFp16}, {DType::kFp8E5M2, DType::kFp16},
                                          {DType::kFp16, DType::kFp16},    {DType::kFp16, DType::kFp32},
                                          {DType::kBf16, DType::kFp32},    {DType::kFp32, DType::kFp32}};
  for (const auto& [in, out] : rows) {
    const Value zero = real(in, {0});
    const OperatorCase the_case{
        Op::kMatMul,
        {real(in, {1, 2, 2}, {1, 2, kInfinity, 0}), real(in, {1, 2, 2}, {0.5, 1, -4, kNan}), zero, zero},
        out,
        {1, 2, 2}};
    // E4M3 has no infinity.
    const double infinite = in == DType::kFp8E4M3 ? kNan : kInfinity;
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {-7.5, kNan, infinite, kNan})) << graph::name(in);
  }
  const Value zero = real(DType::kBf16, {0});
  const OperatorCase no_row{Op::kMatMul,
                            {real(DType::kBf16, {1, 1, 1}, {1}), real(DType::kBf16, {1, 1, 1}, {1}), zero, zero},
                            DType::kBf16,
                            {1, 1, 1}};
  EXPECT_EQ(error_of(no_row), ErrorCode::kTypeUnsupported);
}

Attributes float_window(std::vector<int32_t> pad, std::vector<int32_t> stride, std::vector<int32_t> dilation) {
  Attributes attributes;
  attributes.pad = std::move(pad);
  attributes.stride = std::move(stride);
  attributes.dilation = std::move(dilation);
  attributes.acc_type = DType::kFp32;
  return attributes;
}

// All convolutions on one channel compute the same cross-correlation; worked out by hand.
TEST(FloatConvolution, AllKindsAgreeOnOneChannel) {
  const Reals image{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Reals kernel{0.5, -1, 2, 0.25};
  const Reals want{0.5 - 2 + 8 + 1.25 + 100, 1 - 3 + 10 + 1.5 + 100, 2 - 5 + 14 + 2 + 100, 2.5 - 6 + 16 + 2.25 + 100};
  for (const DType type : {DType::kFp32, DType::kFp16, DType::kBf16}) {
    const Value zero = real(type, {0});
    const Value bias = real(type, {100});
    const Reals rounded = reals_of(real(type, {4}, want));
    const OperatorCase conv2d{Op::kConv2d,
                              {real(type, {1, 3, 3, 1}, image), real(type, {1, 2, 2, 1}, kernel), bias, zero, zero},
                              type,
                              {1, 2, 2, 1},
                              float_window({0, 0, 0, 0}, {1, 1}, {1, 1})};
    EXPECT_TRUE(equal_reals(reals_of(conv2d.run()), rounded));
    const OperatorCase conv3d{
        Op::kConv3d,
        {real(type, {1, 1, 3, 3, 1}, image), real(type, {1, 1, 2, 2, 1}, kernel), bias, zero, zero},
        type,
        {1, 1, 2, 2, 1},
        float_window({0, 0, 0, 0, 0, 0}, {1, 1, 1}, {1, 1, 1})};
    EXPECT_TRUE(equal_reals(reals_of(conv3d.run()), rounded));
    const OperatorCase depthwise{Op::kDepthwiseConv2d,
                                 {real(type, {1, 3, 3, 1}, image), real(type, {2, 2, 1, 1}, kernel), bias, zero, zero},
                                 type,
                                 {1, 2, 2, 1},
                                 float_window({0, 0, 0, 0}, {1, 1}, {1, 1})};
    EXPECT_TRUE(equal_reals(reals_of(depthwise.run()), rounded));
    Attributes transposed = float_window({}, {1, 1}, {});
    transposed.out_pad = {-1, -1, -1, -1};
    const OperatorCase transpose{
        Op::kTransposeConv2d,
        {real(type, {1, 3, 3, 1}, image), real(type, {1, 2, 2, 1}, {0.25, 2, -1, 0.5}), bias, zero, zero},
        type,
        {1, 2, 2, 1},
        transposed};
    EXPECT_TRUE(equal_reals(reals_of(transpose.run()), rounded));
  }
}

TEST(FloatConvolution, PaddingHidesAnInfiniteWeight) {
  const Value zero = real(DType::kFp8E5M2, {0});
  const OperatorCase the_case{
      Op::kConv2d,
      {real(DType::kFp8E5M2, {1, 1, 1, 1}, {2}), real(DType::kFp8E5M2, {1, 1, 2, 1}, {kInfinity, 3}),
       real(DType::kFp16, {1}), zero, zero},
      DType::kFp16,
      {1, 1, 2, 1},
      float_window({0, 0, 1, 1}, {1, 1}, {1, 1})};
  EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {7, kInfinity}));
}

TEST(FloatPool, MaximumInBothNanModes) {
  for (const DType type : kAllFloats) {
    Attributes attributes = float_window({0, 0, 0, 0}, {1, 1}, {});
    attributes.kernel = {1, 2};
    attributes.nan_mode = NanMode::kPropagate;
    OperatorCase the_case{
        Op::kMaxPool2d, {real(type, {1, 1, 5, 1}, {-3, -4, kNan, kNan, 2})}, type, {1, 1, 4, 1}, attributes};
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {-3, kNan, kNan, kNan}));
    the_case.attributes.nan_mode = NanMode::kIgnore;
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {-3, -4, kNan, 2}));
  }
}

TEST(FloatPool, AverageLeavesPaddingOut) {
  for (const DType type : kAllFloats) {
    Attributes attributes = float_window({0, 0, 1, 1}, {1, 1}, {});
    attributes.kernel = {1, 2};
    const Value zero = real(type, {0});
    const OperatorCase the_case{
        Op::kAvgPool2d, {real(type, {1, 1, 3, 1}, {1, 2, kInfinity}), zero, zero}, type, {1, 1, 4, 1}, attributes};
    const double infinite = type == DType::kFp8E4M3 ? kNan : kInfinity;
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {1, 1.5, infinite, infinite}));
  }
}

Reals reduced(Op op, DType type, const Reals& in, NanMode mode = NanMode::kPropagate) {
  Attributes attributes = nan_mode(mode);
  attributes.axis = 1;
  return reals_of(
      OperatorCase{op, {real(type, {2, static_cast<int64_t>(in.size()) / 2}, in)}, type, {2, 1}, attributes}.run());
}

TEST(FloatReduce, MaximumMinimumSumAndProduct) {
  for (const DType type : kMainFloats) {
    const Reals in{1, kNan, -2, -kInfinity, -kInfinity, -kInfinity};
    EXPECT_TRUE(equal_reals(reduced(Op::kReduceMax, type, in), {kNan, -kInfinity}));
    EXPECT_TRUE(equal_reals(reduced(Op::kReduceMin, type, in), {kNan, -kInfinity}));
    EXPECT_TRUE(equal_reals(reduced(Op::kReduceMax, type, in, NanMode::kIgnore), {1, -kInfinity}));
    EXPECT_TRUE(equal_reals(reduced(Op::kReduceMin, type, in, NanMode::kIgnore), {-2, -kInfinity}));
    EXPECT_TRUE(equal_reals(reduced(Op::kReduceMax, type, {kNan, kNan, 0, 1}, NanMode::kIgnore), {kNan, 1}));
    EXPECT_TRUE(equal_reals(reduced(Op::kReduceSum, type, {1, 2, kInfinity, -kInfinity}), {3, kNan}));
    EXPECT_TRUE(equal_reals(reduced(Op::kReduceProduct, type, {3, -0.5, kInfinity, 0}), {-1.5, kNan}));
  }
}

TEST(FloatReduce, HalvesSumAsOneRounding) {
  EXPECT_TRUE(
      equal_reals(reduced(Op::kReduceSum, DType::kFp16, {2048, 1, 1, 1, 60000, 60000, -60000, 0.125}), {2052, 60000}));
}

std::vector<int64_t> arg_max(DType type, const Reals& in, NanMode mode) {
  Attributes attributes = nan_mode(mode);
  attributes.axis = 0;
  return OperatorCase{Op::kArgMax, {real(type, in)}, DType::kInt32, {}, attributes}.numbers();
}

TEST(FloatArgMax, InBothNanModes) {
  for (const DType type : kAllFloats) {
    EXPECT_EQ(arg_max(type, {1, 3, kNan, kNan, 4}, NanMode::kPropagate)[0], 2);
    EXPECT_EQ(arg_max(type, {kNan, 1, 3, 3, kNan}, NanMode::kIgnore)[0], 2);
    EXPECT_EQ(arg_max(type, {kNan, kNan}, NanMode::kIgnore)[0], 0);
    EXPECT_EQ(arg_max(type, {-0.0, 0.0}, NanMode::kPropagate)[0], 0);
  }
  EXPECT_EQ(arg_max(DType::kFp32, {kNan, -kInfinity}, NanMode::kIgnore)[0], 1);
  EXPECT_EQ(arg_max(DType::kFp32, {-kInfinity, -kInfinity}, NanMode::kPropagate)[0], 0);
}

TEST(FloatResize, NearestAndBilinear) {
  Attributes attributes;
  attributes.resize_mode = graph::ResizeMode::kBilinear;
  for (const DType type : kMainFloats) {
    OperatorCase the_case{Op::kResize,
                          {real(type, {1, 1, 2, 1}, {1, 3}), dims({2, 2, 4, 2}), dims({0, 0}), dims({0, 2})},
                          type,
                          {1, 1, 4, 1},
                          attributes};
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {1, 2, 3, 3}));
    the_case.attributes.resize_mode = graph::ResizeMode::kNearest;
    EXPECT_TRUE(equal_reals(reals_of(the_case.run()), {1, 3, 3, 3}));
  }
}

TEST(FloatLayout, MovesEveryBit) {
  const Attributes axis0;
  for (const DType type : kAllFloats) {
    const Value in = real(type, {3, 1}, {-0.0, kNan, 0.25});
    EXPECT_TRUE(equal_reals(reals_of(OperatorCase{Op::kReverse, {in}, type, {3, 1}, axis0}.run()), {0.25, kNan, -0.0}));
    EXPECT_TRUE(equal_reals(reals_of(OperatorCase{Op::kConcat, {in, in}, type, {6, 1}, axis0}.run()),
                            {-0.0, kNan, 0.25, -0.0, kNan, 0.25}));
    EXPECT_TRUE(
        equal_reals(reals_of(OperatorCase{Op::kPad, {in, dims({1, 0, 0, 0}), real(type, {-2})}, type, {4, 1}}.run()),
                    {-2, -0.0, kNan, 0.25}));
    EXPECT_TRUE(equal_reals(
        reals_of(
            OperatorCase{Op::kGather, {real(type, {1, 2, 1}, {1, 2}), i32({1, 3}, {1, 0, 1})}, type, {1, 3, 1}}.run()),
        {2, 1, 2}));
  }
}

// The transform by its definition, term by term.
TEST(Fft, EqualsTheDefinition) {
  std::mt19937 random(7);
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 8}, {4, 1}, {2, 2}, {8, 16}}) {
    const Shape shape{2, height, width};
    const Reals re = reals_of(real(DType::kFp32, shape, random_reals(random, shape)));
    const Reals im = reals_of(real(DType::kFp32, shape, random_reals(random, shape)));
    const auto compare = [&, h = height, w = width](bool inverse, bool only_real) {
      const int64_t columns = only_real ? w / 2 + 1 : w;
      OperatorCase the_case{
          only_real ? Op::kRfft2d : Op::kFft2d, {real(DType::kFp32, shape, re)}, DType::kFp32, {2, h, columns}};
      if (!only_real) {
        the_case.inputs.push_back(real(DType::kFp32, shape, im));
      }
      the_case.attributes.inverse = inverse;
      graph::Graph graph = the_case.graph();
      graph::Block& block = graph.main();
      block.tensors.push_back(block.tensors.back());
      block.operators[0].outputs.push_back(static_cast<graph::TensorId>(block.tensors.size() - 1));
      block.outputs = block.operators[0].outputs;
      Context context;
      const auto results = run(graph, the_case.inputs, context);
      const Reals got_re = reals_of(results[0]), got_im = reals_of(results[1]);
      const double sign = inverse ? -1 : 1;
      size_t at = 0;
      for (int64_t n = 0; n < 2; ++n) {
        for (int64_t oy = 0; oy < h; ++oy) {
          for (int64_t ox = 0; ox < columns; ++ox, ++at) {
            double want_re = 0, want_im = 0;
            for (int64_t y = 0; y < h; ++y) {
              for (int64_t x = 0; x < w; ++x) {
                const double angle =
                    sign * 2 * M_PI * (static_cast<double>(y * oy) / h + static_cast<double>(x * ox) / w);
                const auto i = static_cast<size_t>((n * h + y) * w + x);
                const double imaginary = only_real ? 0 : im[i];
                want_re += re[i] * std::cos(angle) + imaginary * std::sin(angle);
                want_im += -re[i] * std::sin(angle) + imaginary * std::cos(angle);
              }
            }
            ASSERT_NEAR(got_re[at], want_re, 1e-5) << h << "x" << w;
            ASSERT_NEAR(got_im[at], want_im, 1e-5) << h << "x" << w;
          }
        }
      }
    };
    compare(false, false);
    compare(true, false);
    compare(false, true);
  }
}

}  // namespace
}  // namespace npu::reference::test
