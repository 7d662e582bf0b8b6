// SPDX-License-Identifier: Apache-2.0
// Variables in the persistent SRAM: declaration, owner, written flag.
#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

constexpr uint32_t kHash = 0x1234;

contract::VariableEntry entry(uint32_t base, uint32_t length, bool written) {
  contract::VariableEntry entry;
  entry.base = base;
  entry.length = length;
  entry.owner = Bench::kOwner;
  entry.flags = written ? 1 : 0;
  entry.hash = kHash;
  return entry;
}

class VariableTest : public ::testing::Test {
 protected:
  VariableTest() {
    bench.set_variable(2, entry(0x400, 64, false));
    bench.set_variable(3, entry(0x440, 64, true));
  }
  ErrorCode run(const Stream& stream, uint32_t epoch) {
    bench.write(reg::kJobEpoch, epoch);
    EXPECT_TRUE(bench.run(stream));
    bench.expect_identities();
    return bench.fault();
  }
  Bench bench;
};

contract::DmaCommand commit(contract::DmaCommand dma) {
  dma.commit = true;
  return dma;
}

TEST_F(VariableTest, WriteThenReadInLaterJob) {
  Stream write(small_machine());
  write.declare(2, kHash);
  write.add(commit(copy(0, dram(0), variable(2), 64)));
  ASSERT_EQ(run(write, 1), ErrorCode::kOk);
  EXPECT_EQ(bench.get_variable(2).flags & 1, 1);
  EXPECT_EQ(bench.get_variable(2).seen_epoch, 1);
  Stream read(small_machine());
  read.declare(2, kHash);
  read.add(copy(0, variable(2), dram(0x1000), 64));
  ASSERT_EQ(run(read, 2), ErrorCode::kOk);
  EXPECT_TRUE(
      std::equal(bench.memory.data.begin(), bench.memory.data.begin() + 64, bench.memory.data.begin() + 0x1000));
  EXPECT_EQ(bench.counter(0, contract::Counter::kPsramRead), 64u);
}

TEST_F(VariableTest, WriteAndReadInOneJobFollowTokens) {
  Stream stream(small_machine());
  stream.declare(2, kHash);
  stream.add(commit(copy(0, dram(0), variable(2), 64)));
  stream.add(copy(1, variable(2), dram(0x1000), 64), {{0, 1}});
  EXPECT_EQ(run(stream, 1), ErrorCode::kOk);
  Stream unordered(small_machine());
  unordered.declare(2, kHash);
  unordered.add(commit(copy(0, dram(0), variable(2), 64)));
  unordered.add(copy(1, variable(2), dram(0x1000), 64));
  EXPECT_EQ(run(unordered, 2), ErrorCode::kFaultHazard);
}

TEST_F(VariableTest, WhatCompletesAWriteComesBehindAllUses) {
  // A part that another queue writes, or a reader of the old value, is to be done when the write is complete.
  for (const bool ordered : {true, false}) {
    for (const bool reads : {true, false}) {
      Stream stream(small_machine());
      stream.declare(3, kHash);
      const uint32_t before =
          stream.add(reads ? copy(0, variable(3, 0), dram(0x1000), 32) : copy(0, dram(0), variable(3, 0), 32));
      const contract::DmaCommand last = commit(copy(1, dram(0), variable(3, 32), 32));
      const uint32_t complete = ordered ? stream.add(last, {{0, 1}}) : stream.add(last);
      EXPECT_EQ(run(stream, 1 + bench.read(reg::kJobEpoch)), ordered ? ErrorCode::kOk : ErrorCode::kFaultHazard);
      if (ordered) continue;
      EXPECT_EQ(bench.read(reg::kFaultCommand), complete);
      EXPECT_EQ(bench.read(reg::kFaultOther), before);
    }
  }
  // And a reader of bytes that were there before comes behind it.
  Stream late(small_machine());
  late.declare(3, kHash);
  late.add(copy(0, dram(0), variable(3, 0), 32));
  late.add(commit(copy(0, dram(0), variable(3, 32), 32)));
  late.add(copy(1, variable(3, 0), dram(0x1000), 32), {{0, 2}});
  EXPECT_EQ(run(late, 1 + bench.read(reg::kJobEpoch)), ErrorCode::kFaultHazard);
}

TEST_F(VariableTest, EnginesReachVariables) {
  Stream stream(small_machine());
  stream.declare(3, kHash);
  stream.declare(2, kHash);
  contract::VpuEwiseCommand command = ewise(variable(3), variable(2), 64);
  command.commit = true;
  stream.add(command);
  ASSERT_EQ(run(stream, 1), ErrorCode::kOk);
  EXPECT_EQ(bench.get_variable(2).flags & 1, 1);
  EXPECT_EQ(bench.counter(kVpuQueue, contract::Counter::kPsramRead), 64u);
  EXPECT_EQ(bench.counter(kVpuQueue, contract::Counter::kPsramWritten), 64u);
}

TEST_F(VariableTest, UnwrittenReadIsUnpredictable) {
  Stream stream(small_machine());
  stream.declare(2, kHash);
  stream.add(copy(0, variable(2), dram(0x1000), 64));
  EXPECT_EQ(run(stream, 1), ErrorCode::kVariableUnwritten);
  EXPECT_EQ(bench.read(reg::kFaultOther), 2u);
  EXPECT_EQ(bench.read(reg::kFaultAddressHi), 15u | 2u << 8);
  // A write without commit does not make it written.
  Stream uncommitted(small_machine());
  uncommitted.declare(2, kHash);
  uncommitted.add(copy(0, dram(0), variable(2), 64));
  uncommitted.add(copy(0, variable(2), dram(0x1000), 64));
  EXPECT_EQ(run(uncommitted, 2), ErrorCode::kVariableUnwritten);
}

TEST_F(VariableTest, DeclarationRules) {
  Stream undeclared(small_machine());
  undeclared.add(copy(0, variable(3), dram(0x1000), 64));
  EXPECT_EQ(run(undeclared, 1), ErrorCode::kVariableUndeclared);
  EXPECT_EQ(bench.read(reg::kFaultOther), 3u);
  Stream twice(small_machine());
  twice.declare(3, kHash);
  twice.declare(3, kHash);
  EXPECT_EQ(run(twice, 2), ErrorCode::kVariableRedeclared);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
  Stream other_hash(small_machine());
  other_hash.declare(3, kHash + 1);
  EXPECT_EQ(run(other_hash, 3), ErrorCode::kVariableMismatch);
  Stream free_entry(small_machine());
  free_entry.declare(5, kHash);
  EXPECT_EQ(run(free_entry, 4), ErrorCode::kFaultBadRegion);
  Stream no_entry(small_machine());
  no_entry.declare(5000, kHash);
  EXPECT_EQ(run(no_entry, 5), ErrorCode::kFaultBadRegion);
  bench.write(reg::kJobOwner, Bench::kOwner + 1);
  Stream foreign(small_machine());
  foreign.declare(3, kHash);
  EXPECT_EQ(run(foreign, 6), ErrorCode::kFaultAccessRight);
}

TEST_F(VariableTest, OneDeclarationServesAllJobsOfAnExecution) {
  Stream declare(small_machine());
  declare.declare(3, kHash);
  ASSERT_EQ(run(declare, 1), ErrorCode::kOk);
  Stream read(small_machine()), write(small_machine());
  read.add(copy(0, variable(3), dram(0x1000), 64));
  write.add(copy(0, dram(0), variable(3), 64));
  EXPECT_EQ(run(read, 1), ErrorCode::kOk);  // a nested body: same epoch
  EXPECT_EQ(run(write, 1), ErrorCode::kOk);
  EXPECT_EQ(run(write, 2), ErrorCode::kVariableUndeclared);
  // Epochs wrap around at 256; an old declaration must not come back.
  for (uint32_t epoch = 3; epoch <= 256; ++epoch) ASSERT_EQ(run(Stream(small_machine()), epoch), ErrorCode::kOk);
  EXPECT_EQ(run(write, 257), ErrorCode::kVariableUndeclared);
}

// The table remembers them when nothing is seen any more.
TEST_F(VariableTest, AnEarlierExecutionsDeclarationIsEnoughToRead) {
  Stream declare(small_machine()), read(small_machine());
  declare.declare(3, kHash);
  read.add(copy(0, variable(3), dram(0x1000), 64));
  EXPECT_EQ(run(read, 1), ErrorCode::kVariableUndeclared);
  ASSERT_EQ(run(declare, 2), ErrorCode::kOk);
  EXPECT_EQ(run(read, 3), ErrorCode::kOk);
  EXPECT_EQ(run(read, 200), ErrorCode::kOk);
  // Without the end of a write that an execution before began there is nothing to read.
  Stream begins(small_machine());
  begins.declare(3, kHash);
  begins.add(copy(0, dram(0), variable(3), 64));
  ASSERT_EQ(run(begins, 201), ErrorCode::kOk);
  EXPECT_EQ(run(read, 202), ErrorCode::kVariableTorn);
}

TEST_F(VariableTest, BoundsOfAVariable) {
  Stream stream(small_machine());
  stream.declare(3, kHash);
  stream.add(copy(0, variable(3, 1), dram(0x1000), 64));
  EXPECT_EQ(run(stream, 1), ErrorCode::kFaultOutOfBounds);
  bench.set_variable(3, entry(4096 - 32, 64, true));  // beyond the SRAM
  Stream declare(small_machine());
  declare.declare(3, kHash);
  EXPECT_EQ(run(declare, 2), ErrorCode::kFaultOutOfBounds);
  bench.set_variable(3, entry(0x40, 64, true));  // in the table
  EXPECT_EQ(run(declare, 3), ErrorCode::kFaultOutOfBounds);
  bench.set_variable(3, entry(0x420, 64, true));  // in variable 2
  EXPECT_EQ(run(declare, 4), ErrorCode::kFaultAccessRight);
}

}  // namespace
}  // namespace npu::model::testing
