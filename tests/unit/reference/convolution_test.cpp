// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

Attributes geometry(std::vector<int32_t> pad, std::vector<int32_t> stride, std::vector<int32_t> dilation) {
  Attributes a;
  a.pad = std::move(pad);
  a.stride = std::move(stride);
  a.dilation = std::move(dilation);
  a.acc_type = DType::kInt32;
  return a;
}
const Value kNoZero = i8({1}, {0});

TEST(Conv2d, ByHandWithPaddingAndZeroPoint) {
  // The image (1 2; 3 4) with zero point 10 through the kernel (1 5; 25 125): padding adds nothing.
  const OperatorCase the_case{
      Op::kConv2d,
      {i8({1, 2, 2, 1}, {11, 12, 13, 14}), i8({1, 2, 2, 1}, {1, 5, 25, 125}), i32({1}, {7}), i8({1}, {10}), kNoZero},
      DType::kInt32,
      {1, 3, 3, 1},
      geometry({1, 1, 1, 1}, {1, 1}, {1, 1})};
  EXPECT_EQ(the_case.numbers(), (Numbers{7 + 125, 7 + 25 + 250, 7 + 50,                    //
                                         7 + 5 + 375, 7 + 1 + 10 + 75 + 500, 7 + 2 + 100,  //
                                         7 + 15, 7 + 3 + 20, 7 + 4}));
}

TEST(Conv2d, StrideDilationChannelsBias) {
  // Two input channels, two output channels, 1x2 kernel dilated by 2, stride 2 in x.
  const OperatorCase the_case{Op::kConv2d,
                              {i8({1, 1, 5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
                               i8({2, 1, 2, 2}, {1, 0, 0, 1, 1, 1, -1, -1}), i32({2}, {100, 200}), kNoZero, kNoZero},
                              DType::kInt32,
                              {1, 1, 2, 2},
                              geometry({0, 0, 0, 0}, {1, 2}, {1, 2})};
  EXPECT_EQ(the_case.numbers(), (Numbers{1 + 6 + 100, 1 + 2 - 5 - 6 + 200, 5 + 10 + 100, 5 + 6 - 9 - 10 + 200}));
}

TEST(Conv2d, WeightZeroPointAndInt4) {
  const Shape pixel{1, 1, 1, 2};
  const OperatorCase zero{Op::kConv2d,
                          {i8(pixel, {3, 4}), i8(pixel, {-128, 127}), i32({1}, {0}), i8({1}, {-128}), i8({1}, {127})},
                          DType::kInt32,
                          {1, 1, 1, 1},
                          geometry({0, 0, 0, 0}, {1, 1}, {1, 1})};
  EXPECT_EQ(zero.numbers(), (Numbers{131 * -255}));
  const OperatorCase four{Op::kConv2d,
                          {i8(pixel, {3, 4}), value_of(DType::kInt4, pixel, {-8, 7}), i32({1}, {0}), i8({1}, {0}),
                           value_of(DType::kInt4, {1}, {0})},
                          DType::kInt32,
                          {1, 1, 1, 1},
                          geometry({0, 0, 0, 0}, {1, 1}, {1, 1})};
  EXPECT_EQ(four.numbers(), (Numbers{4}));
}

TEST(Conv2d, Int16UsesTheWideAccumulator) {
  const int64_t depth = 1000;
  const OperatorCase the_case{
      Op::kConv2d,
      {i16({1, 1, 1, depth}, Numbers(depth, -32768)), i8({1, 1, 1, depth}, Numbers(depth, -128)),
       i48({1}, {(int64_t{1} << 47) - 1 - 4194304000}), i16({1}, {0}), kNoZero},
      DType::kInt48,
      {1, 1, 1, 1},
      geometry({0, 0, 0, 0}, {1, 1}, {1, 1})};
  EXPECT_EQ(the_case.numbers(), (Numbers{(int64_t{1} << 47) - 1}));
  OperatorCase overflow = the_case;
  overflow.inputs[2] = i48({1}, {(int64_t{1} << 47) - 4194304000});
  std::string message;
  EXPECT_EQ(error_of(overflow, &message), ErrorCode::kRequireFailed);
  EXPECT_EQ(message, "CONV2D 'result' at here: the sum 140737488355328 is outside INT48");
}

TEST(Conv2d, AccumulatorOverflowIsFoundWhereAPartialSumOverflows) {
  // 33026 products of 255 * 255 leave 32 bits, although the ones after them bring the sum back.
  const int64_t half = 33026;
  Numbers image(static_cast<size_t>(2 * half), 127);
  Numbers weight(static_cast<size_t>(2 * half), 127);
  std::fill(weight.begin() + half, weight.end(), -128);
  const auto the_case = [&](int64_t weight_zp) {
    return OperatorCase{Op::kConv2d,
                        {i8({1, 1, 1, 2 * half}, image), i8({1, 1, 1, 2 * half}, weight), i32({1}, {0}),
                         i8({1}, {-128}), i8({1}, {weight_zp})},
                        DType::kInt32,
                        {1, 1, 1, 1},
                        geometry({0, 0, 0, 0}, {1, 1}, {1, 1})};
  };
  EXPECT_EQ(error_of(the_case(-128)), ErrorCode::kRequireFailed);
  EXPECT_EQ(the_case(0).numbers(), (Numbers{half * 255 * (127 - 128)}));
}

TEST(Conv2d, ZeroPointOnlyForInt8) {
  const Shape pixel{1, 1, 1, 1};
  const OperatorCase the_case{Op::kConv2d,
                              {i16(pixel, {3}), i8(pixel, {1}), i48({1}, {0}), i16({1}, {1}), kNoZero},
                              DType::kInt48,
                              pixel,
                              geometry({0, 0, 0, 0}, {1, 1}, {1, 1})};
  EXPECT_EQ(error_of(the_case), ErrorCode::kBadArgument);
}

TEST(Conv3d, ByHand) {
  // A column of three through a kernel of depth 2, padded in front.
  const OperatorCase the_case{
      Op::kConv3d,
      {i8({1, 3, 1, 1, 1}, {1, 2, 3}), i8({1, 2, 1, 1, 1}, {10, 100}), i32({1}, {5}), kNoZero, kNoZero},
      DType::kInt32,
      {1, 3, 1, 1, 1},
      geometry({1, 0, 0, 0, 0, 0}, {1, 1, 1}, {1, 1, 1})};
  EXPECT_EQ(the_case.numbers(), (Numbers{105, 215, 325}));
}

TEST(Depthwise, MultiplierSpreadsChannels) {
  const OperatorCase the_case{Op::kDepthwiseConv2d,
                              {i8({1, 1, 2, 2}, {1, 2, 3, 4}), i8({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40}),
                               i32({4}, {0, 100, 200, 300}), kNoZero, kNoZero},
                              DType::kInt32,
                              {1, 1, 1, 4},
                              geometry({0, 0, 0, 0}, {1, 1}, {1, 1})};
  EXPECT_EQ(the_case.numbers(), (Numbers{1 + 30, 2 + 60 + 100, 6 + 120 + 200, 8 + 160 + 300}));
}

TEST(TransposeConv2d, OverlapsAndCrops) {
  Attributes a;
  a.stride = {1, 2};
  a.out_pad = {0, 0, 0, 0};
  // Each element paints the kernel (1 2 3) at twice its position; neighbours overlap in one column.
  OperatorCase the_case{Op::kTransposeConv2d,
                        {i8({1, 1, 2, 1}, {1, 10}), i8({1, 1, 3, 1}, {1, 2, 3}), i32({1}, {1000}), kNoZero, kNoZero},
                        DType::kInt32,
                        {1, 1, 5, 1},
                        a};
  EXPECT_EQ(the_case.numbers(), (Numbers{1001, 1002, 1013, 1020, 1030}));
  the_case.attributes.out_pad = {0, 0, -1, 1};
  EXPECT_EQ(the_case.numbers(), (Numbers{1002, 1013, 1020, 1030, 1000}));
}

TEST(MatMul, ZeroPointsAndBatches) {
  const OperatorCase the_case{
      Op::kMatMul,
      {i8({2, 1, 2}, {1, 2, 3, 4}), i8({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), i8({1}, {1}), i8({1}, {2})},
      DType::kInt32,
      {2, 1, 2}};
  EXPECT_EQ(the_case.numbers(), (Numbers{0 * -1 + 1 * 1, 0 * 0 + 1 * 2, 2 * 3 + 3 * 5, 2 * 4 + 3 * 6}));
}

TEST(MatMul, Int16) {
  const OperatorCase the_case{
      Op::kMatMul,
      {i16({1, 1, 3}, {-32768, -32768, 1}), i16({1, 3, 1}, {-32768, -32768, 5}), i16({1}, {0}), i16({1}, {0})},
      DType::kInt48,
      {1, 1, 1}};
  EXPECT_EQ(the_case.numbers(), (Numbers{(int64_t{1} << 31) + 5}));
}

}  // namespace
}  // namespace npu::reference::test
