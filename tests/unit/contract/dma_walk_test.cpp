// SPDX-License-Identifier: Apache-2.0
// The byte stream of a descriptor's side.
#include "hw/contract/dma_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace npu::contract::testing {
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
    walk.start(10000, {run, count, stride, false});
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
  walk.start(0, {16, {1, 2, 3, 4, 5}, {0, 16 * 5 * 4 * 3, 16 * 5 * 4, 16 * 5, 16}, false});
  EXPECT_EQ(walk.contiguous(), 16u * 5 * 4 * 3 * 2);
  walk.start(0, {16, {1, 1, 3, 4, 5}, {0, 0, 10000, 16 * 5, 16}, false});
  EXPECT_EQ(walk.contiguous(), 16u * 5 * 4);
  EXPECT_EQ(walk.left(), 16u * 5 * 4 * 3);
}

TEST(DmaWalkTest, RowsBeginAtTheirOffsets) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    contract::DmaSide side;
    side.indexed = true;
    side.run = 1 + random() % 8;
    for (int d = 0; d < 5; ++d) {
      side.count[d] = d == 1 ? 1 : 1 + random() % 3;
      side.stride[d] = d == 1 || d == 2 ? 0 : static_cast<int32_t>(random() % 200) - 100;
    }
    if (trial % 3 == 0) side.stride[4] = static_cast<int32_t>(side.run);
    if (trial % 6 == 0) side.stride[3] = side.stride[4] * static_cast<int32_t>(side.count[4]);
    // What would follow, were it not for the offsets.
    if (trial % 12 == 0) side.stride[0] = side.stride[3] * static_cast<int32_t>(side.count[3]);
    std::vector<int64_t> offsets;
    for (uint32_t i = 0; i < side.count[0] * side.count[2]; ++i) {
      offsets.push_back(static_cast<int64_t>(random() % 1000) - 500);
    }
    std::vector<uint64_t> wanted;
    for (uint32_t row = 0; row < offsets.size(); ++row) {
      const uint64_t batch = row / side.count[2];
      const uint64_t base = 10000 + batch * static_cast<uint64_t>(side.stride[0]) + static_cast<uint64_t>(offsets[row]);
      const auto bytes = plain_addresses(base, side.run, {1, 1, 1, side.count[3], side.count[4]}, side.stride);
      wanted.insert(wanted.end(), bytes.begin(), bytes.end());
    }
    ExtentWalk walk;
    walk.start(10000, side, offsets);
    std::vector<uint64_t> seen;
    while (!walk.done()) {
      const uint64_t step = 1 + random() % walk.contiguous();
      for (uint64_t i = 0; i < step; ++i) seen.push_back(walk.address() + i);
      walk.advance(step);
    }
    ASSERT_EQ(seen, wanted) << "trial " << trial;
  }
}

}  // namespace
}  // namespace npu::contract::testing
