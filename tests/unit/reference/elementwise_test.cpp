// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

constexpr int64_t kElementMin32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kElementMax32 = std::numeric_limits<int32_t>::max();
using Numbers = std::vector<int64_t>;

Value on_pairs(Op op, DType type, const Numbers& a, const Numbers& b, DType result, const Attributes& attributes = {}) {
  const Shape shape{static_cast<int64_t>(a.size())};
  return OperatorCase{op, {value_of(type, shape, a), value_of(type, shape, b)}, result, shape, attributes}.run();
}
Numbers pairs(Op op, DType type, const Numbers& a, const Numbers& b, const Attributes& attributes = {}) {
  return numbers_of(on_pairs(op, type, a, b, type, attributes));
}
ErrorCode pair_error(Op op, DType type, int64_t a, int64_t b, std::string* message = nullptr) {
  return error_of([&] { (void)on_pairs(op, type, {a}, {b}, type); }, message);
}

TEST(Elementwise, AddsAndSubtracts) {
  EXPECT_EQ(pairs(Op::kAdd, DType::kInt32, {1, kElementMax32, kElementMin32}, {2, 0, kElementMax32}),
            (Numbers{3, kElementMax32, -1}));
  EXPECT_EQ(pairs(Op::kSub, DType::kInt32, {1, kElementMin32, -1}, {2, 0, kElementMax32}),
            (Numbers{-1, kElementMin32, kElementMin32}));
}

TEST(Elementwise, OverflowNamesOperatorAndValues) {
  std::string message;
  EXPECT_EQ(pair_error(Op::kAdd, DType::kInt32, kElementMax32, 1, &message), ErrorCode::kRequireFailed);
  EXPECT_EQ(message, "ADD 'result' at here: the sum 2147483648 is outside INT32");
  EXPECT_EQ(pair_error(Op::kAdd, DType::kInt32, kElementMin32, -1), ErrorCode::kRequireFailed);
  EXPECT_EQ(pair_error(Op::kSub, DType::kInt32, kElementMin32, 1), ErrorCode::kRequireFailed);
  EXPECT_EQ(pair_error(Op::kSub, DType::kInt32, 0, kElementMin32), ErrorCode::kRequireFailed);
}

TEST(Elementwise, BroadcastsEitherOperand) {
  const OperatorCase both{
      Op::kSub, {i32({2, 1, 3}, {10, 20, 30, 40, 50, 60}), i32({1, 2, 1}, {1, 2})}, DType::kInt32, {2, 2, 3}};
  EXPECT_EQ(both.numbers(), (Numbers{9, 19, 29, 8, 18, 28, 39, 49, 59, 38, 48, 58}));
  const OperatorCase first{Op::kSub, {i32({1, 1}, {100}), i32({2, 2}, {1, 2, 3, 4})}, DType::kInt32, {2, 2}};
  EXPECT_EQ(first.numbers(), (Numbers{99, 98, 97, 96}));
  const OperatorCase second{Op::kSub, {i32({2, 2}, {1, 2, 3, 4}), i32({2, 1}, {1, 2})}, DType::kInt32, {2, 2}};
  EXPECT_EQ(second.numbers(), (Numbers{0, 1, 1, 2}));
  const OperatorCase rank0{Op::kSub, {i32({}, {7}), i32({}, {3})}, DType::kInt32, {}};
  EXPECT_EQ(rank0.numbers(), (Numbers{4}));
  const OperatorCase misfit{Op::kAdd, {i32({2}, {1, 2}), i32({3}, {1, 2, 3})}, DType::kInt32, {3}};
  EXPECT_EQ(error_of(misfit), ErrorCode::kBadShape);
}

Value product(DType type, const Numbers& a, const Numbers& b, int64_t shift) {
  const Shape shape{static_cast<int64_t>(a.size())};
  return OperatorCase{
      Op::kMul, {value_of(type, shape, a), value_of(type, shape, b), i8({1}, {shift})}, DType::kInt32, shape}
      .run();
}

TEST(Elementwise, MultipliesToInt32) {
  EXPECT_EQ(numbers_of(product(DType::kInt8, {-128, 127}, {-128, -128}, 0)), (Numbers{16384, -16256}));
  EXPECT_EQ(numbers_of(product(DType::kInt16, {-32768, 32767}, {-32768, -32768}, 0)), (Numbers{1 << 30, -1073709056}));
  // INT32 without shift keeps the low 32 bits.
  EXPECT_EQ(numbers_of(product(DType::kInt32, {65536, kElementMin32, 0x12345678}, {65536, -1, 16}, 0)),
            (Numbers{0, kElementMin32, 0x23456780}));
}

TEST(Elementwise, MultiplyShiftRoundsHalfUp) {
  EXPECT_EQ(numbers_of(product(DType::kInt32, {1, -1, 3, -3, 5}, {1, 1, 1, 1, 1}, 1)), (Numbers{1, 0, 2, -1, 3}));
}

TEST(Elementwise, MultiplyShiftExtremes) {
  EXPECT_EQ(numbers_of(product(DType::kInt32, {kElementMin32, kElementMax32, kElementMin32},
                               {kElementMin32, kElementMax32, kElementMax32}, 62)),
            (Numbers{1, 1, -1}));
  EXPECT_EQ(numbers_of(product(DType::kInt32, {kElementMin32, kElementMax32, kElementMin32, 0},
                               {kElementMin32, kElementMax32, kElementMax32, 0}, 63)),
            (Numbers{1, 0, 0, 0}));
  EXPECT_EQ(numbers_of(product(DType::kInt32, {kElementMax32}, {kElementMax32}, 31)), (Numbers{kElementMax32 - 1}));
}

TEST(Elementwise, MultiplyChecksShiftAndRange) {
  EXPECT_EQ(error_of([] { (void)product(DType::kInt32, {1}, {1}, 64); }), ErrorCode::kRequireFailed);
  EXPECT_EQ(error_of([] { (void)product(DType::kInt32, {1}, {1}, -1); }), ErrorCode::kRequireFailed);
  EXPECT_EQ(error_of([] { (void)product(DType::kInt16, {1}, {1}, 1); }), ErrorCode::kRequireFailed);
  EXPECT_EQ(error_of([] { (void)product(DType::kInt32, {kElementMin32}, {kElementMin32}, 31); }),
            ErrorCode::kRequireFailed);
  EXPECT_EQ(error_of([] { (void)product(DType::kInt32, {65536}, {65536}, 1); }), ErrorCode::kRequireFailed);
}

TEST(Elementwise, DividesTowardsZero) {
  EXPECT_EQ(pairs(Op::kIntDiv, DType::kInt32, {7, -7, 7, -7, kElementMin32}, {2, 2, -2, -2, 1}),
            (Numbers{3, -3, -3, 3, kElementMin32}));
  EXPECT_EQ(pair_error(Op::kIntDiv, DType::kInt32, 1, 0), ErrorCode::kRequireFailed);
  EXPECT_EQ(pair_error(Op::kIntDiv, DType::kInt32, kElementMin32, -1), ErrorCode::kRequireFailed);
}

TEST(Elementwise, MaximumAndMinimum) {
  EXPECT_EQ(pairs(Op::kMaximum, DType::kInt32, {1, -5, kElementMin32}, {0, -4, kElementMax32}),
            (Numbers{1, -4, kElementMax32}));
  EXPECT_EQ(pairs(Op::kMinimum, DType::kInt32, {1, -5, kElementMin32}, {0, -4, kElementMax32}),
            (Numbers{0, -5, kElementMin32}));
}

TEST(Elementwise, ArithmeticRightShift) {
  EXPECT_EQ(pairs(Op::kArithmeticRightShift, DType::kInt8, {-128, -1, 127, 5}, {7, 7, 6, 0}), (Numbers{-1, -1, 1, 5}));
  Attributes round;
  round.round = true;
  EXPECT_EQ(pairs(Op::kArithmeticRightShift, DType::kInt32, {5, -5, 6, kElementMin32, kElementMax32, 3},
                  {1, 1, 2, 31, 31, 0}, round),
            (Numbers{3, -2, 2, -1, 1, 3}));
  EXPECT_EQ(pairs(Op::kArithmeticRightShift, DType::kInt16, {-32768, 32767}, {15, 15}, round), (Numbers{-1, 1}));
}

TEST(Elementwise, LogicalShifts) {
  EXPECT_EQ(pairs(Op::kLogicalLeftShift, DType::kInt8, {1, -1, 3}, {7, 4, 7}), (Numbers{-128, -16, -128}));
  EXPECT_EQ(pairs(Op::kLogicalLeftShift, DType::kInt32, {1, -1}, {31, 31}), (Numbers{kElementMin32, kElementMin32}));
  EXPECT_EQ(pairs(Op::kLogicalRightShift, DType::kInt8, {-1, -128, 127}, {1, 7, 0}), (Numbers{127, 1, 127}));
  EXPECT_EQ(pairs(Op::kLogicalRightShift, DType::kInt16, {-1}, {15}), (Numbers{1}));
  EXPECT_EQ(pairs(Op::kLogicalRightShift, DType::kInt32, {-1, kElementMin32}, {1, 31}), (Numbers{kElementMax32, 1}));
}

TEST(Elementwise, ShiftAmountsAreChecked) {
  for (const Op op : {Op::kArithmeticRightShift, Op::kLogicalLeftShift, Op::kLogicalRightShift}) {
    EXPECT_EQ(pair_error(op, DType::kInt8, 1, 8), ErrorCode::kRequireFailed);
    EXPECT_EQ(pair_error(op, DType::kInt16, 1, 16), ErrorCode::kRequireFailed);
    EXPECT_EQ(pair_error(op, DType::kInt32, 1, 32), ErrorCode::kRequireFailed);
    EXPECT_EQ(pair_error(op, DType::kInt32, 1, -1), ErrorCode::kRequireFailed);
  }
}

TEST(Elementwise, Bitwise) {
  EXPECT_EQ(pairs(Op::kBitwiseAnd, DType::kInt8, {-1, 0x55}, {0x0f, 0x33}), (Numbers{0x0f, 0x11}));
  EXPECT_EQ(pairs(Op::kBitwiseOr, DType::kInt16, {0x5500, -1}, {0x0033, 0}), (Numbers{0x5533, -1}));
  EXPECT_EQ(pairs(Op::kBitwiseXor, DType::kInt32, {kElementMin32, 5}, {-1, 5}), (Numbers{kElementMax32, 0}));
  EXPECT_EQ((OperatorCase{Op::kBitwiseNot, {i16({2}, {0, -32768})}, DType::kInt16, {2}}.numbers()),
            (Numbers{-1, 32767}));
}

TEST(Elementwise, Logical) {
  const Numbers a{0, 0, 1, 1};
  const Numbers b{0, 1, 0, 1};
  EXPECT_EQ(pairs(Op::kLogicalAnd, DType::kBool, a, b), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(pairs(Op::kLogicalOr, DType::kBool, a, b), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(pairs(Op::kLogicalXor, DType::kBool, a, b), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ((OperatorCase{Op::kLogicalNot, {boolean({2}, {0, 1})}, DType::kBool, {2}}.numbers()), (Numbers{1, 0}));
}

TEST(Elementwise, Compares) {
  const Numbers a{1, 2, 3, kElementMin32};
  const Numbers b{2, 2, 2, kElementMax32};
  EXPECT_EQ(numbers_of(on_pairs(Op::kEqual, DType::kInt32, a, b, DType::kBool)), (Numbers{0, 1, 0, 0}));
  EXPECT_EQ(numbers_of(on_pairs(Op::kGreater, DType::kInt32, a, b, DType::kBool)), (Numbers{0, 0, 1, 0}));
  EXPECT_EQ(numbers_of(on_pairs(Op::kGreaterEqual, DType::kInt32, a, b, DType::kBool)), (Numbers{0, 1, 1, 0}));
}

TEST(Elementwise, AbsAndClz) {
  EXPECT_EQ((OperatorCase{Op::kAbs, {i32({3}, {-5, 0, kElementMin32 + 1})}, DType::kInt32, {3}}.numbers()),
            (Numbers{5, 0, kElementMax32}));
  EXPECT_EQ(error_of(OperatorCase{Op::kAbs, {i32({1}, {kElementMin32})}, DType::kInt32, {1}}),
            ErrorCode::kRequireFailed);
  EXPECT_EQ((OperatorCase{Op::kClz, {i32({5}, {0, 1, -1, kElementMax32, 256})}, DType::kInt32, {5}}.numbers()),
            (Numbers{32, 31, 0, 1, 23}));
}

TEST(Elementwise, NegateSaturatesAfterZeroPoints) {
  EXPECT_EQ(
      (OperatorCase{Op::kNegate, {i8({3}, {-128, 127, 3}), i8({1}, {0}), i8({1}, {0})}, DType::kInt8, {3}}.numbers()),
      (Numbers{127, -127, -3}));
  EXPECT_EQ(
      (OperatorCase{Op::kNegate, {i8({3}, {-128, 127, 3}), i8({1}, {2}), i8({1}, {-10})}, DType::kInt8, {3}}.numbers()),
      (Numbers{120, -128, -11}));
  EXPECT_EQ(
      (OperatorCase{Op::kNegate, {i16({1}, {-32768}), i16({1}, {0}), i16({1}, {0})}, DType::kInt16, {1}}.numbers()),
      (Numbers{32767}));
  EXPECT_EQ(error_of(OperatorCase{
                Op::kNegate, {i32({1}, {kElementMin32}), i32({1}, {0}), i32({1}, {0})}, DType::kInt32, {1}}),
            ErrorCode::kRequireFailed);
}

TEST(Elementwise, SelectBroadcastsAllOperands) {
  const OperatorCase the_case{
      Op::kSelect, {boolean({2, 1}, {1, 0}), i8({1, 3}, {1, 2, 3}), i8({1, 1}, {9})}, DType::kInt8, {2, 3}};
  EXPECT_EQ(the_case.numbers(), (Numbers{1, 2, 3, 9, 9, 9}));
  EXPECT_EQ((OperatorCase{Op::kSelect, {boolean({1}, {0}), boolean({1}, {0}), boolean({1}, {1})}, DType::kBool, {1}}
                 .numbers()),
            (Numbers{1}));
}

TEST(Elementwise, RefusesOtherTypes) {
  std::string message;
  const OperatorCase bytes{Op::kAdd, {i8({1}, {1}), i8({1}, {1})}, DType::kInt8, {1}};
  EXPECT_EQ(error_of(bytes, &message), ErrorCode::kTypeUnsupported);
  EXPECT_NE(message.find("no ADD of (INT8, INT8) to INT8"), std::string::npos) << message;
  const Value half{DType::kFp16, {1}, {0, 0}};
  EXPECT_EQ(error_of(OperatorCase{Op::kAdd, {half, half}, DType::kFp32, {1}}), ErrorCode::kTypeUnsupported);
  EXPECT_EQ(error_of(OperatorCase{Op::kBitwiseNot, {half}, DType::kFp16, {1}}), ErrorCode::kTypeUnsupported);
  EXPECT_EQ(error_of(OperatorCase{Op::kTanh, {i8({1}, {1})}, DType::kInt8, {1}}), ErrorCode::kTypeUnsupported);
}

}  // namespace
}  // namespace npu::reference::test
