// SPDX-License-Identifier: Apache-2.0
// Wrong bits in the persistent SRAM, as commands, the table and the host meet them.
#include "tests/unit/model/variable_bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

class PersistentEccTest : public VariableBench {
 protected:
  PersistentEccTest() {
    set(kVariable, kSram, kWritten);
    set_sram(kSram, memory(0x100));
  }
  void damage(uint32_t address, uint32_t bits = 2) {
    for (uint32_t bit = 0; bit < bits; ++bit) bench.npu.flip_bit(address, 13 + bit);
  }
  uint32_t corrected() { return bench.read(reg::kEccCorrected); }
  uint32_t uncorrectable() { return bench.read(reg::kEccUncorrectable); }
};

INSTANTIATE_TEST_SUITE_P(, PersistentEccTest, ::testing::Values(Mode::kTimed, Mode::kFunctional), name_of_mode);

TEST_P(PersistentEccTest, OneWrongBitIsPutRightByReading) {
  damage(kSram + 17, 1);
  ASSERT_EQ(run(reading()), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000), memory(0x100));
  EXPECT_EQ(corrected(), 1u);
  EXPECT_EQ(uncorrectable(), 0u);
  ASSERT_EQ(run(reading()), ErrorCode::kOk);
  EXPECT_EQ(corrected(), 1u);
}

TEST_P(PersistentEccTest, TwoWrongBitsAreAFaultOfTheReader) {
  damage(kSram + 17);
  EXPECT_EQ(run(reading()), ErrorCode::kFaultEcc);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
  EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
  EXPECT_EQ(bench.read(reg::kFaultQueue), 0u);
  EXPECT_EQ(bench.read(reg::kFaultAddressLo), 16u);
  EXPECT_EQ(uncorrectable(), 1u);
  EXPECT_EQ(bench.read(reg::kEccAddress), kSram + 16);
  Stream engine = declared();
  engine.add(ewise(variable(kVariable), spm(0), kLength));
  EXPECT_EQ(run(engine), ErrorCode::kFaultEcc);
  EXPECT_EQ(bench.read(reg::kFaultQueue), kVpuQueue);
  EXPECT_EQ(bench.vpu->runs, 0);
  EXPECT_EQ(uncorrectable(), 2u);
}

TEST_P(PersistentEccTest, WhatIsNotReadDoesNotMatter) {
  damage(kSram + 40);
  damage(kSram + kLength);  // behind it
  Stream stream = declared();
  stream.add(copy(0, variable(kVariable), dram(0x1000), 40));
  contract::DmaCommand strided = copy(0, variable(kVariable), dram(0x1000), 8);
  strided.count[4] = 4;
  strided.src_stride[4] = strided.dst_stride[4] = 16;  // bytes 0, 16, 32, 48 and seven behind each
  stream.add(strided);
  EXPECT_EQ(run(stream), ErrorCode::kOk);
  EXPECT_EQ(uncorrectable(), 0u);
  strided.src.offset = 8;
  Stream other = declared();
  other.add(strided);
  EXPECT_EQ(run(other), ErrorCode::kFaultEcc);
  EXPECT_EQ(bench.read(reg::kFaultAddressLo), 40u);
}

TEST_P(PersistentEccTest, AWholeWriteMends) {
  damage(kSram + 17);
  damage(kSram + 63);
  Stream write = declared();
  write.add(store(0, 0x200, kLength, true));
  write.add(load(0, 0x1000));
  ASSERT_EQ(run(write), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000), memory(0x200));
  EXPECT_EQ(uncorrectable(), 0u);
}

TEST_P(PersistentEccTest, AWriteOfAPartNeedsTheRest) {
  damage(kSram + 17, 1);
  Stream write = declared();
  write.add(store(0, 0x200, 3, true, 17));
  ASSERT_EQ(run(write), ErrorCode::kOk);
  EXPECT_EQ(corrected(), 1u);
  const std::vector<uint8_t> before = sram(kSram);
  damage(kSram + 17);
  Stream part = declared();
  part.add(store(0, 0x300, 20, true));  // words 0 and 1 whole, half of word 2
  EXPECT_EQ(run(part), ErrorCode::kFaultEcc);
  EXPECT_EQ(bench.read(reg::kFaultAddressLo), 16u);
  EXPECT_EQ(flags(), kWritten);  // nothing was written
  EXPECT_EQ(sram(kSram, 16), std::vector<uint8_t>(before.begin(), before.begin() + 16));
}

TEST_P(PersistentEccTest, AWordBeforeTheVariableCountsAsItsFirst) {
  set(kVariable, kSram + 4, kWritten);
  damage(kSram);
  EXPECT_EQ(run(reading()), ErrorCode::kFaultEcc);
  EXPECT_EQ(bench.read(reg::kFaultAddressLo), 0u);
}

TEST_P(PersistentEccTest, TheTableIsReadWhenAJobBeginsAndDeclares) {
  damage(5 * 16 + 8);
  EXPECT_EQ(run(Stream(small_machine())), ErrorCode::kFaultEcc);
  EXPECT_EQ(bench.read(reg::kFaultOther), 5u);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 0u);
  EXPECT_EQ(bench.read(reg::kFaultQueue), kSequencerQueue);
  EXPECT_EQ(bench.read(reg::kEccAddress), 5u * 16 + 8);
  // Written anew, it is right.
  bench.write(reg::kVarIndex, 5);
  for (uint32_t i = 0; i < 4; ++i) bench.write(reg::kVarWord0 + 4 * i, 0);
  EXPECT_EQ(run(declared()), ErrorCode::kOk);
}

TEST_P(PersistentEccTest, OneWrongBitInTheTableIsPutRight) {
  for (uint32_t index = 0; index < 8; ++index) damage(index * 16, 1);
  EXPECT_EQ(run(reading()), ErrorCode::kOk);
  EXPECT_EQ(corrected(), 8u);
}

// Bits that flip while a job runs are found by the next command that uses the entry.
TEST_P(PersistentEccTest, TheEntryIsReadAtEveryUse) {
  int calls = 0;
  bench.vpu->custom = [&](const engine::Tile&, engine::MemoryView&, bool) {
    ++calls;
    damage(kVariable * 16);
    return engine::TileResult{};
  };
  Stream stream = declared();
  stream.add(ewise(spm(0), spm(0x100), 64));
  stream.add(load(0, 0x1000), {{kVpuQueue, 1}});
  EXPECT_EQ(run(stream), ErrorCode::kFaultEcc);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 3u);
}

TEST_P(PersistentEccTest, ACommitReadsTheEntry) {
  bench.vpu->custom = [&](const engine::Tile&, engine::MemoryView&, bool) {
    damage(kVariable * 16);
    return engine::TileResult{};
  };
  Stream stream = declared();
  contract::VpuEwiseCommand command = ewise(spm(0), variable(kVariable), kLength);
  command.commit = true;
  stream.add(command);
  EXPECT_EQ(run(stream), ErrorCode::kFaultEcc);
  EXPECT_EQ(bench.read(reg::kFaultQueue), kVpuQueue);
  bench.write(reg::kVarIndex, kVariable);
  bench.write(reg::kVarWord0, kSram);  // both halves of the word
  bench.write(reg::kVarWord1, kLength);
  EXPECT_EQ(flags(), kWritten | kWriting);
}

TEST_P(PersistentEccTest, TheHostIsToldByAnErrorResponse) {
  damage(kSram + 17);
  sram(kSram, 16);
  EXPECT_EQ(bench.status, tlm::TLM_OK_RESPONSE);
  sram(kSram + 16, 1);
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(uncorrectable(), 1u);
  const std::vector<uint8_t> one(1, 0x55), whole(kLength, 0x55);
  set_sram(kSram + 16, one);
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(uncorrectable(), 2u);
  set_sram(kSram, whole);
  EXPECT_EQ(bench.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(sram(kSram), whole);
  EXPECT_EQ(bench.status, tlm::TLM_OK_RESPONSE);
}

TEST_P(PersistentEccTest, AnEntryReadByRegistersIsCountedToo) {
  damage(kVariable * 16);
  bench.write(reg::kVarIndex, kVariable);
  static_cast<void>(bench.read(reg::kVarWord0));
  EXPECT_EQ(uncorrectable(), 1u);
  static_cast<void>(bench.read(reg::kVarWord2));
  EXPECT_EQ(uncorrectable(), 1u);
}

TEST_P(PersistentEccTest, ScrubCorrectsWhatItCan) {
  damage(kSram + 17, 1);
  damage(0x800, 1);
  damage(0xff8, 2);
  EXPECT_EQ(bench.read(reg::kPsramScrub), 0u);
  bench.write(reg::kPsramScrub, 1);
  EXPECT_EQ(corrected(), 2u);
  EXPECT_EQ(uncorrectable(), 1u);
  EXPECT_EQ(bench.read(reg::kEccAddress), 0xff8u);
  const uint32_t busy = GetParam() == Mode::kTimed ? reg::kPsramStatusBusyMask : 0;
  EXPECT_EQ(bench.read(reg::kPsramStatus), busy);
  ASSERT_EQ(run(reading()), ErrorCode::kOk);
  bench.expect_identities();
  EXPECT_EQ(bench.read(reg::kPsramStatus), 0u);
  if (GetParam() == Mode::kTimed) {
    EXPECT_GE(bench.counter(kSequencerQueue, contract::Counter::kStalled), 4096u / 16);
  }
  EXPECT_EQ(corrected(), 2u);
}

TEST_P(PersistentEccTest, OnlyAColdResetForgetsTheCounts) {
  damage(kSram, 1);
  ASSERT_EQ(run(reading()), ErrorCode::kOk);
  damage(kSram, 2);
  sram(kSram);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_EQ(corrected(), 1u);
  EXPECT_EQ(uncorrectable(), 1u);
  sram(kSram);
  EXPECT_EQ(uncorrectable(), 2u);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlColdResetMask); });
  EXPECT_EQ(corrected(), 0u);
  EXPECT_EQ(uncorrectable(), 0u);
  EXPECT_EQ(bench.read(reg::kEccAddress), 0u);
  EXPECT_EQ(sram(kSram), std::vector<uint8_t>(kLength, 0));
  EXPECT_EQ(bench.status, tlm::TLM_OK_RESPONSE);
}

TEST_P(PersistentEccTest, BitsBeyondTheMemoryDoNotFlip) {
  bench.npu.flip_bit(4096, 1);
  bench.npu.flip_bit(0, 72);
  bench.write(reg::kPsramScrub, 1);
  EXPECT_EQ(corrected(), 0u);
}

}  // namespace
}  // namespace npu::model::testing
