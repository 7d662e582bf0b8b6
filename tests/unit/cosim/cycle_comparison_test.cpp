// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/cycle_comparison.h"

#include <gtest/gtest.h>

namespace npu::cosim {
namespace {

TEST(CycleComparison, KeepsSignsAndTheWorst) {
  CycleComparison a, b;
  a.add(100, 100);
  a.add(110, 100);
  b.add(50, 80);
  a.add(b);
  EXPECT_EQ(a.count, 3u);
  EXPECT_EQ(a.exact, 1u);
  EXPECT_EQ(a.worst, -30);
  EXPECT_DOUBLE_EQ(a.worst_relative, -0.6);
  EXPECT_DOUBLE_EQ(a.share_exact(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(a.mean_absolute(), 40.0 / 3);
  EXPECT_DOUBLE_EQ(a.mean(), -20.0 / 3);
  EXPECT_DOUBLE_EQ(a.relative(), -20.0 / 260);
  EXPECT_FALSE(a.all_exact());
  EXPECT_DOUBLE_EQ(CycleComparison().mean(), 0);
}

}  // namespace
}  // namespace npu::cosim
