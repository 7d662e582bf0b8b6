// SPDX-License-Identifier: Apache-2.0
// Refusals of convolutions, matrix products, pooling, reductions and element-wise operators.
#include "tests/unit/reference/refusals.h"

namespace npu::reference::test {
namespace {

using namespace refusals;

Attributes window_of(std::vector<int32_t> pad, std::vector<int32_t> stride, std::vector<int32_t> dilation) {
  Attributes a;
  a.pad = std::move(pad);
  a.stride = std::move(stride);
  a.dilation = std::move(dilation);
  return a;
}
std::vector<Value> convolution_operands(const Shape& in, const Shape& weight, int64_t channels) {
  return {zeros(DType::kInt8, in), zeros(DType::kInt8, weight), zeros(DType::kInt32, {channels}), i8({1}, {0}),
          i8({1}, {0})};
}

// What all convolutions check of types, biases and zero points.
std::vector<Change> convolution_changes(std::vector<Change> own) {
  const std::vector<Change> all = {
      {"biases for other channels", shaped(2, {2}), kShape},
      {"type of the bias", typed(2, DType::kInt48), kType},
      {"type of the weights", typed(1, DType::kInt16), kType},
      {"type of the weights of INT16",
       [](OperatorCase& c) {
         c.inputs[0] = zeros(DType::kInt16, c.inputs[0].shape);
         c.inputs[1] = zeros(DType::kInt16, c.inputs[1].shape);
         c.inputs[2] = zeros(DType::kInt48, c.inputs[2].shape);
         c.result_type = DType::kInt48;
       },
       kType},
      {"type of the result", [](OperatorCase& c) { c.inputs[2].type = c.result_type = DType::kFp32; }, kType},
      {"result of INT16", [](OperatorCase& c) { c.inputs[0] = zeros(DType::kInt16, c.inputs[0].shape); }, kType},
      {"result of INT4 weights",
       [](OperatorCase& c) {
         c.inputs[1] = zeros(DType::kInt4, c.inputs[1].shape);
         c.inputs[2] = zeros(DType::kInt48, c.inputs[2].shape);
         c.result_type = DType::kInt48;
       },
       kType},
      {"zero point of INT4 weights",
       [](OperatorCase& c) {
         c.inputs[1] = zeros(DType::kInt4, c.inputs[1].shape);
         c.inputs[4] = value_of(DType::kInt4, {1}, {1});
       },
       kArgument},
      {"zero point of an INT16 operand",
       [](OperatorCase& c) {
         c.inputs[0] = zeros(DType::kInt16, c.inputs[0].shape);
         c.inputs[2] = zeros(DType::kInt48, c.inputs[2].shape);
         c.inputs[3] = i16({1}, {1});
         c.result_type = DType::kInt48;
       },
       kArgument},
      {"floating-point weights of another type",
       [](OperatorCase& c) {
         c.inputs[0] = zeros(DType::kFp16, c.inputs[0].shape);
         c.inputs[1] = zeros(DType::kBf16, c.inputs[1].shape);
         c.inputs[2] = zeros(DType::kFp16, c.inputs[2].shape);
         c.result_type = DType::kFp16;
       },
       kType},
      {"floating-point result of another type",
       [](OperatorCase& c) {
         c.inputs[0] = zeros(DType::kFp16, c.inputs[0].shape);
         c.inputs[1] = zeros(DType::kFp16, c.inputs[1].shape);
         c.inputs[2] = zeros(DType::kFp32, c.inputs[2].shape);
         c.result_type = DType::kFp32;
       },
       kType},
      {"no zero point", shaped(3, {0}), kShape},
  };
  own.insert(own.end(), all.begin(), all.end());
  return own;
}

TEST(Refusals, Conv2d) {
  const OperatorCase legal{Op::kConv2d,
                           convolution_operands({1, 4, 5, 2}, {3, 2, 2, 2}, 3),
                           DType::kInt32,
                           {1, 3, 4, 3},
                           window_of({0, 0, 0, 0}, {1, 1}, {1, 1})};
  expect_refused(legal, convolution_changes({
                            {"rank of all",
                             [](OperatorCase& c) {
                               shaped(0, {1, 4, 5, 1, 2})(c);
                               shaped(1, {3, 2, 2, 1, 2})(c);
                               result({1, 3, 4, 1, 3})(c);
                             },
                             kShape},
                            {"rank of the weights", shaped(1, {3, 2, 2}), kShape},
                            {"rank of the result", result({1, 3, 3}), kShape},
                            {"pad", list(&Attributes::pad, {0, 0}), kArgument},
                            {"stride", list(&Attributes::stride, {1}), kArgument},
                            {"dilation", list(&Attributes::dilation, {1, 1, 1}), kArgument},
                            {"result channels", shaped(1, {4, 2, 2, 2}), kShape},
                            {"channels", shaped(1, {3, 2, 2, 1}), kShape},
                            {"images", result({2, 3, 4, 3}), kShape},
                        }));
}

TEST(Refusals, Conv3d) {
  const OperatorCase legal{Op::kConv3d,
                           convolution_operands({1, 2, 4, 5, 2}, {3, 1, 2, 2, 2}, 3),
                           DType::kInt32,
                           {1, 2, 3, 4, 3},
                           window_of({0, 0, 0, 0, 0, 0}, {1, 1, 1}, {1, 1, 1})};
  expect_refused(legal, convolution_changes({
                            {"rank of all",
                             [](OperatorCase& c) {
                               shaped(0, {1, 4, 5, 2})(c);
                               shaped(1, {3, 2, 2, 2})(c);
                               result({1, 3, 4, 3})(c);
                             },
                             kShape},
                            {"pad of two dimensions", list(&Attributes::pad, {0, 0, 0, 0}), kArgument},
                        }));
}

TEST(Refusals, DepthwiseConv2d) {
  const OperatorCase legal{Op::kDepthwiseConv2d,
                           convolution_operands({1, 4, 5, 2}, {2, 2, 2, 3}, 6),
                           DType::kInt32,
                           {1, 3, 4, 6},
                           window_of({0, 0, 0, 0}, {1, 1}, {1, 1})};
  expect_refused(legal, convolution_changes({
                            {"rank of the operand", shaped(0, {1, 4, 5, 2, 1}), kShape},
                            {"rank of the weights", shaped(1, {2, 2, 2, 3, 1}), kShape},
                            {"rank of the result", result({1, 3, 4, 6, 1}), kShape},
                            {"pad", list(&Attributes::pad, {0, 0}), kArgument},
                            {"stride", list(&Attributes::stride, {1}), kArgument},
                            {"dilation", list(&Attributes::dilation, {1, 1, 1}), kArgument},
                            {"channels", shaped(0, {1, 4, 5, 3}), kShape},
                            {"result channels", result({1, 3, 4, 5}), kShape},
                            {"images", result({2, 3, 4, 6}), kShape},
                        }));
}

TEST(Refusals, TransposeConv2d) {
  Attributes a;
  a.out_pad = {0, 0, 0, 0};
  a.stride = {1, 1};
  const OperatorCase legal{
      Op::kTransposeConv2d, convolution_operands({1, 3, 4, 2}, {3, 2, 2, 2}, 3), DType::kInt32, {1, 4, 5, 3}, a};
  expect_refused(legal, convolution_changes({
                            {"rank of the operand", shaped(0, {1, 3, 4, 2, 1}), kShape},
                            {"rank of the weights", shaped(1, {3, 2, 2, 2, 1}), kShape},
                            {"rank of the result", result({1, 4, 5, 3, 1}), kShape},
                            {"out_pad", list(&Attributes::out_pad, {0, 0}), kShape},
                            {"stride", list(&Attributes::stride, {1, 1, 1}), kShape},
                            {"stride of 0 in y", list(&Attributes::stride, {0, 1}), kArgument},
                            {"stride of 0 in x", list(&Attributes::stride, {1, 0}), kArgument},
                            {"result channels", shaped(1, {4, 2, 2, 2}), kShape},
                            {"channels", shaped(1, {3, 2, 2, 1}), kShape},
                            {"images", result({2, 4, 5, 3}), kShape},
                        }));
}

TEST(Refusals, MatMul) {
  const OperatorCase legal{Op::kMatMul,
                           {zeros(DType::kInt8, {2, 3, 4}), zeros(DType::kInt8, {2, 4, 5}), i8({1}, {0}), i8({1}, {0})},
                           DType::kInt32,
                           {2, 3, 5}};
  const auto all_of = [](DType in, DType out) {
    return [=](OperatorCase& c) {
      for (const size_t i : {0, 1, 2, 3}) {
        typed(i, in)(c);
      }
      c.result_type = out;
    };
  };
  expect_refused(legal, {{"rank of A", shaped(0, {2, 3, 4, 1}), kShape},
                         {"rank of B", shaped(1, {2, 4, 5, 1}), kShape},
                         {"batches", shaped(1, {1, 4, 5}), kShape},
                         {"inner size", shaped(1, {2, 3, 5}), kShape},
                         {"result", result({2, 3, 4}), kShape},
                         {"height of the result", result({2, 2, 5}), kShape},
                         {"type of B", typed(1, DType::kInt16), kType},
                         {"type of the result", result_type(DType::kInt48), kType},
                         {"INT16 to INT32", all_of(DType::kInt16, DType::kInt32), kType},
                         {"BF16 to FP16", all_of(DType::kBf16, DType::kFp16), kType},
                         {"BF16 to BF16", all_of(DType::kBf16, DType::kBf16), kType},
                         {"FP32 to FP16", all_of(DType::kFp32, DType::kFp16), kType},
                         {"FP8 to FP32", all_of(DType::kFp8E4M3, DType::kFp32), kType},
                         {"FP8E5M2 to FP32", all_of(DType::kFp8E5M2, DType::kFp32), kType},
                         {"mixed floats",
                          [&](OperatorCase& c) {
                            all_of(DType::kFp16, DType::kFp32)(c);
                            typed(1, DType::kBf16)(c);
                          },
                          kType}});
  for (const auto& [in, out] : {std::pair{DType::kInt16, DType::kInt48},
                                {DType::kFp16, DType::kFp16},
                                {DType::kFp16, DType::kFp32},
                                {DType::kBf16, DType::kFp32},
                                {DType::kFp32, DType::kFp32},
                                {DType::kFp8E4M3, DType::kFp16},
                                {DType::kFp8E5M2, DType::kFp16}}) {
    OperatorCase other = legal;
    all_of(in, out)(other);
    EXPECT_EQ(error_of(other), ErrorCode::kOk) << graph::name(in) << " to " << graph::name(out);
  }
}

TEST(Refusals, Pooling) {
  Attributes a = window_of({0, 0, 0, 0}, {1, 1}, {});
  a.kernel = {2, 2};
  for (const Op op : {Op::kMaxPool2d, Op::kAvgPool2d}) {
    const OperatorCase legal{
        op, {zeros(DType::kInt8, {2, 4, 5, 3}), i8({1}, {0}), i8({1}, {0})}, DType::kInt8, {2, 3, 4, 3}, a};
    expect_refused(legal, {{"rank of the operand", shaped(0, {2, 4, 5, 3, 1}), kShape},
                           {"rank of the result", result({2, 3, 4, 3, 1}), kShape},
                           {"images", result({1, 3, 4, 3}), kShape},
                           {"channels", result({2, 3, 4, 2}), kShape},
                           {"type", result_type(DType::kInt16), kType},
                           {"kernel", list(&Attributes::kernel, {2}), kArgument},
                           {"stride", list(&Attributes::stride, {1}), kArgument},
                           {"pad", list(&Attributes::pad, {0, 0}), kArgument}});
  }
}

TEST(Refusals, Reductions) {
  for (const Op op : {Op::kReduceSum, Op::kReduceMax, Op::kReduceMin}) {
    const OperatorCase legal{op, {zeros(DType::kInt32, {2, 3, 4})}, DType::kInt32, {2, 1, 4}, with_axis(1)};
    expect_refused(legal, {{"negative axis", [](OperatorCase& c) { c.attributes.axis = -1; }, kArgument},
                           {"axis beyond the rank", [](OperatorCase& c) { c.attributes.axis = 3; }, kArgument},
                           {"result", result({2, 1, 3}), kShape},
                           {"type", result_type(DType::kInt16), kType}});
  }
  const OperatorCase argmax{Op::kArgMax, {zeros(DType::kInt8, {2, 3, 4})}, DType::kInt32, {2, 4}, with_axis(1)};
  expect_refused(argmax, {{"result", result({2, 3}), kShape}, {"type", result_type(DType::kInt8), kType}});
}

TEST(Refusals, Elementwise) {
  const OperatorCase sum{Op::kAdd, {zeros(DType::kInt32, {2, 3}), zeros(DType::kInt32, {1, 3})}, DType::kInt32, {2, 3}};
  expect_refused(sum, {{"rank of an operand", shaped(1, {3}), kShape},
                       {"size of an operand", shaped(1, {2, 2}), kShape},
                       {"size of the result", result({1, 3}), kShape},
                       {"type of the first", typed(0, DType::kFp32), kType},
                       {"type of the second", typed(1, DType::kFp32), kType},
                       {"type of the result", result_type(DType::kFp32), kType}});
  const OperatorCase inverse{Op::kBitwiseNot, {zeros(DType::kInt8, {2, 3})}, DType::kInt8, {2, 3}};
  expect_refused(inverse, {{"shape", result({3, 2}), kShape}, {"type", result_type(DType::kInt16), kType}});
  const OperatorCase choice{Op::kSelect,
                            {zeros(DType::kBool, {2, 3}), zeros(DType::kInt8, {2, 3}), zeros(DType::kInt8, {2, 3})},
                            DType::kInt8,
                            {2, 3}};
  expect_refused(choice, {{"condition", typed(0, DType::kInt8), kType},
                          {"type of the second", typed(1, DType::kInt16), kType},
                          {"type of the third", typed(2, DType::kInt16), kType},
                          {"type of the result", result_type(DType::kInt16), kType},
                          {"shape of the condition", shaped(0, {3, 2}), kShape},
                          {"shape of the second", shaped(1, {3, 2}), kShape},
                          {"shape of the third", shaped(2, {3, 2}), kShape}});
}

TEST(Refusals, ClampAndTable) {
  Attributes a;
  a.min_val = {0};
  a.max_val = {1};
  const OperatorCase clamp{Op::kClamp, {zeros(DType::kInt8, {2})}, DType::kInt8, {2}, a};
  expect_refused(clamp, {{"type", result_type(DType::kInt16), kType},
                         {"shape", result({3}), kShape},
                         {"min_val", [](OperatorCase& c) { c.attributes.min_val.clear(); }, kArgument},
                         {"max_val", [](OperatorCase& c) { c.attributes.max_val.clear(); }, kArgument},
                         {"order", [](OperatorCase& c) { c.attributes.min_val = {2}; }, kArgument}});
  EXPECT_EQ(error_of([&] {
              OperatorCase equal = clamp;
              equal.attributes.min_val = {1};
              (void)equal.run();
            }),
            ErrorCode::kOk);
  const OperatorCase bytes{Op::kTable, {zeros(DType::kInt8, {2}), zeros(DType::kInt8, {256})}, DType::kInt8, {2}};
  expect_refused(bytes, {{"entries", shaped(1, {255}), kRequire},
                         {"more entries", shaped(1, {513}), kRequire},
                         {"type of the operand", typed(0, DType::kInt16), kType},
                         {"type of the table", typed(1, DType::kInt16), kType},
                         {"type of the result", result_type(DType::kInt32), kType},
                         {"shape", result({3}), kShape}});
  const OperatorCase words{Op::kTable, {zeros(DType::kInt16, {2}), zeros(DType::kInt16, {513})}, DType::kInt32, {2}};
  expect_refused(words, {{"entries", shaped(1, {512}), kRequire},
                         {"more entries", shaped(1, {514}), kRequire},
                         {"type of the operand", typed(0, DType::kInt8), kType},
                         {"type of the table", typed(1, DType::kInt8), kType},
                         {"type of the result", result_type(DType::kInt16), kType}});
}

}  // namespace
}  // namespace npu::reference::test
