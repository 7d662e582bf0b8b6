// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/range_allocator.h"

#include <gtest/gtest.h>

namespace npu::runtime {
namespace {

TEST(RangeAllocator, TakesTheLowestFreePiece) {
  RangeAllocator allocator(100, 1000, 16);  // 112 to 992
  EXPECT_EQ(allocator.capacity(), 880u);
  EXPECT_EQ(allocator.allocate(1), 112u);
  EXPECT_EQ(allocator.allocate(32), 128u);
  EXPECT_EQ(allocator.allocate(0), 160u);
  EXPECT_EQ(allocator.used(), 64u);
  allocator.release(128);
  EXPECT_EQ(allocator.allocate(33), 176u);  // does not fit between 128 and 160
  EXPECT_EQ(allocator.allocate(17), 128u);
}

TEST(RangeAllocator, TakesTheHighestPieceBelowALimit) {
  RangeAllocator allocator(0, 1024, 16);
  EXPECT_EQ(allocator.allocate_high(17, 500), 464u);  // 496 is the last multiple of 16
  EXPECT_EQ(allocator.allocate_high(16, 4096), 1008u);
  ASSERT_TRUE(allocator.take(400, 32));
  EXPECT_EQ(allocator.allocate_high(32, 500), 432u);
  EXPECT_EQ(allocator.allocate_high(64, 500), 336u);
  EXPECT_EQ(allocator.allocate_high(16, 410), 320u);  // the limit lies in a piece
  EXPECT_EQ(allocator.allocate_high(336, 500), std::nullopt);
  EXPECT_EQ(allocator.allocate_high(320, 500), 0u);
  EXPECT_EQ(allocator.allocate_high(1, 500), std::nullopt);
  EXPECT_EQ(allocator.allocate_high(1, 15), std::nullopt);
  EXPECT_EQ(allocator.used(), 16u + 496u);
}

TEST(RangeAllocator, FillsTheRangeExactlyAndThenRefuses) {
  RangeAllocator allocator(0, 64, 16);
  EXPECT_EQ(allocator.allocate(65), std::nullopt);
  EXPECT_EQ(allocator.allocate(64), 0u);
  EXPECT_EQ(allocator.largest_free(), 0u);
  EXPECT_EQ(allocator.allocate(0), std::nullopt);
  allocator.release_all();
  EXPECT_EQ(allocator.largest_free(), 64u);
  EXPECT_EQ(allocator.allocate(16), 0u);
}

TEST(RangeAllocator, SurvivesAbsurdSizes) {
  RangeAllocator allocator(0, uint64_t{1} << 40, 4096);
  EXPECT_EQ(allocator.allocate(~uint64_t{0}), std::nullopt);
  RangeAllocator nothing(128, 100, 16);
  EXPECT_EQ(nothing.capacity(), 0u);
  EXPECT_EQ(nothing.allocate(0), std::nullopt);
}

TEST(RangeAllocator, ReservesWhatIsFree) {
  RangeAllocator ranges(0, 1024, 64);
  EXPECT_EQ(ranges.allocate(100), 0u);
  EXPECT_FALSE(ranges.reserve(64, 64));    // taken
  EXPECT_FALSE(ranges.reserve(960, 128));  // reaches beyond the end
  EXPECT_TRUE(ranges.reserve(256, 128));
  EXPECT_FALSE(ranges.reserve(128, 192));  // reaches into it
  EXPECT_EQ(ranges.reserved(), 128u);
  EXPECT_EQ(ranges.used(), 256u);
  EXPECT_EQ(ranges.allocate(192), 384u);  // behind it
}

}  // namespace
}  // namespace npu::runtime
