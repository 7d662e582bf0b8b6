// SPDX-License-Identifier: Apache-2.0
// The rules of the variable table alone: places, marks of writes, checks.
#include "hw/engine/variable_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace npu::engine {
namespace {

using contract::ErrorCode;
using contract::VariableEntry;
using contract::VariableFlag;
using Use = VariableTable::Use;

constexpr uint32_t kEntries = 8, kBytes = 1024, kPort = 16;
constexpr VariableTable::Job kJob{7, 3};

uint8_t operator|(VariableFlag a, VariableFlag b) { return static_cast<uint8_t>(a) | static_cast<uint8_t>(b); }
uint8_t operator|(uint8_t a, VariableFlag b) { return a | static_cast<uint8_t>(b); }

// What a declaration sets.
const uint8_t kDeclared = VariableFlag::kDeclared | VariableFlag::kSeenValid;

class VariableTableTest : public ::testing::Test {
 protected:
  void set(uint32_t index, uint32_t base, uint32_t length, uint8_t flags = 0, uint16_t owner = kJob.owner) {
    VariableEntry entry;
    entry.base = base;
    entry.length = length;
    entry.owner = owner;
    entry.flags = flags;
    entry.hash = 0x55;
    entry.store(memory_.data() + index * VariableEntry::kBytes);
  }
  [[nodiscard]] uint8_t flags(uint32_t index) const { return table.entry(index).flags; }
  static constexpr uint8_t only(VariableFlag flag) { return static_cast<uint8_t>(flag); }

 private:
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(kBytes);

 public:
  VariableTable table{memory_, kEntries, kPort};
};

TEST_F(VariableTableTest, AWriteRunsFromBeginToCommit) {
  set(1, 0x200, 64);
  table.declare(1, kJob.epoch);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kVariableUnwritten);
  table.begin_write(1);
  EXPECT_EQ(flags(1), kDeclared | VariableFlag::kWriting);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kVariableUnwritten);
  table.begin_write(1);  // its next command
  table.commit_write(1);
  EXPECT_EQ(flags(1), kDeclared | VariableFlag::kIsWritten);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kOk);
}

TEST_F(VariableTableTest, ItsOwnUnfinishedWriteIsNoErrorForAJob) {
  set(1, 0x200, 64, only(VariableFlag::kIsWritten));
  table.declare(1, kJob.epoch);
  table.begin_write(1);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kOk);
}

TEST_F(VariableTableTest, AnUnfinishedWriteOfAnEarlierExecutionTears) {
  set(1, 0x200, 64, VariableFlag::kIsWritten | VariableFlag::kWriting);
  table.declare(1, kJob.epoch);
  EXPECT_EQ(flags(1), kDeclared | VariableFlag::kIsWritten | VariableFlag::kTorn);
  EXPECT_EQ(table.entry(1).seen_epoch, kJob.epoch);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kVariableTorn);
  table.declare(1, kJob.epoch);  // it stays so
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kVariableTorn);
  table.begin_write(1);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kVariableTorn);  // not whole yet
  table.commit_write(1);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kOk);
}

TEST_F(VariableTableTest, WhatWasNeverWrittenIsUnwrittenBeforeItIsTorn) {
  set(1, 0x200, 64, only(VariableFlag::kWriting));
  table.declare(1, kJob.epoch);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kVariableUnwritten);
}

TEST_F(VariableTableTest, TwoPlacesTakeTurns) {
  set(1, 0x200, 20, only(VariableFlag::kDoubleBuffered));
  EXPECT_EQ(table.place(1, Use::kRead).base, 0x200u);
  EXPECT_EQ(table.place(1, Use::kWrite).base, 0x220u);  // 20 bytes, rounded up to the port
  table.begin_write(1);
  EXPECT_EQ(table.place(1, Use::kWrite).base, 0x220u);
  table.commit_write(1);
  EXPECT_EQ(flags(1), VariableFlag::kDoubleBuffered | VariableFlag::kSecond | VariableFlag::kIsWritten);
  EXPECT_EQ(table.place(1, Use::kRead).base, 0x220u);
  EXPECT_EQ(table.place(1, Use::kWrite).base, 0x200u);
  EXPECT_EQ(table.place(1, Use::kRead).length, 20u);
  table.commit_write(1);
  EXPECT_EQ(table.place(1, Use::kRead).base, 0x200u);
}

TEST_F(VariableTableTest, AnInterruptedWriteToTheOtherPlaceTearsNothing) {
  set(1, 0x200, 64, VariableFlag::kDoubleBuffered | VariableFlag::kIsWritten | VariableFlag::kWriting);
  table.declare(1, kJob.epoch);
  EXPECT_EQ(flags(1), kDeclared | VariableFlag::kDoubleBuffered | VariableFlag::kIsWritten);
  EXPECT_EQ(table.place(1, Use::kRead).base, 0x200u);
  EXPECT_EQ(table.check_content(1, kJob), ErrorCode::kOk);
}

TEST_F(VariableTableTest, InDramTheBaseCountsSixtyFourBytes) {
  set(1, 0x4000001, 100, VariableFlag::kInDram | VariableFlag::kDoubleBuffered);
  const VariablePlace place = table.place(1, Use::kRead);
  EXPECT_TRUE(place.in_dram);
  EXPECT_EQ(place.base, uint64_t{0x4000001} * 64);
  EXPECT_EQ(place.length, 100u);
  EXPECT_EQ(table.place(1, Use::kWrite).base, uint64_t{0x4000001} * 64 + 128);
  EXPECT_EQ(table.check_place(1, kJob.owner), ErrorCode::kOk);
}

TEST_F(VariableTableTest, BothPlacesMustLieBehindTheTable) {
  const uint8_t two = only(VariableFlag::kDoubleBuffered);
  const uint32_t table_bytes = kEntries * VariableEntry::kBytes;
  set(1, table_bytes, 64, two);
  EXPECT_EQ(table.check_place(1, kJob.owner), ErrorCode::kOk);
  set(1, table_bytes - 16, 64, two);
  EXPECT_EQ(table.check_place(1, kJob.owner), ErrorCode::kFaultOutOfBounds);
  set(1, kBytes - 128, 64, two);
  EXPECT_EQ(table.check_place(1, kJob.owner), ErrorCode::kOk);
  set(1, kBytes - 112, 64, two);
  EXPECT_EQ(table.check_place(1, kJob.owner), ErrorCode::kFaultOutOfBounds);
  set(1, kBytes - 112, 64);
  EXPECT_EQ(table.check_place(1, kJob.owner), ErrorCode::kOk);
  set(1, UINT32_MAX, UINT32_MAX, two);
  EXPECT_EQ(table.check_place(1, kJob.owner), ErrorCode::kFaultOutOfBounds);
}

TEST_F(VariableTableTest, ChecksComeInOrder) {
  EXPECT_EQ(table.check_use(kEntries, kJob, Use::kWrite), ErrorCode::kFaultBadRegion);
  EXPECT_EQ(table.check_use(0, kJob, Use::kWrite), ErrorCode::kFaultBadRegion);
  set(0, 0x10, 64, 0, 8);
  EXPECT_EQ(table.check_use(0, kJob, Use::kWrite), ErrorCode::kFaultAccessRight);  // owner before bounds
  set(0, 0x10, 64);
  EXPECT_EQ(table.check_use(0, kJob, Use::kWrite), ErrorCode::kFaultOutOfBounds);
  set(0, 0x200, 64);
  EXPECT_EQ(table.check_use(0, kJob, Use::kWrite), ErrorCode::kVariableUndeclared);
  EXPECT_EQ(table.check_entry(0, 0x56, kJob), ErrorCode::kVariableMismatch);
  EXPECT_EQ(table.check_entry(0, 0x55, kJob), ErrorCode::kOk);
  table.declare(0, kJob.epoch);
  EXPECT_EQ(table.check_use(0, kJob, Use::kWrite), ErrorCode::kOk);
  EXPECT_EQ(table.check_entry(0, 0x55, kJob), ErrorCode::kVariableRedeclared);
}

TEST_F(VariableTableTest, AnEarlierExecutionsDeclarationIsEnoughToRead) {
  const VariableTable::Job next{kJob.owner, kJob.epoch + 1};
  set(0, 0x200, 64, only(VariableFlag::kIsWritten));
  EXPECT_EQ(table.check_use(0, kJob, Use::kRead), ErrorCode::kVariableUndeclared);
  table.declare(0, kJob.epoch);
  for (const Use use : {Use::kRead, Use::kWrite}) EXPECT_EQ(table.check_use(0, kJob, use), ErrorCode::kOk);
  EXPECT_EQ(table.check_use(0, next, Use::kRead), ErrorCode::kOk);
  EXPECT_EQ(table.check_use(0, next, Use::kWrite), ErrorCode::kVariableUndeclared);
  table.forget_old_marks({kJob.owner, kJob.epoch + 128});
  EXPECT_EQ(table.check_use(0, next, Use::kRead), ErrorCode::kOk);
}

// Before the execution declares it, or without it: the mark is another one's.
TEST_F(VariableTableTest, AnUnfinishedWriteOfAnEarlierExecutionTearsForEveryReader) {
  const VariableTable::Job next{kJob.owner, kJob.epoch + 1};
  set(0, 0x200, 64, only(VariableFlag::kIsWritten));
  table.declare(0, kJob.epoch);
  table.begin_write(0);
  EXPECT_EQ(table.check_content(0, kJob), ErrorCode::kOk);
  EXPECT_EQ(table.check_content(0, next), ErrorCode::kVariableTorn);
  set(0, 0x200, 64, VariableFlag::kIsWritten | VariableFlag::kWriting | VariableFlag::kDoubleBuffered);
  EXPECT_EQ(table.check_content(0, next), ErrorCode::kOk);
}

TEST_F(VariableTableTest, PlacesOverlapWithinTheirMemoryOnly) {
  set(0, 0x200, 64, only(VariableFlag::kDoubleBuffered));
  set(1, 0x240, 16);  // where 0 has its second place
  EXPECT_EQ(table.overlapping(0), 1u);
  EXPECT_EQ(table.overlapping(1), 0u);
  set(1, 0x280, 16);
  EXPECT_EQ(table.overlapping(0), std::nullopt);
  set(1, 0x200 / 64, 64, only(VariableFlag::kInDram));  // the same byte address, in DRAM
  EXPECT_EQ(table.overlapping(0), std::nullopt);
  set(2, 0x200 / 64 + 1, 64, only(VariableFlag::kInDram));
  EXPECT_EQ(table.overlapping(1), std::nullopt);
  set(1, 0x200 / 64, 65, only(VariableFlag::kInDram));
  EXPECT_EQ(table.overlapping(2), 1u);
}

TEST_F(VariableTableTest, OldMarksAreForgottenBeforeTheirEpochComesBack) {
  set(0, 0x200, 16);
  set(1, 0x210, 16, 0, 8);  // another owner's
  table.declare(0, 10);
  table.declare(1, 10);
  table.forget_old_marks({kJob.owner, 137});
  EXPECT_TRUE(table.has(0, VariableFlag::kSeenValid));
  table.forget_old_marks({kJob.owner, 138});
  EXPECT_FALSE(table.has(0, VariableFlag::kSeenValid));
  EXPECT_TRUE(table.has(1, VariableFlag::kSeenValid));
}

}  // namespace
}  // namespace npu::engine
