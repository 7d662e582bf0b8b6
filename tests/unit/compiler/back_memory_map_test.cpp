// SPDX-License-Identifier: Apache-2.0
// Places in time and bytes: by hand, and what a plain map of each byte and tick says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "driver/compiler/schedule/memory_map.h"

namespace npu::compiler::backend {
namespace {

TEST(MemoryMap, RoomIsWhatIsFreeAllTheTime) {
  MemoryMap map(1000);
  EXPECT_EQ(map.room(0, 2).bytes, 1000);
  map.take(300, 100, 0, 0);
  map.take(700, 100, 1, 1);
  map.take(0, 800, 2, 2);
  EXPECT_EQ(map.room(0, 0).bytes, 900);
  EXPECT_EQ(map.room(0, 0).piece, 600);
  EXPECT_EQ(map.room(0, 1).bytes, 900);
  EXPECT_EQ(map.room(0, 1).piece, 300);
  EXPECT_EQ(map.room(1, 2).bytes, 200);
  EXPECT_EQ(map.room(1, 2).piece, 200);
}

TEST(MemoryMap, AgreesWithAPlainOne) {
  constexpr int64_t kBytes = 24, kTicks = 12;
  std::mt19937_64 random(20'261);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    MemoryMap map(kBytes);
    std::array<std::array<bool, kBytes>, kTicks> taken{};
    for (int64_t places = between(0, 8); places > 0; --places) {
      const int64_t first = between(0, kTicks - 1), last = between(first, kTicks - 1), bytes = between(1, 9);
      const auto address = map.find(bytes, first, last, 1);
      if (!address) continue;
      map.take(*address, bytes, first, last);
      for (int64_t tick = first; tick <= last; ++tick) {
        for (int64_t at = *address; at < *address + bytes; ++at) {
          bool& byte = taken.at(static_cast<size_t>(tick)).at(static_cast<size_t>(at));
          ASSERT_FALSE(byte) << "round " << round;
          byte = true;
        }
      }
    }
    const int64_t first = between(0, kTicks - 1), last = between(first, kTicks - 1);
    int64_t most = 0, run = 0, piece = 0;
    for (int64_t tick = first; tick <= last; ++tick) {
      const auto& bytes = taken.at(static_cast<size_t>(tick));
      most = std::max<int64_t>(most, std::count(bytes.begin(), bytes.end(), true));
    }
    for (size_t at = 0; at < kBytes; ++at) {
      const bool free = std::none_of(taken.begin() + first, taken.begin() + last + 1,
                                     [&](const auto& bytes) { return bytes.at(at); });
      run = free ? run + 1 : 0;
      piece = std::max(piece, run);
    }
    const MemoryMap::Room room = map.room(first, last);
    ASSERT_EQ(room.bytes, kBytes - most) << "round " << round;
    ASSERT_EQ(room.piece, piece) << "round " << round;
    ASSERT_EQ(map.find(piece + 1, first, last, 1).has_value(), false) << "round " << round;
    if (piece > 0) {
      ASSERT_TRUE(map.find(piece, first, last, 1).has_value()) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace npu::compiler::backend
