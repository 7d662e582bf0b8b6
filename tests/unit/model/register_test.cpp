// SPDX-License-Identifier: Apache-2.0
// The host port.
#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;

TEST(RegistersTest, IdentityAndCapabilities) {
  Bench bench;
  EXPECT_EQ(bench.read(reg::kId), 0x544E5055u);
  EXPECT_EQ(bench.read(reg::kContractVersion), contract::kContractMajor << 16 | contract::kContractMinor);
  const contract::Capabilities caps = small_machine();
  EXPECT_EQ(bench.read(reg::kCapsHash), contract::caps_hash(caps));
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    EXPECT_EQ(bench.read(info.register_offset), caps.*info.member) << info.name;
  }
}

TEST(RegistersTest, EveryRegisterOfItsBlocksCanBeReadAndOnlyWritableOnesChange) {
  Bench bench;
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    const bool here = info.block == contract::Block::kId || info.block == contract::Block::kCore;
    if (info.offset == reg::kControl || (info.offset >= reg::kVarWord0 && info.offset <= reg::kVarWord3)) continue;
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.step;
      const uint32_t before = bench.read(offset);
      EXPECT_EQ(bench.status, here ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE) << info.name;
      bench.write(offset, ~before);
      EXPECT_EQ(bench.status, here && info.writable ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE)
          << info.name;
      if (!info.writable || !here) {
        EXPECT_EQ(bench.read(offset), before) << info.name;
      }
    }
  }
  bench.write(reg::kCommandWords, 0x12345678);
  EXPECT_EQ(bench.read(reg::kCommandWords), 0x12345678u);
}

TEST(RegistersTest, ScratchpadIsMappedOutOfReset) {
  Bench bench;
  EXPECT_EQ(bench.read(reg::region_limit(0)), small_machine().spm_bytes);
  EXPECT_EQ(bench.read(reg::region_flags(0)), 3u | static_cast<uint32_t>(contract::Space::kScratchpad) << 4);
}

TEST(RegistersTest, BadAccessesGetErrorResponses) {
  Bench bench;
  uint32_t word = 0;
  bench.transport(tlm::TLM_READ_COMMAND, 0x01c, &word, 4);  // a hole
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  bench.transport(tlm::TLM_READ_COMMAND, contract::kRegisterSpaceBytes, &word, 4);
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  bench.transport(tlm::TLM_READ_COMMAND, reg::kStatus + 1, &word, 4);
  EXPECT_EQ(bench.status, tlm::TLM_BURST_ERROR_RESPONSE);
  bench.transport(tlm::TLM_READ_COMMAND, reg::kStatus, &word, 2);
  EXPECT_EQ(bench.status, tlm::TLM_BURST_ERROR_RESPONSE);
  bench.transport(tlm::TLM_READ_COMMAND, uint64_t{contract::kPsramWindow} + small_machine().psram_bytes - 2, &word, 4);
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  bench.transport(tlm::TLM_READ_COMMAND, ~uint64_t{0} - 3, &word, 4);
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(RegistersTest, SeveralWordsAtOnce) {
  Bench bench;
  std::array<uint32_t, 2> words{0x11111111, 0x22222222};
  bench.transport(tlm::TLM_WRITE_COMMAND, reg::kCommandBaseLo, words.data(), 8);
  EXPECT_EQ(bench.read(reg::kCommandBaseLo), 0x11111111u);
  EXPECT_EQ(bench.read(reg::kCommandBaseHi), 0x22222222u);
  // One of them cannot be written: none is.
  bench.transport(tlm::TLM_WRITE_COMMAND, reg::kEventCapacity, words.data(), 8);
  EXPECT_EQ(bench.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.read(reg::kEventCapacity), 0u);
}

TEST(RegistersTest, VariableTableThroughRegistersAndWindowIsTheSame) {
  Bench bench;
  contract::VariableEntry entry;
  entry.base = 0x200;
  entry.length = 64;
  entry.owner = 7;
  entry.hash = 0xabcdef01;
  bench.set_variable(3, entry);
  bench.write(reg::kVarIndex, 3);
  EXPECT_EQ(bench.read(reg::kVarWord0), 0x200u);
  EXPECT_EQ(bench.read(reg::kVarWord1), 64u);
  EXPECT_EQ(bench.read(reg::kVarWord2), 7u);
  EXPECT_EQ(bench.read(reg::kVarWord3), 0xabcdef01u);
  bench.write(reg::kVarWord1, 32);
  EXPECT_EQ(bench.get_variable(3).length, 32u);
  bench.write(reg::kVarIndex, 1000);  // no such entry
  bench.write(reg::kVarWord0, 1);
  EXPECT_EQ(bench.read(reg::kVarWord0), 0u);
}

TEST(RegistersTest, InterruptIsALevelAndCanBeMasked) {
  Bench bench;
  const Stream stream(small_machine());
  ASSERT_TRUE(bench.run(stream));
  EXPECT_TRUE(bench.irq.read());
  EXPECT_EQ(bench.read(reg::kIrqStatus), 1u);
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusDoneMask | reg::kStatusPoweredMask);
  bench.write(reg::kIrqEnable, 0);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  EXPECT_FALSE(bench.irq.read());
  bench.write(reg::kIrqEnable, 1);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  EXPECT_TRUE(bench.irq.read());
  bench.write(reg::kIrqStatus, 1);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  EXPECT_FALSE(bench.irq.read());
}

TEST(RegistersTest, DebugAccessHasNoSideEffects) {
  Bench bench;
  const Stream stream(small_machine());
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.debug_write(reg::kControl, reg::kControlStartMask), 4u);
  EXPECT_FALSE(bench.npu.running());
}

TEST(RegistersTest, SoftResetStopsAJobAndKeepsPersistentMemory) {
  Bench bench;
  contract::VariableEntry entry;
  entry.base = 0x200;
  entry.length = 64;
  bench.set_variable(0, entry);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 65536));
  bench.write(reg::kIrqStatus, 1);
  bench.start(stream.finish());
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  ASSERT_TRUE(bench.npu.running());
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_FALSE(bench.npu.running());
  EXPECT_EQ(bench.read(reg::kStatus), uint32_t{reg::kStatusPoweredMask});
  EXPECT_FALSE(bench.irq.read());
  EXPECT_EQ(bench.get_variable(0).length, 64u);
  EXPECT_EQ(bench.counter(0, contract::Counter::kBusy), 0u);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), contract::ErrorCode::kOk);

  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlColdResetMask); });
  EXPECT_EQ(bench.get_variable(0).length, 0u);
}

}  // namespace
}  // namespace npu::model::testing
