// SPDX-License-Identifier: Apache-2.0
// The byte stream of a descriptor's side.
#include "hw/engine/dma_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace npu::engine::testing {
namespace {

std::vector<uint64_t> plain_addresses(uint64_t base, uint64_t run, const std::array<uint32_t, 5>& count,
                                      const std::array<int32_t, 5>& stride) {
  std::vector<uint64_t> addresses;
  std::array<uint32_t, 5> i{};
  for (i[0] = 0; i[0] < count[0]; ++i[0]) {
    for (i[1] = 0; i[1] < count[1]; ++i[1]) {
      for (i[2] = 0; i[2] < count[2]; ++i[2]) {
        for (i[3] = 0; i[3] < count[3]; ++i[3]) {
          for (i[4] = 0; i[4] < count[4]; ++i[4]) {
            int64_t at = static_cast<int64_t>(base);
            for (int d = 0; d < 5; ++d) at += int64_t{i[d]} * stride[d];
            for (uint64_t byte = 0; byte < run; ++byte) addresses.push_back(static_cast<uint64_t>(at) + byte);
          }
        }
      }
    }
  }
  return addresses;
}

TEST(DmaWalkTest, VisitsEveryByteInOrder) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::array<uint32_t, 5> count;
    std::array<int32_t, 5> stride;
    const uint64_t run = 1 + random() % 8;
    for (int d = 0; d < 5; ++d) {
      count[d] = 1 + random() % 3;
      stride[d] = static_cast<int32_t>(random() % 200) - 100;
    }
    if (trial % 3 == 0) stride[4] = static_cast<int32_t>(run);
    if (trial % 6 == 0) stride[3] = stride[4] * static_cast<int32_t>(count[4]);
    ExtentWalk walk;
    walk.start(10000, run, count, stride);
    std::vector<uint64_t> seen;
    while (!walk.done()) {
      const uint64_t step = 1 + random() % walk.contiguous();
      for (uint64_t i = 0; i < step; ++i) seen.push_back(walk.address() + i);
      walk.advance(step);
    }
    ASSERT_EQ(seen, plain_addresses(10000, run, count, stride)) << "trial " << trial;
  }
}

TEST(DmaWalkTest, MergesWhatFollowsEachOther) {
  ExtentWalk walk;
  walk.start(0, 16, {1, 2, 3, 4, 5}, {0, 16 * 5 * 4 * 3, 16 * 5 * 4, 16 * 5, 16});
  EXPECT_EQ(walk.contiguous(), 16u * 5 * 4 * 3 * 2);
  walk.start(0, 16, {1, 1, 3, 4, 5}, {0, 0, 10000, 16 * 5, 16});
  EXPECT_EQ(walk.contiguous(), 16u * 5 * 4);
  EXPECT_EQ(walk.left(), 16u * 5 * 4 * 3);
}

}  // namespace
}  // namespace npu::engine::testing
