// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

Numbers reduce(Op op, const Value& value, int32_t axis, const Shape& result) {
  Attributes a;
  a.axis = axis;
  return OperatorCase{op, {value}, value.type, result, a}.numbers();
}

const Value kCube = i32({2, 3, 2}, {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6});

TEST(Reduce, SumOverEveryAxis) {
  EXPECT_EQ(reduce(Op::kReduceSum, kCube, 0, {1, 3, 2}), (Numbers{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(reduce(Op::kReduceSum, kCube, 1, {2, 1, 2}), (Numbers{9, 12, -9, -12}));
  EXPECT_EQ(reduce(Op::kReduceSum, kCube, 2, {2, 3, 1}), (Numbers{3, 7, 11, -3, -7, -11}));
}

TEST(Reduce, SumOverflowsWhereAPartialSumDoes) {
  const int64_t max = std::numeric_limits<int32_t>::max();
  Attributes a;
  EXPECT_EQ(error_of(OperatorCase{Op::kReduceSum, {i32({3}, {max, 1, -1})}, DType::kInt32, {1}, a}),
            ErrorCode::kRequireFailed);
  EXPECT_EQ(reduce(Op::kReduceSum, i32({3}, {max, -1, 1}), 0, {1}), (Numbers{max}));
}

TEST(Reduce, MaximumAndMinimum) {
  EXPECT_EQ(reduce(Op::kReduceMax, kCube, 1, {2, 1, 2}), (Numbers{5, 6, -1, -2}));
  EXPECT_EQ(reduce(Op::kReduceMin, kCube, 1, {2, 1, 2}), (Numbers{1, 2, -5, -6}));
  EXPECT_EQ(reduce(Op::kReduceMax, i8({2}, {-128, -128}), 0, {1}), (Numbers{-128}));
  EXPECT_EQ(reduce(Op::kReduceMin, i16({2}, {32767, 32767}), 0, {1}), (Numbers{32767}));
}

TEST(Reduce, AllAndAny) {
  const Value table = boolean({3, 2}, {0, 0, 0, 1, 1, 1});
  EXPECT_EQ(reduce(Op::kReduceAll, table, 1, {3, 1}), (Numbers{0, 0, 1}));
  EXPECT_EQ(reduce(Op::kReduceAny, table, 1, {3, 1}), (Numbers{0, 1, 1}));
}

TEST(Reduce, WrongAxisIsAnError) {
  Attributes a;
  a.axis = 1;
  EXPECT_EQ(error_of(OperatorCase{Op::kReduceSum, {i32({2}, {1, 2})}, DType::kInt32, {1}, a}), ErrorCode::kBadArgument);
}

TEST(ArgMax, FirstOfEqualsAndLowest) {
  const auto arg_max = [](const Value& value, int32_t axis, const Shape& result) {
    Attributes a;
    a.axis = axis;
    return OperatorCase{Op::kArgMax, {value}, DType::kInt32, result, a}.numbers();
  };
  EXPECT_EQ(arg_max(i8({2, 3}, {1, 5, 5, -128, -128, -128}), 1, {2}), (Numbers{1, 0}));
  EXPECT_EQ(arg_max(i8({2, 3}, {1, 5, 5, 2, 5, 6}), 0, {3}), (Numbers{1, 0, 1}));
  EXPECT_EQ(arg_max(i16({3}, {-32768, -32768, -32767}), 0, {}), (Numbers{2}));
}

}  // namespace
}  // namespace npu::reference::test
