// SPDX-License-Identifier: Apache-2.0
// Which bytes a box asks for, and which boxes are refused.
#include "hw/engine/box.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::ErrorCode;
using Ranges = std::vector<std::pair<int64_t, int64_t>>;

Box make_box(int64_t offset, std::array<uint64_t, 4> count, std::array<int64_t, 4> stride, uint64_t run) {
  Box box;
  box.base = scratchpad(100);
  box.offset = offset;
  box.count = count;
  box.stride = stride;
  box.run = run;
  return box;
}

Ranges ranges(const TestMemory& memory) {
  Ranges found;
  for (const TestMemory::Touch& touch : memory.touches) found.emplace_back(touch.low, touch.high);
  return found;
}

TEST(Box, DenseBoxIsOneRun) {
  TestMemory memory(1000);
  const Resolved box = resolve_box(make_box(0, {2, 3, 4, 5}, {60, 20, 5, 1}, 1), memory, Access::kWrite, true);
  ASSERT_EQ(box.error, ErrorCode::kOk);
  EXPECT_EQ(ranges(memory), (Ranges{{100, 220}}));
  EXPECT_EQ(box.data, memory.at(scratchpad(100)));
}

TEST(Box, GapsSplitIntoRuns) {
  TestMemory memory(1000);
  ASSERT_EQ(resolve_box(make_box(0, {1, 2, 2, 4}, {0, 100, 40, 8}, 8), memory, Access::kRead, true).error,
            ErrorCode::kOk);
  EXPECT_EQ(ranges(memory), (Ranges{{100, 132}, {140, 172}, {200, 232}, {240, 272}}));
}

TEST(Box, ReversedBoxStartsAtItsLastByte) {
  TestMemory memory(1000);
  const Resolved box = resolve_box(make_box(30, {1, 1, 2, 4}, {0, 0, 50, -10}, 4), memory, Access::kRead, true);
  ASSERT_EQ(box.error, ErrorCode::kOk);
  EXPECT_EQ(ranges(memory).front(), (std::pair<int64_t, int64_t>{100, 104}));
  EXPECT_EQ(ranges(memory).back(), (std::pair<int64_t, int64_t>{180, 184}));
  EXPECT_EQ(box.data, memory.at(scratchpad(130)));
}

TEST(Box, RepeatsAndOverlapsAreForReadingOnly) {
  const Box repeated = make_box(0, {1, 1, 9, 4}, {0, 0, 0, 1}, 1);
  const Box overlapping = make_box(0, {1, 1, 5, 1}, {0, 0, 2, 0}, 6);
  for (const Box& box : {repeated, overlapping}) {
    TestMemory memory(1000);
    EXPECT_EQ(resolve_box(box, memory, Access::kRead, false).error, ErrorCode::kOk);
    EXPECT_EQ(memory.touches.size(), 1u);
    EXPECT_EQ(resolve_box(box, memory, Access::kWrite, true).error, ErrorCode::kFaultBadCommand);
  }
}

TEST(Box, RefusedBytesAreOutOfBounds) {
  TestMemory memory(1000);
  EXPECT_EQ(resolve_box(make_box(0, {1, 1, 1, 901}, {0, 0, 0, 1}, 1), memory, Access::kRead, false).error,
            ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(resolve_box(make_box(-101, {1, 1, 1, 1}, {}, 1), memory, Access::kRead, false).error,
            ErrorCode::kFaultOutOfBounds);
  // Extents beyond any memory, up to what overflows 64 bits.
  const int64_t far = INT32_MAX;
  const Box large = make_box(0, {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, {far, far, far, far}, UINT32_MAX);
  const Box negative = make_box(0, {1, 1, UINT32_MAX, UINT32_MAX}, {0, 0, INT32_MIN, INT32_MIN}, 1);
  EXPECT_EQ(resolve_box(large, memory, Access::kRead, false).error, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(resolve_box(negative, memory, Access::kRead, false).error, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(memory.refusals, 4);
}

TEST(Box, TooManyRunsAreABadCommand) {
  TestMemory memory(1000);
  const Box box = make_box(0, {1, 1 << 12, 1 << 12, 2}, {0, 3, 5, 2}, 1);
  EXPECT_EQ(resolve_box(box, memory, Access::kRead, false).error, ErrorCode::kFaultBadCommand);
  EXPECT_TRUE(memory.touches.empty());
}

}  // namespace
}  // namespace npu::engine::testing
