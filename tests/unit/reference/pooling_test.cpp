// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sim/reference/arithmetic.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

Attributes window(std::vector<int32_t> kernel, std::vector<int32_t> stride, std::vector<int32_t> pad) {
  Attributes a;
  a.kernel = std::move(kernel);
  a.stride = std::move(stride);
  a.pad = std::move(pad);
  a.acc_type = DType::kInt32;
  return a;
}

TEST(MaxPool, PaddingDoesNotCount) {
  const OperatorCase the_case{Op::kMaxPool2d,
                              {i8({1, 2, 3, 1}, {-128, -5, -7, -9, -128, -128})},
                              DType::kInt8,
                              {1, 2, 3, 1},
                              window({2, 2}, {1, 1}, {0, 1, 0, 1})};
  EXPECT_EQ(the_case.numbers(), (Numbers{-5, -5, -7, -9, -128, -128}));
}

TEST(MaxPool, ChannelsAndStride) {
  const OperatorCase the_case{Op::kMaxPool2d,
                              {i16({1, 2, 4, 2}, {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8, -8})},
                              DType::kInt16,
                              {1, 1, 2, 2},
                              window({2, 2}, {2, 2}, {0, 0, 0, 0})};
  EXPECT_EQ(the_case.numbers(), (Numbers{6, -1, 8, -3}));
}

TEST(AvgPool, DividesByWhatTheWindowCovers) {
  // A corner covers 1 element, an edge 2, the middle 4.
  const OperatorCase the_case{Op::kAvgPool2d,
                              {i8({1, 2, 2, 1}, {10, 20, 30, 41}), i8({1}, {0}), i8({1}, {0})},
                              DType::kInt8,
                              {1, 3, 3, 1},
                              window({2, 2}, {1, 1}, {1, 1, 1, 1})};
  EXPECT_EQ(the_case.numbers(), (Numbers{10, 15, 20, 20, 25, 31, 30, 36, 41}));
}

TEST(AvgPool, ZeroPoints) {
  const OperatorCase the_case{Op::kAvgPool2d,
                              {i8({1, 1, 2, 1}, {-128, 127}), i8({1}, {-128}), i8({1}, {100})},
                              DType::kInt8,
                              {1, 1, 1, 1},
                              window({1, 2}, {1, 1}, {0, 0, 0, 0})};
  EXPECT_EQ(the_case.numbers(), (Numbers{127}));  // 128 + 100, saturated
  EXPECT_EQ(error_of(OperatorCase{Op::kAvgPool2d,
                                  {i16({1, 1, 1, 1}, {1}), i16({1}, {1}), i16({1}, {0})},
                                  DType::kInt16,
                                  {1, 1, 1, 1},
                                  window({1, 1}, {1, 1}, {0, 0, 0, 0})}),
            ErrorCode::kBadArgument);
}

TEST(AvgPool, EveryCountUpTo1000RoundsTiesAwayFromZero) {
  for (int64_t n = 1; n <= 1000; ++n) {
    for (const int64_t sign : {-1, 1}) {
      Numbers values(static_cast<size_t>(n), -3 * sign);
      values[0] = 127 * sign;
      const OperatorCase the_case{Op::kAvgPool2d,
                                  {i8({1, 1, n, 1}, values), i8({1}, {0}), i8({1}, {0})},
                                  DType::kInt8,
                                  {1, 1, 1, 1},
                                  window({1, static_cast<int32_t>(n)}, {1, 1}, {0, 0, 0, 0})};
      const int64_t sum = sign * (127 - 3 * (n - 1));
      const int64_t magnitude = (2 * std::abs(sum) + n) / (2 * n);
      ASSERT_EQ(the_case.numbers(), Numbers{sum < 0 ? -magnitude : magnitude}) << n;
    }
  }
}

TEST(AvgPool, ReciprocalHas31SignificantBits) {
  for (const uint32_t value :
       {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 255U, 256U, 257U, 65535U, 65536U, 65537U, 0x7fffffffU, 0x80000000U}) {
    const Scale scale = reciprocal_scale(value);
    EXPECT_GE(scale.multiplier, 1 << 30) << value;
    // multiplier / 2^shift is 1 / value, at most one unit of the last place above.
    const long double exact = static_cast<long double>(int64_t{1} << scale.shift) / value;
    EXPECT_LE(std::abs(exact + 1 - scale.multiplier), 1.0L) << value;
  }
}

TEST(AvgPool, Int16ExtremesOverABigWindow) {
  const int64_t n = 255 * 255;
  const OperatorCase the_case{
      Op::kAvgPool2d,
      {i16({1, 255, 255, 1}, Numbers(static_cast<size_t>(n), -32768)), i16({1}, {0}), i16({1}, {0})},
      DType::kInt16,
      {1, 1, 1, 1},
      window({255, 255}, {1, 1}, {0, 0, 0, 0})};
  EXPECT_EQ(the_case.numbers(), (Numbers{-32768}));
  // One row more, and the sum of -32768 leaves 32 bits.
  const OperatorCase too_much{Op::kAvgPool2d,
                              {i16({1, 257, 257, 1}, Numbers(257 * 257, -32768)), i16({1}, {0}), i16({1}, {0})},
                              DType::kInt16,
                              {1, 1, 1, 1},
                              window({257, 257}, {1, 1}, {0, 0, 0, 0})};
  EXPECT_EQ(error_of(too_much), ErrorCode::kRequireFailed);
}

}  // namespace
}  // namespace npu::reference::test
