// SPDX-License-Identifier: Apache-2.0
// Every REQUIRE of the specification's operators, on legal graphs: the result is unpredictable, and the message names
// the operator and what does not hold. What no legal graph can break is not here: the length of TABLE's table, the
// index of ARGMAX, a pooling window without elements. Variables have variable_sequences_test.cpp, levels
// level_test.cpp.
#include <cmath>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

constexpr int64_t kMin32 = INT32_MIN;
constexpr int64_t kMax32 = INT32_MAX;

struct Broken {
  const char* name;
  OperatorCase the_case;
  std::string what;  // part of the message
};

void PrintTo(const Broken& broken, std::ostream* stream) { *stream << broken.name; }

OperatorCase pair(Op op, DType type, int64_t a, int64_t b) {
  return {op, {value_of(type, {1}, {a}), value_of(type, {1}, {b})}, type, {1}};
}

Value real(DType type, double number) { return {type, {1}, graph::encode(type, 1, {number})}; }

OperatorCase power(DType type, double base, double exponent) {
  return {Op::kPow, {real(type, base), real(type, exponent)}, type, {1}};
}

OperatorCase to_integer(DType type) { return {Op::kCast, {real(type, NAN)}, DType::kInt8, {1}}; }

OperatorCase product(DType type, int64_t a, int64_t b, int64_t shift) {
  return {Op::kMul, {value_of(type, {1}, {a}), value_of(type, {1}, {b}), i8({1}, {shift})}, DType::kInt32, {1}};
}

// Of INT32 by 32 bits, or of INT48 by 16.
OperatorCase rescaled(DType type, int64_t value, int64_t multiplier, int64_t shift, DType out = DType::kInt32,
                      int64_t output_zp = 0) {
  const bool scale32 = type == DType::kInt32;
  Attributes a;
  a.scale32 = scale32;
  a.rounding_mode = graph::RoundingMode::kSingleRound;
  return {Op::kRescale,
          {value_of(type, {1}, {value}), value_of(scale32 ? DType::kInt32 : DType::kInt16, {1}, {multiplier}),
           i8({1}, {shift}), value_of(type, {1}, {0}), value_of(out, {1}, {output_zp})},
          out,
          {1},
          a};
}

OperatorCase steep_table() {
  std::vector<int64_t> entries(513, 0);
  entries[1] = 32767;
  entries[2] = -2;
  return {Op::kTable, {i16({1}, {-32768 + 128}), i16({513}, entries)}, DType::kInt32, {1}};
}

OperatorCase gathered(int64_t index) {
  return {Op::kGather, {i8({1, 2, 1}, {1, 2}), i32({1, 1}, {index})}, DType::kInt8, {1, 1, 1}};
}

OperatorCase scattered(int64_t first, int64_t second) {
  return {Op::kScatter,
          {i8({1, 2, 1}, {1, 2}), i32({1, 2}, {first, second}), i8({1, 2, 1}, {3, 4})},
          DType::kInt8,
          {1, 2, 1}};
}

OperatorCase summed(int64_t a, int64_t b) { return {Op::kReduceSum, {i32({3}, {a, b, -b})}, DType::kInt32, {1}}; }

// 65,792 elements of -32,768 each.
OperatorCase averaged() {
  Attributes a;
  a.kernel = {256, 257};
  a.stride = {1, 1};
  a.pad = {0, 0, 0, 0};
  a.acc_type = DType::kInt32;
  const Shape image = {1, 256, 257, 1};
  return {Op::kAvgPool2d,
          {i16(image, std::vector<int64_t>(size_t{256} * 257, -32768)), i16({1}, {0}), i16({1}, {0})},
          DType::kInt16,
          {1, 1, 1, 1},
          a};
}

Attributes convolution(Op op) {
  Attributes a;
  const size_t spatial = op == Op::kConv3d ? 3 : 2;
  a.pad = a.out_pad = std::vector<int32_t>(2 * spatial, 0);
  a.stride = a.dilation = std::vector<int32_t>(spatial, 1);
  a.acc_type = DType::kInt32;
  return a;
}

// The product of 1 and 1 and a bias to which it may not be added.
OperatorCase biased(Op op) {
  const Shape shape(op == Op::kConv3d ? 5 : 4, 1);
  return {op,
          {i8(shape, {1}), i8(shape, {1}), i32({1}, {kMax32}), i8({1}, {0}), i8({1}, {0})},
          DType::kInt32,
          shape,
          convolution(op)};
}

// 131,072 products of 2^14 are one too many; as many of the other sign follow, so that the sum ends at 0.
constexpr size_t kTooMany = 131'072;

std::vector<int64_t> there_and_back() {
  std::vector<int64_t> numbers(2 * kTooMany, -128);
  std::fill(numbers.begin() + kTooMany, numbers.end(), 127);
  numbers.resize(numbers.size() + kTooMany / 127 + 1, 127);
  return numbers;
}

OperatorCase accumulated(Op op) {
  const std::vector<int64_t> weights = there_and_back();
  const auto taps = static_cast<int64_t>(weights.size());
  const std::vector<int64_t> data(weights.size(), -128);
  if (op == Op::kMatMul) {
    return {
        op, {i8({1, 1, taps}, data), i8({1, taps, 1}, weights), i8({1}, {0}), i8({1}, {0})}, DType::kInt32, {1, 1, 1}};
  }
  Shape in(op == Op::kConv3d ? 5 : 4, 1), weight = in;
  const Shape out = in;
  if (op == Op::kDepthwiseConv2d) {  // taps are rows of the image
    in[1] = weight[0] = taps;
  } else {
    in.back() = weight.back() = taps;
  }
  return {op,
          {i8(in, data), i8(weight, weights), i32({1}, {0}), i8({1}, {0}), i8({1}, {0})},
          DType::kInt32,
          out,
          convolution(op)};
}

std::vector<Broken> element_cases() {
  return {
      {"ABS", {Op::kAbs, {i32({1}, {kMin32})}, DType::kInt32, {1}}, "the magnitude 2147483648 is outside INT32"},
      {"ADD", pair(Op::kAdd, DType::kInt32, kMax32, 1), "the sum 2147483648 is outside INT32"},
      {"ADD_below", pair(Op::kAdd, DType::kInt32, kMin32, -1), "the sum -2147483649 is outside INT32"},
      {"SUB", pair(Op::kSub, DType::kInt32, 0, kMin32), "the difference 2147483648 is outside INT32"},
      {"NEGATE",
       {Op::kNegate, {i32({1}, {kMin32}), i32({1}, {0}), i32({1}, {0})}, DType::kInt32, {1}},
       "the negated value 2147483648 is outside INT32"},
      {"INTDIV_by_zero", pair(Op::kIntDiv, DType::kInt32, 1, 0), "division by zero"},
      {"INTDIV", pair(Op::kIntDiv, DType::kInt32, kMin32, -1), "the quotient 2147483648 is outside INT32"},
      {"MUL_shift_above", product(DType::kInt32, 1, 1, 64), "the shift is outside 0..63"},
      {"MUL_shift_below", product(DType::kInt32, 1, 1, -1), "the shift is outside 0..63"},
      {"MUL_shift_of_INT8", product(DType::kInt8, 1, 1, 1), "only INT32 may shift"},
      {"MUL_shift_of_INT16", product(DType::kInt16, 1, 1, 1), "only INT32 may shift"},
      {"MUL", product(DType::kInt32, kMin32, kMin32, 31), "the shifted product 2147483648 is outside INT32"},
      {"TABLE", steep_table(), "the slope of the table -32769 is outside INT16"},
      {"POW_negative", power(DType::kFp32, -1, 1), "the base is negative"},
      {"POW_zero", power(DType::kFp16, 0, 0), "zero has no power that is not positive"},
      {"POW_base", power(DType::kBf16, INFINITY, 1), "an infinity or a NaN"},
      {"POW_exponent", power(DType::kFp32, 2, -INFINITY), "an infinity or a NaN"},
      {"POW_base_is_NaN", power(DType::kFp32, NAN, 1), "an infinity or a NaN"},
      {"POW_exponent_is_NaN", power(DType::kFp16, 1, NAN), "an infinity or a NaN"},
      {"CAST_FP32", to_integer(DType::kFp32), "a NaN has no integer"},
      {"CAST_FP16", to_integer(DType::kFp16), "a NaN has no integer"},
      {"CAST_BF16", to_integer(DType::kBf16), "a NaN has no integer"},
  };
}

std::vector<Broken> shift_cases() {
  std::vector<Broken> cases;
  const auto add = [&](const char* name, Op op, DType type, int64_t width) {
    const std::string range = " is outside 0.." + std::to_string(width - 1);
    cases.push_back({name, pair(op, type, 1, width), "the shift " + std::to_string(width) + range});
    cases.push_back({name, pair(op, type, 1, -1), "the shift -1" + range});
  };
  add("ARITHMETIC_RIGHT_SHIFT", Op::kArithmeticRightShift, DType::kInt8, 8);
  add("ARITHMETIC_RIGHT_SHIFT", Op::kArithmeticRightShift, DType::kInt16, 16);
  add("ARITHMETIC_RIGHT_SHIFT", Op::kArithmeticRightShift, DType::kInt32, 32);
  add("LOGICAL_LEFT_SHIFT", Op::kLogicalLeftShift, DType::kInt8, 8);
  add("LOGICAL_LEFT_SHIFT", Op::kLogicalLeftShift, DType::kInt16, 16);
  add("LOGICAL_LEFT_SHIFT", Op::kLogicalLeftShift, DType::kInt32, 32);
  add("LOGICAL_RIGHT_SHIFT", Op::kLogicalRightShift, DType::kInt8, 8);
  add("LOGICAL_RIGHT_SHIFT", Op::kLogicalRightShift, DType::kInt16, 16);
  add("LOGICAL_RIGHT_SHIFT", Op::kLogicalRightShift, DType::kInt32, 32);
  return cases;
}

std::vector<Broken> scaling_cases() {
  return {
      {"RESCALE_multiplier", rescaled(DType::kInt32, 1, -1, 30), "the multiplier is negative"},
      {"RESCALE_shift_below", rescaled(DType::kInt32, 0, 1, 1), "the shift is outside 2..62"},
      {"RESCALE_shift_above", rescaled(DType::kInt32, 0, 1, 63), "the shift is outside 2..62"},
      {"RESCALE_value_above", rescaled(DType::kInt32, 128, 1, 8), "the value 128 does not fit into 8 bits"},
      {"RESCALE_value_below", rescaled(DType::kInt32, -129, 1, 8), "the value -129 does not fit into 8 bits"},
      {"RESCALE16_multiplier", rescaled(DType::kInt48, 1, -1, 14), "the multiplier is negative"},
      {"RESCALE16_shift_below", rescaled(DType::kInt48, 0, 1, 1), "the shift is outside 2..62"},
      {"RESCALE16_shift_above", rescaled(DType::kInt48, 0, 1, 63), "the shift is outside 2..62"},
      {"RESCALE16_result", rescaled(DType::kInt48, int64_t{1} << 33, 1, 2),
       "the scaled value 2147483648 is outside INT32"},
      {"RESCALE16_output_zp", rescaled(DType::kInt48, (int64_t{1} << 33) - 4, 1, 2, DType::kInt8, 1),
       "the sum 2147483648 is outside INT32"},
  };
}

std::vector<Broken> tensor_cases() {
  return {
      {"AVG_POOL2D", averaged(), "the sum -2147516416 is outside INT32"},
      {"REDUCE_SUM", summed(kMax32, 1), "the sum 2147483648 is outside INT32"},
      {"CONV2D_bias", biased(Op::kConv2d), "the sum 2147483648 is outside INT32"},
      {"CONV3D_bias", biased(Op::kConv3d), "the sum 2147483648 is outside INT32"},
      {"DEPTHWISE_CONV2D_bias", biased(Op::kDepthwiseConv2d), "the sum 2147483648 is outside INT32"},
      {"TRANSPOSE_CONV2D_bias", biased(Op::kTransposeConv2d), "the sum 2147483648 is outside INT32"},
      {"CONV2D", accumulated(Op::kConv2d), "the sum 2147483648 is outside INT32"},
      {"CONV3D", accumulated(Op::kConv3d), "the sum 2147483648 is outside INT32"},
      {"DEPTHWISE_CONV2D", accumulated(Op::kDepthwiseConv2d), "the sum 2147483648 is outside INT32"},
      {"TRANSPOSE_CONV2D", accumulated(Op::kTransposeConv2d), "the sum 2147483648 is outside INT32"},
      {"MATMUL", accumulated(Op::kMatMul), "the sum 2147483648 is outside INT32"},
      {"GATHER_below", gathered(-1), "index -1 at [0, 0] is outside 0..1"},
      {"GATHER_above", gathered(2), "index 2 at [0, 0] is outside 0..1"},
      {"SCATTER_below", scattered(0, -1), "index -1 at [0, 1] is outside 0..1"},
      {"SCATTER_above", scattered(2, 0), "index 2 at [0, 0] is outside 0..1"},
      {"SCATTER_twice", scattered(1, 1), "an element of the result is written twice"},
  };
}

class Require : public testing::TestWithParam<Broken> {};

TEST_P(Require, IsUnpredictableAndNamed) {
  const OperatorCase& the_case = GetParam().the_case;
  ASSERT_NO_THROW(graph::validate(the_case.graph()));
  std::string message;
  EXPECT_EQ(contract::name(error_of(the_case, &message)), contract::name(ErrorCode::kRequireFailed));
  EXPECT_EQ(message.find(std::string(graph::name(the_case.op)) + " 'result' at here: "), 0u) << message;
  EXPECT_NE(message.find(GetParam().what), std::string::npos) << message;
}

std::string numbered(const testing::TestParamInfo<Broken>& info) {
  return std::string(info.param.name) + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Elements, Require, testing::ValuesIn(element_cases()), numbered);
INSTANTIATE_TEST_SUITE_P(Shifts, Require, testing::ValuesIn(shift_cases()), numbered);
INSTANTIATE_TEST_SUITE_P(Scaling, Require, testing::ValuesIn(scaling_cases()), numbered);
INSTANTIATE_TEST_SUITE_P(Tensors, Require, testing::ValuesIn(tensor_cases()), numbered);

}  // namespace
}  // namespace npu::reference::test
