// SPDX-License-Identifier: Apache-2.0
// Writes of variables in the persistent SRAM's RTL: what an interrupted one leaves, and where the bytes lie.
#include "rtl/verilated/machines.h"
#include "tests/block/persistent_sram_block.h"

namespace npu::rtl::test {
namespace {

using contract::ErrorCode;
using contract::VariableEntry;
using contract::VariableFlag;
using Op = PersistentSram::Op;

constexpr uint32_t kCheckCycles = 4, kMarkCycles = 7;

class PersistentSramWrites : public PersistentSramBlock {
 protected:
  static constexpr uint32_t kIndex = 1;

  [[nodiscard]] uint32_t table_bytes() const { return sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes); }
  [[nodiscard]] static VariableEntry entry_of(uint32_t base, uint32_t length, uint32_t flags) {
    VariableEntry entry;
    entry.base = base;
    entry.length = length;
    entry.flags = static_cast<uint8_t>(flags);
    return entry;
  }
  static uint32_t bit(VariableFlag flag) { return static_cast<uint32_t>(flag); }

  // An entry that is written, not seen, and at rest.
  void put_written(uint32_t base, uint32_t length, uint32_t flags) {
    put(kIndex, entry_of(base, length, flags | bit(VariableFlag::kIsWritten)));
    for (int i = 0; i < 4; ++i) block_->tick();
  }
  // The next execution, which declares the variable.
  ErrorCode declare() {
    EXPECT_EQ(operate({.op = Op::kBeginJob, .epoch = ++epoch_}).error, ErrorCode::kOk);
    return operate({.op = Op::kDeclare, .index = kIndex}).error;
  }
  PersistentSram::Place read_place() {
    return expect({.op = Op::kCheckRead, .index = kIndex, .high = 1}, ErrorCode::kOk, kCheckCycles).place;
  }
  void expect_no_read(ErrorCode error) {
    (void)expect({.op = Op::kCheckRead, .index = kIndex, .high = 1}, error, kCheckCycles);
  }
  PersistentSram::Place begin_write() {
    return expect({.op = Op::kWriteBegin, .index = kIndex, .high = 1}, ErrorCode::kOk, kMarkCycles).place;
  }
  void commit() { (void)expect({.op = Op::kCommit, .index = kIndex}, ErrorCode::kOk, kMarkCycles); }

  uint8_t epoch_ = 0;
};

TEST_P(PersistentSramWrites, AWriteThatNeverEndsTearsTheVariable) {
  put_written(table_bytes(), 100, 0);
  EXPECT_EQ(declare(), ErrorCode::kOk);
  EXPECT_EQ(begin_write().base, table_bytes());
  // The job's own write is no error for it, and a second command of the same write finds the mark.
  EXPECT_EQ(read_place().base, table_bytes());
  (void)expect({.op = Op::kWriteBegin, .index = kIndex, .high = 100}, ErrorCode::kOk, kCheckCycles);
  EXPECT_EQ(declare(), ErrorCode::kOk);
  expect_no_read(ErrorCode::kVariableTorn);
  // It stays torn until it is written whole.
  (void)begin_write();
  expect_no_read(ErrorCode::kVariableTorn);
  EXPECT_EQ(declare(), ErrorCode::kOk);
  expect_no_read(ErrorCode::kVariableTorn);
  (void)begin_write();
  commit();
  EXPECT_EQ(read_place().base, table_bytes());
  EXPECT_EQ(declare(), ErrorCode::kOk);
  EXPECT_EQ(read_place().base, table_bytes());
}

TEST_P(PersistentSramWrites, WhatWasNeverWrittenIsUnwrittenBeforeItIsTorn) {
  put(kIndex, entry_of(table_bytes(), 100, bit(VariableFlag::kTorn)));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  expect_no_read(ErrorCode::kVariableUnwritten);
}

TEST_P(PersistentSramWrites, ADoubleBufferedVariableIsNeverTorn) {
  for (const uint32_t length : {sizes_.port_bytes, sizes_.port_bytes + 1, 3 * sizes_.port_bytes - 1}) {
    const uint32_t first = table_bytes();
    const uint32_t second = first + (length + sizes_.port_bytes - 1) / sizes_.port_bytes * sizes_.port_bytes;
    put_written(first, length, bit(VariableFlag::kDoubleBuffered));
    EXPECT_EQ(declare(), ErrorCode::kOk);
    EXPECT_EQ(read_place().base, first);
    EXPECT_EQ(begin_write().base, second);
    EXPECT_EQ(read_place().base, first);
    EXPECT_EQ(declare(), ErrorCode::kOk);  // without an end of the write
    EXPECT_EQ(read_place().base, first);
    EXPECT_EQ(begin_write().base, second);
    commit();
    EXPECT_EQ(read_place().base, second);
    EXPECT_EQ(begin_write().base, first);
    commit();
    EXPECT_EQ(read_place().base, first);
  }
}

TEST_P(PersistentSramWrites, BothPlacesAreInsideAndTheVariablesOwn) {
  const uint32_t port = sizes_.port_bytes, first = table_bytes(), doubled = bit(VariableFlag::kDoubleBuffered);
  put_written(sizes_.bytes - 3 * port - 1, port + 1, doubled);
  EXPECT_EQ(declare(), ErrorCode::kOk);
  put_written(sizes_.bytes - 3 * port, port + 1, doubled);
  EXPECT_EQ(declare(), ErrorCode::kFaultOutOfBounds);
  // No sum of them comes around to a small one.
  put_written(first + port, 0 - port, 0);
  EXPECT_EQ(declare(), ErrorCode::kFaultOutOfBounds);
  put_written(first + 2 * port, 0 - port, doubled);
  EXPECT_EQ(declare(), ErrorCode::kFaultOutOfBounds);
  // The other one lies before the first place, behind the second, or in the way.
  put_written(first + port, port, doubled);
  put(2, entry_of(first, port, 0));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  put(2, entry_of(first + 3 * port, port, 0));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  put(2, entry_of(first + 3 * port - 1, port, 0));
  EXPECT_EQ(declare(), ErrorCode::kFaultAccessRight);
  put(2, entry_of(first, 1, doubled));
  EXPECT_EQ(declare(), ErrorCode::kFaultAccessRight);
}

// Marks of a place that does not exist mean nothing: the bytes behind it may be another's.
TEST_P(PersistentSramWrites, AVariableOfOnePlaceHasNoSecond) {
  put_written(table_bytes(), 1, bit(VariableFlag::kSecond));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  EXPECT_EQ(read_place().base, table_bytes());
  EXPECT_EQ(begin_write().base, table_bytes());
  commit();
  EXPECT_EQ(read_place().base, table_bytes());
}

// `base` counts 64 bytes there, and nothing of the persistent SRAM's size counts.
TEST_P(PersistentSramWrites, AVariableInDram) {
  const uint32_t dram = bit(VariableFlag::kInDram), doubled = bit(VariableFlag::kDoubleBuffered);
  constexpr uint32_t kBase = 0xfffffffe, kLength = 0xffffffff, kUnits = 0x4000000;
  put_written(kBase, kLength, dram | doubled);
  EXPECT_EQ(declare(), ErrorCode::kOk);
  EXPECT_TRUE(read_place().in_dram);
  EXPECT_EQ(read_place().base, kBase);
  EXPECT_EQ(begin_write().base, uint64_t{kBase} + kUnits);
  commit();
  EXPECT_EQ(read_place().base, uint64_t{kBase} + kUnits);
}

TEST_P(PersistentSramWrites, VariablesOfOneMemoryOnlyOverlap) {
  const uint32_t dram = bit(VariableFlag::kInDram), doubled = bit(VariableFlag::kDoubleBuffered);
  const uint32_t base = table_bytes();
  put_written(base, 65, dram | doubled);  // 4 units
  put(2, entry_of(base, 65, 0));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  put(2, entry_of(base + 4, 1, dram));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  put(2, entry_of(base + 3, 1, dram));
  EXPECT_EQ(declare(), ErrorCode::kFaultAccessRight);
  put(2, entry_of(base - 2, 64, dram | doubled));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  put(2, entry_of(base - 2, 128, dram));
  EXPECT_EQ(declare(), ErrorCode::kOk);
  put(2, entry_of(base - 2, 129, dram));
  EXPECT_EQ(declare(), ErrorCode::kFaultAccessRight);
}

INSTANTIATE_TEST_SUITE_P(Presets, PersistentSramWrites, testing::ValuesIn(built_machines()));

}  // namespace
}  // namespace npu::rtl::test
