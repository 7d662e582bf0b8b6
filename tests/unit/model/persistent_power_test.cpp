// SPDX-License-Identifier: Apache-2.0
// Power of the persistent SRAM: states, loss, and power that breaks down in the middle of a write.
#include "tests/unit/model/variable_bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

class PersistentPowerTest : public VariableBench {
 protected:
  static constexpr uint32_t kOn = 0, kRetention = 1, kOff = 2;
  static constexpr uint64_t kClearCycles = 4096 / 16;

  PersistentPowerTest() {
    set(kVariable, kSram, kWritten);
    set_sram(kSram, memory(0x100));
  }
  void power(uint32_t state) {
    bench.write(reg::kPsramPower, state);
    EXPECT_EQ(bench.read(reg::kPsramPower), state);
  }
  bool lost() { return (bench.read(reg::kPsramStatus) & reg::kPsramStatusLostMask) != 0; }
  bool busy() { return (bench.read(reg::kPsramStatus) & reg::kPsramStatusBusyMask) != 0; }
  uint64_t stalled() { return bench.counter(kSequencerQueue, contract::Counter::kStalled); }
  bool powered() { return (bench.read(reg::kStatus) & reg::kStatusPoweredMask) != 0; }
};

INSTANTIATE_TEST_SUITE_P(, PersistentPowerTest, ::testing::Values(Mode::kTimed, Mode::kFunctional), name_of_mode);

TEST_P(PersistentPowerTest, RetentionKeepsWhatNobodyCanReach) {
  EXPECT_EQ(bench.read(reg::kPsramPower), kOn);
  power(kRetention);
  sram(kSram);
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  set_sram(kSram, {1, 2, 3, 4});
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  bench.write(reg::kVarIndex, kVariable);
  EXPECT_EQ(bench.read(reg::kVarWord1), 0u);
  bench.write(reg::kVarWord1, 99);
  bench.start(reading().finish());
  EXPECT_FALSE(bench.npu.running());
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultPower);
  power(kOn);
  EXPECT_FALSE(lost());
  EXPECT_FALSE(busy());
  EXPECT_EQ(bench.read(reg::kVarWord1), kLength);
  ASSERT_EQ(run(reading()), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000), memory(0x100));
}

TEST_P(PersistentPowerTest, ALossMayBeAcknowledgedWhilePowerIsOff) {
  power(kOff);
  bench.write(reg::kPsramStatus, reg::kPsramStatusLostMask);
  EXPECT_FALSE(lost());
  power(kOn);
  EXPECT_FALSE(lost());
  set(kVariable, kSram, kWritten);
  EXPECT_EQ(run(reading()), ErrorCode::kOk);
}

TEST_P(PersistentPowerTest, OffLosesEverything) {
  bench.npu.flip_bit(kSram, 0);
  power(kOff);
  EXPECT_TRUE(lost());
  power(kRetention);  // of nothing
  power(kOn);
  EXPECT_EQ(busy(), GetParam() == Mode::kTimed);
  EXPECT_EQ(sram(0, 4096), std::vector<uint8_t>(4096, 0));
  EXPECT_EQ(bench.read(reg::kEccCorrected), 0u);
  EXPECT_TRUE(lost());
  set(kVariable, kSram, kWritten);
  EXPECT_EQ(run(reading()), ErrorCode::kPowerLost);
  EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
  bench.write(reg::kPsramStatus, 0);
  EXPECT_TRUE(lost());
  bench.write(reg::kPsramStatus, reg::kPsramStatusLostMask);
  EXPECT_FALSE(lost());
  EXPECT_EQ(run(reading()), ErrorCode::kOk);
}

TEST_P(PersistentPowerTest, ClearingItselfMendsWhatWentWrongMeanwhile) {
  power(kOff);
  bench.npu.flip_bit(kSram, 0);
  bench.npu.flip_bit(kSram, 1);
  power(kRetention);
  bench.npu.flip_bit(0, 5);
  power(kOn);
  EXPECT_EQ(sram(0, 4096), std::vector<uint8_t>(4096, 0));
  EXPECT_EQ(bench.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.read(reg::kEccCorrected), 0u);
  EXPECT_EQ(bench.read(reg::kEccUncorrectable), 0u);
}

TEST_P(PersistentPowerTest, JobsWithoutVariablesDoNotCareForTheLoss) {
  power(kOff);
  power(kOn);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 64));
  EXPECT_EQ(run(stream), ErrorCode::kOk);
}

TEST_P(PersistentPowerTest, AJobWaitsUntilTheMemoryHasClearedItself) {
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 64));
  ASSERT_EQ(run(stream), ErrorCode::kOk);
  const uint64_t cycles = bench.job_cycles(), before = stalled();
  power(kOff);
  power(kOn);
  ASSERT_EQ(run(stream), ErrorCode::kOk);
  bench.expect_identities();
  EXPECT_FALSE(busy());
  if (GetParam() == Mode::kTimed) {
    EXPECT_GE(bench.job_cycles(), kClearCycles);
    EXPECT_LE(bench.job_cycles(), kClearCycles + cycles);
    EXPECT_GE(stalled(), kClearCycles);
    EXPECT_LE(stalled(), kClearCycles + before);
  }
  ASSERT_EQ(run(stream), ErrorCode::kOk);
  EXPECT_EQ(bench.job_cycles(), cycles);
}

TEST_P(PersistentPowerTest, ALimitAndAResetEndTheWait) {
  if (GetParam() != Mode::kTimed) return;  // nothing waits
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 64));
  power(kOff);
  power(kOn);
  bench.write64(reg::kCycleLimitLo, 50);
  EXPECT_EQ(run(stream), ErrorCode::kFaultTimeout);
  EXPECT_LT(bench.job_cycles(), kClearCycles);
  bench.write64(reg::kCycleLimitLo, 0);
  power(kOff);
  power(kOn);
  bench.start(stream.finish());
  EXPECT_TRUE(bench.npu.running());
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_FALSE(bench.npu.running());
}

TEST_P(PersistentPowerTest, IsLeftAloneWhileAJobRuns) {
  if (GetParam() != Mode::kTimed) return;  // its jobs are over before anybody can write
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 32768));
  bench.start(stream.finish());
  ASSERT_TRUE(bench.npu.running());
  bench.write(reg::kPsramPower, kOff);
  EXPECT_EQ(bench.read(reg::kPsramPower), kOn);
  bench.npu.flip_bit(kSram, 0);
  bench.write(reg::kPsramScrub, 1);
  EXPECT_EQ(bench.read(reg::kEccCorrected), 0u);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(sram(kSram), memory(0x100));
}

TEST_P(PersistentPowerTest, ThereIsNoFourthState) {
  bench.write(reg::kPsramPower, 3);
  EXPECT_EQ(bench.read(reg::kPsramPower), kOn);
  EXPECT_EQ(bench.debug_write(reg::kPsramPower, kOff), 4u);
  EXPECT_EQ(bench.read(reg::kPsramPower), kOn);
}

TEST_P(PersistentPowerTest, ResetsKeepOrRestore) {
  power(kRetention);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_EQ(bench.read(reg::kPsramPower), kRetention);
  power(kOn);
  EXPECT_EQ(sram(kSram), memory(0x100));
  power(kOff);
  bench.npu.brown_out(5);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_TRUE(lost());
  EXPECT_EQ(bench.read(reg::kPsramPower), kOff);
  EXPECT_EQ(bench.npu.brown_out_left(), 5u);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlColdResetMask); });
  EXPECT_FALSE(lost());
  EXPECT_FALSE(busy());
  EXPECT_EQ(bench.read(reg::kPsramPower), kOn);
  EXPECT_EQ(bench.npu.brown_out_left(), 0u);
}

TEST_P(PersistentPowerTest, EnginePowerIsApart) {
  bench.write(reg::kEnginePower, 0);
  EXPECT_EQ(sram(kSram), memory(0x100));
  power(kRetention);
  bench.write(reg::kEnginePower, 1);
  EXPECT_EQ(bench.read(reg::kPsramPower), kRetention);
}

// Wherever power breaks down in a write by DMA: bytes before it are new, bytes behind it are old, and it is torn.
TEST_P(PersistentPowerTest, ABrownOutLeavesTheFirstBytes) {
  for (const bool in_dram : {false, true}) {
    for (const uint32_t bytes : {1u, 7u, 8u, 33u, 63u, 64u}) {
      set(kVariable, in_dram ? kDram / 64 : kSram, in_dram ? kWritten | kInDram : kWritten);
      set_sram(kSram, std::vector<uint8_t>(kLength, 0xee));
      std::fill_n(bench.memory.data.begin() + kDram, kLength, 0xee);
      bench.npu.brown_out(bytes);
      Stream stream = declared();
      stream.add(store(0, 0x200, kLength, true));
      ASSERT_EQ(run(stream), ErrorCode::kFaultPower) << bytes;
      bench.expect_cycles_add_up();
      EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
      EXPECT_EQ(bench.read(reg::kFaultQueue), 0u);
      EXPECT_FALSE(powered());
      EXPECT_EQ(bench.npu.brown_out_left(), 0u);
      std::vector<uint8_t> expected = memory(0x200);
      std::fill(expected.begin() + bytes, expected.end(), 0xee);
      EXPECT_EQ(in_dram ? memory(kDram) : sram(kSram), expected);
      EXPECT_EQ(flags(), kWritten | kWriting | (in_dram ? kInDram : 0));
      EXPECT_EQ(run(reading()), ErrorCode::kFaultPower);  // it was not switched on again
      bench.write(reg::kEnginePower, 1);
      sc_core::sc_start(2, sc_core::SC_US);
      EXPECT_EQ(run(reading()), ErrorCode::kVariableTorn);
    }
  }
}

TEST_P(PersistentPowerTest, ABrownOutCountsFromJobToJob) {
  bench.npu.brown_out(kLength + 10);
  Stream stream = declared();
  stream.add(copy(1, dram(0), dram(0x2000), 500));  // no variable
  stream.add(store(0, 0x200, kLength, true), {{1, 1}});
  ASSERT_EQ(run(stream), ErrorCode::kOk);
  EXPECT_EQ(bench.npu.brown_out_left(), 10u);
  EXPECT_EQ(sram(kSram), memory(0x200));
  Stream second = declared();
  second.add(store(0, 0x340, kLength, true));
  EXPECT_EQ(run(second), ErrorCode::kFaultPower);
  std::vector<uint8_t> expected = memory(0x340, 10), rest = memory(0x200 + 10, kLength - 10);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_NE(memory(0x200), memory(0x340));
  EXPECT_EQ(sram(kSram), expected);
}

// What an aborted command wrote over is no part of the next one, which began before the hook was armed.
TEST_P(PersistentPowerTest, AnAbortedWriteIsForgotten) {
  if (GetParam() != Mode::kTimed) return;  // nothing is in the middle of anything
  constexpr uint32_t kLong = 2048;
  set(kVariable, kSram, kWritten, kLong);
  set(3, kSram + kLong, 0);
  bench.npu.brown_out(kLong + 1);
  Stream aborted = declared({kVariable, 3});
  aborted.add(store(0, 0x4040, kLong, true));
  aborted.add(copy(1, dram(0), spm(0), 64));
  aborted.add(copy(1, variable(3), dram(0x1000), 4), {{1, 1}});
  ASSERT_EQ(run(aborted), ErrorCode::kVariableUnwritten);
  ASSERT_EQ(flags(), kWritten | kWriting);  // it was in the middle
  EXPECT_EQ(bench.npu.brown_out_left(), kLong + 1);
  bench.npu.brown_out(0);
  Stream next = declared();
  next.add(store(0, 0x6080, kLong, true));
  bench.write(reg::kJobEpoch, ++epoch);
  bench.start(next.finish());
  // In the middle of it: its mark is set.
  const auto writes = [&] {
    return (bench.read(reg::queue_state(0)) & reg::kQueueStateExecutingMask) != 0 && (flags() & kWriting) != 0;
  };
  while (bench.npu.running() && !writes()) sc_core::sc_start(10, sc_core::SC_NS);
  ASSERT_TRUE(bench.npu.running());
  bench.npu.brown_out(10);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_EQ(bench.npu.brown_out_left(), 10u);
  EXPECT_EQ(sram(kSram, kLong), memory(0x6080, kLong));
  // Its own write is cut where it was told.
  Stream last = declared();
  last.add(store(0, 0x80c0, kLong, true));
  EXPECT_EQ(run(last), ErrorCode::kFaultPower);
  std::vector<uint8_t> expected = memory(0x80c0, 10), rest = memory(0x6080 + 10, kLong - 10);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(sram(kSram, kLong), expected);
}

TEST_P(PersistentPowerTest, ABrownOutStopsEngines) {
  Stream load(small_machine());
  load.add(copy(0, dram(0x240), spm(0), kLength));
  ASSERT_EQ(run(load), ErrorCode::kOk);
  bench.npu.brown_out(20);
  Stream stream = declared();
  contract::VpuEwiseCommand command = ewise(spm(0), variable(kVariable), kLength);
  command.commit = true;
  stream.add(command);
  ASSERT_EQ(run(stream), ErrorCode::kFaultPower);
  EXPECT_EQ(bench.read(reg::kFaultQueue), kVpuQueue);
  std::vector<uint8_t> expected = memory(0x240, 20), rest = memory(0x100 + 20, kLength - 20);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(sram(kSram), expected);
  EXPECT_EQ(flags(), kWritten | kWriting);
  bench.write(reg::kEnginePower, 1);
  sc_core::sc_start(2, sc_core::SC_US);
  EXPECT_EQ(bench.dump_scratchpad(0, kLength), std::vector<uint8_t>(kLength, Scratchpad::kPoison));
}

TEST_P(PersistentPowerTest, OfTwoPlacesABrownOutLeavesTheOldValue) {
  set(kVariable, kSram, kWritten | kDouble);
  bench.npu.brown_out(kLength);
  Stream stream = declared();
  stream.add(store(0, 0x240, kLength, true));
  ASSERT_EQ(run(stream), ErrorCode::kFaultPower);
  bench.write(reg::kEnginePower, 1);
  sc_core::sc_start(2, sc_core::SC_US);
  ASSERT_EQ(run(reading()), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000), memory(0x100));
  EXPECT_EQ(flags(), kWritten | kDouble);
}

}  // namespace
}  // namespace npu::model::testing
