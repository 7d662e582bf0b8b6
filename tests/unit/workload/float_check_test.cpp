// SPDX-License-Identifier: Apache-2.0
// A small format's threshold still finds a wrong element.
#include "sim/workload/float_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "driver/graph/builder.h"

namespace npu::workload {
namespace {

using graph::DType;

graph::Value value_of(DType type, const std::vector<double>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return {type, {count}, graph::encode(type, count, numbers)};
}

class FloatCheck : public testing::TestWithParam<DType> {};

TEST_P(FloatCheck, FindsASignAndAFactorOfTwo) {
  const graph::Value want = value_of(GetParam(), {1, 0.25, -0.5});
  EXPECT_EQ(compare_floats(want, want).differing, 0);
  for (const double wrong : {-1.0, 2.0}) {
    const FloatDifference difference = compare_floats(value_of(GetParam(), {wrong, 0.25, -0.5}), want);
    EXPECT_EQ(difference.differing, 1) << wrong;
    EXPECT_EQ(difference.first, 0);
    EXPECT_GT(difference.worst, most_units(GetParam()));
  }
}

TEST_P(FloatCheck, TakesAnElementThatIsAUnitOff) {
  const graph::Value want = value_of(GetParam(), {1.5, 1});
  graph::Value got = want;
  ++got.bytes[0];  // the next number
  const FloatDifference difference = compare_floats(got, want);
  EXPECT_EQ(difference.differing, 0);
  EXPECT_EQ(difference.rounded, 1);
  EXPECT_EQ(difference.worst, 1);
}

TEST_P(FloatCheck, CountsNansApart) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const FloatDifference both = compare_floats(value_of(GetParam(), {nan, 1}), value_of(GetParam(), {nan, 1}));
  EXPECT_EQ(both.nans, 1);
  EXPECT_EQ(both.rounded + both.differing, 0);
  const FloatDifference one = compare_floats(value_of(GetParam(), {nan, 1}), value_of(GetParam(), {1, 1}));
  EXPECT_EQ(one.nans, 0);
  EXPECT_EQ(one.differing, 1);
}

INSTANTIATE_TEST_SUITE_P(Formats, FloatCheck,
                         testing::Values(DType::kFp32, DType::kFp16, DType::kBf16, DType::kFp8E4M3, DType::kFp8E5M2),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

}  // namespace
}  // namespace npu::workload
