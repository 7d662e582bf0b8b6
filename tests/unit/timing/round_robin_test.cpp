// SPDX-License-Identifier: Apache-2.0
// Who comes next.
#include "hw/timing/round_robin.h"

#include <gtest/gtest.h>

namespace npu::timing {
namespace {

TEST(RoundRobinTest, WhoWasServedComesLast) {
  RoundRobin turns;
  EXPECT_EQ(turns.next(0), 0u);
  for (const uint32_t expected : {1u, 2u, 8u, 1u, 2u, 8u}) {
    EXPECT_EQ(turns.next(0b1011), expected);
    turns.serve(expected);
  }
  EXPECT_EQ(turns.next(0b1000), 8u);  // alone, also behind itself
  turns.serve(0);                     // none: the turn stays
  EXPECT_EQ(turns.next(0b1001), 1u);
}

}  // namespace
}  // namespace npu::timing
