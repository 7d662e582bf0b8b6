// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

Numbers counting(int64_t count) {
  Numbers numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Attributes along(int32_t axis) {
  Attributes a;
  a.axis = axis;
  return a;
}

TEST(Layout, Concat) {
  EXPECT_EQ((OperatorCase{Op::kConcat, {i8({2, 1}, {1, 2}), i8({2, 2}, {3, 4, 5, 6})}, DType::kInt8, {2, 3}, along(1)}
                 .numbers()),
            (Numbers{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(
      (OperatorCase{Op::kConcat, {i32({1, 2}, {1, 2}), i32({2, 2}, {3, 4, 5, 6})}, DType::kInt32, {3, 2}, along(0)}
           .numbers()),
      (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(
      error_of(OperatorCase{Op::kConcat, {i8({1, 2}, {1, 2}), i8({1, 2}, {3, 4})}, DType::kInt8, {3, 2}, along(0)}),
      ErrorCode::kBadShape);
}

TEST(Layout, Pad) {
  EXPECT_EQ((OperatorCase{Op::kPad, {i16({1, 2}, {1, 2}), dims({1, 0, 0, 2}), i16({1}, {-7})}, DType::kInt16, {2, 4}}
                 .numbers()),
            (Numbers{-7, -7, -7, -7, 1, 2, -7, -7}));
  EXPECT_EQ((OperatorCase{Op::kPad, {boolean({1}, {0}), dims({1, 1}), boolean({1}, {1})}, DType::kBool, {3}}.numbers()),
            (Numbers{1, 0, 1}));
  EXPECT_EQ(error_of(OperatorCase{Op::kPad, {i8({2}, {1, 2}), dims({-1, 0}), i8({1}, {0})}, DType::kInt8, {1}}),
            ErrorCode::kBadArgument);
}

TEST(Layout, ReshapeAndIdentity) {
  EXPECT_EQ((OperatorCase{Op::kReshape, {i8({2, 3}, counting(6)), dims({3, 2})}, DType::kInt8, {3, 2}}.numbers()),
            counting(6));
  EXPECT_EQ((OperatorCase{Op::kReshape, {i48({1}, {-5}), dims({})}, DType::kInt48, {}}.numbers()), (Numbers{-5}));
  EXPECT_EQ((OperatorCase{Op::kIdentity, {i48({2}, {1, -2})}, DType::kInt48, {2}}.numbers()), (Numbers{1, -2}));
}

TEST(Layout, Reverse) {
  EXPECT_EQ((OperatorCase{Op::kReverse, {i8({2, 3}, counting(6))}, DType::kInt8, {2, 3}, along(0)}.numbers()),
            (Numbers{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ((OperatorCase{Op::kReverse, {i32({2, 3}, counting(6))}, DType::kInt32, {2, 3}, along(1)}.numbers()),
            (Numbers{2, 1, 0, 5, 4, 3}));
}

TEST(Layout, Slice) {
  EXPECT_EQ((OperatorCase{Op::kSlice, {i8({3, 4}, counting(12)), dims({1, 2}), dims({2, 2})}, DType::kInt8, {2, 2}}
                 .numbers()),
            (Numbers{6, 7, 10, 11}));
  EXPECT_EQ(error_of(OperatorCase{Op::kSlice, {i8({3}, counting(3)), dims({2}), dims({2})}, DType::kInt8, {2}}),
            ErrorCode::kBadArgument);
  EXPECT_EQ(error_of(OperatorCase{Op::kSlice, {i8({3}, counting(3)), dims({INT64_MAX}), dims({2})}, DType::kInt8, {2}}),
            ErrorCode::kBadArgument);
}

TEST(Layout, Tile) {
  EXPECT_EQ((OperatorCase{Op::kTile, {i8({2, 2}, {1, 2, 3, 4}), dims({2, 3})}, DType::kInt8, {4, 6}}.numbers()),
            (Numbers{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));
}

TEST(Layout, Transpose) {
  Attributes a;
  a.perms = {2, 0, 1};
  EXPECT_EQ((OperatorCase{Op::kTranspose, {i16({2, 3, 2}, counting(12))}, DType::kInt16, {2, 2, 3}, a}.numbers()),
            (Numbers{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  a.perms = {0, 0, 1};
  EXPECT_EQ(error_of(OperatorCase{Op::kTranspose, {i16({2, 3, 2}, counting(12))}, DType::kInt16, {2, 2, 3}, a}),
            ErrorCode::kBadArgument);
}

TEST(Layout, GatherChecksIndices) {
  const Value values = i8({2, 3, 2}, counting(12));
  EXPECT_EQ((OperatorCase{Op::kGather, {values, i32({2, 2}, {2, 0, 1, 1})}, DType::kInt8, {2, 2, 2}}.numbers()),
            (Numbers{4, 5, 0, 1, 8, 9, 8, 9}));
  std::string message;
  EXPECT_EQ(error_of(OperatorCase{Op::kGather, {values, i32({2, 2}, {2, 0, 3, 1})}, DType::kInt8, {2, 2, 2}}, &message),
            ErrorCode::kRequireFailed);
  EXPECT_EQ(message, "GATHER 'result' at here: index 3 at [1, 0] is outside 0..2");
  EXPECT_EQ(error_of(OperatorCase{Op::kGather, {values, i32({2, 2}, {2, 0, -1, 1})}, DType::kInt8, {2, 2, 2}}),
            ErrorCode::kRequireFailed);
}

TEST(Layout, ScatterWritesOnce) {
  const Value values = i32({1, 3, 2}, counting(6));
  const Value moved = i32({1, 2, 2}, {10, 11, 20, 21});
  EXPECT_EQ((OperatorCase{Op::kScatter, {values, i32({1, 2}, {2, 0}), moved}, DType::kInt32, {1, 3, 2}}.numbers()),
            (Numbers{20, 21, 2, 3, 10, 11}));
  EXPECT_EQ(error_of(OperatorCase{Op::kScatter, {values, i32({1, 2}, {2, 2}), moved}, DType::kInt32, {1, 3, 2}}),
            ErrorCode::kRequireFailed);
  EXPECT_EQ(error_of(OperatorCase{Op::kScatter, {values, i32({1, 2}, {0, 3}), moved}, DType::kInt32, {1, 3, 2}}),
            ErrorCode::kRequireFailed);
}

}  // namespace
}  // namespace npu::reference::test
