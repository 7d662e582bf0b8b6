// SPDX-License-Identifier: Apache-2.0
// Registers between host and firmware, and what the host reaches of the chip.
#include "tests/firmware/cpu/bench.h"

namespace npu::model::testing {
namespace {

constexpr auto kRead = tlm::TLM_READ_COMMAND;
constexpr auto kWrite = tlm::TLM_WRITE_COMMAND;
constexpr auto kOk = tlm::TLM_OK_RESPONSE;
constexpr auto kAddressError = tlm::TLM_ADDRESS_ERROR_RESPONSE;

TEST(Mailbox, PhaseRecordsGoAroundTheirBuffer) {
  Bench bench;
  bench.write(reg::kPhaseBaseLo, 0x1000);
  bench.write(reg::kPhaseCapacity, 3);
  ASSERT_TRUE(bench.start("phases"));
  EXPECT_EQ(bench.read(reg::kPhaseCount), 5u);
  std::vector<contract::PhaseRecord> records;
  for (uint32_t n = 2; n < 5; ++n) {  // the last three; 0 and 1 are overwritten
    records.push_back(contract::PhaseRecord::load(&bench.dram().data[0x1000 + n % 3 * contract::PhaseRecord::kBytes]));
    EXPECT_EQ(records.back().id, 1u);
    EXPECT_EQ(records.back().argument, 7 + n);
  }
  EXPECT_LT(records[0].time, records[1].time);
  EXPECT_EQ(records[2].time - records[1].time, records[1].time - records[0].time);  // turns of one loop
  EXPECT_EQ(bench.result(0), 0x000b01u);
  bench.hold();
  bench.release();
  EXPECT_EQ(bench.read(reg::kPhaseCount), 0u);
}

TEST(Mailbox, FirmwareWritesItsRegistersOnly) {
  Bench bench;
  bench.write(reg::kHostIrqEnable, reg::kHostIrqStatusFirmwareMask);
  bench.write(reg::kAdminRingLo, 0x4000);
  ASSERT_TRUE(bench.start("phases"));
  EXPECT_EQ(bench.read(reg::kPhaseCount), 0u);  // no buffer, no records
  EXPECT_EQ(bench.read(reg::kFirmwareVersion), 0x010002u);
  EXPECT_EQ(bench.read(reg::kFirmwareChecksum), 0xabcdu);
  EXPECT_EQ(bench.read(reg::kFirmwareState), 2u);
  EXPECT_EQ(bench.read(reg::kHostIrqStatus), reg::kHostIrqStatusFirmwareMask);
  EXPECT_TRUE(bench.irq());
  EXPECT_EQ(bench.result(1), 0x4000u);
  EXPECT_EQ(bench.result(2), 0x77u);
  EXPECT_EQ(bench.result(3), reg::kCpuStatusRunningMask);
  uint32_t word = 7;  // read-only for the host
  EXPECT_EQ(bench.transport(tlm::TLM_WRITE_COMMAND, reg::kFirmwareState, &word, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.read(reg::kFirmwareState), 2u);
}

TEST(Mailbox, LosesInterruptsWhenAsked) {
  Bench bench;
  bench.write(reg::kHostIrqEnable, ~0u);
  ASSERT_TRUE(bench.start("echo"));
  bench.write(reg::kTestDropInterrupts, 2);
  for (uint32_t i = 1; i <= 3; ++i) {
    bench.write(reg::kDoorbell, 1);
    bench.run_us(5);
    EXPECT_EQ(bench.result(0), i);
    EXPECT_EQ(bench.irq(), i == 3);
    EXPECT_EQ(bench.read(reg::kTestDropInterrupts), i >= 2 ? 0 : 2 - i);
  }
}

TEST(Mailbox, AColdResetDisarmsTheHooks) {
  Bench bench;
  const auto hang = [&] { return bench.read(reg::kTestHang) & reg::kTestHangEnableMask; };
  bench.write(reg::kTestHangCommand, 12);
  bench.write(reg::kTestHang, 8u << reg::kTestHangQueueLsb | reg::kTestHangEnableMask);
  bench.write(reg::kTestBrownout, 5);
  bench.write(reg::kTestBusError, 6);
  bench.write(reg::kTestDropInterrupts, 2);
  bench.write(reg::kCpuControl, reg::kCpuControlResetCoreMask);
  EXPECT_EQ(hang(), 1u);
  EXPECT_EQ(bench.read(reg::kTestBrownout), 5u);
  EXPECT_EQ(bench.read(reg::kTestBusError), 6u);
  EXPECT_EQ(bench.read(reg::kTestDropInterrupts), 2u);
  bench.write(reg::kCpuControl, reg::kCpuControlResetAllMask);
  EXPECT_EQ(hang(), 0u);
  EXPECT_EQ(bench.read(reg::kTestBrownout), 0u);
  EXPECT_EQ(bench.read(reg::kTestBusError), 0u);
  EXPECT_EQ(bench.read(reg::kTestDropInterrupts), 0u);
  bench.write(reg::kTestHangCommand, 13);  // alone arms nothing
  EXPECT_EQ(hang(), 0u);
  EXPECT_FALSE(bench.chip().npu().hang_armed());
}

TEST(Mailbox, DeviceTimeIsLatched) {
  Bench bench;
  bench.run(sc_time(50, sc_core::SC_SEC));
  const uint64_t cycles = sc_core::sc_time_stamp().value() / bench.device_period().value();
  ASSERT_GT(cycles >> 32, 0u);
  EXPECT_EQ(bench.read(reg::kTimeHi), 0u);
  uint32_t value = 0;
  EXPECT_EQ(bench.debug(kRead, reg::kTimeLo, &value, 4), 4u);
  EXPECT_EQ(bench.read(reg::kTimeHi), 0u);  // looking at it without side effects latches nothing
  EXPECT_EQ(bench.read(reg::kTimeLo), static_cast<uint32_t>(cycles));
  EXPECT_EQ(bench.read(reg::kTimeHi), cycles >> 32);
}

TEST(Mailbox, ForwardsTheHang) {
  Bench bench;
  bench.write(reg::kTestHangCommand, 12);
  bench.write(reg::kTestHang, 8u << reg::kTestHangQueueLsb | reg::kTestHangEnableMask);
  EXPECT_TRUE(bench.chip().npu().hang_armed());
  EXPECT_EQ(bench.read(reg::kTestHang), 0x801u);
  bench.write(reg::kTestHang, 8u << reg::kTestHangQueueLsb);
  EXPECT_FALSE(bench.chip().npu().hang_armed());
  EXPECT_EQ(bench.read(reg::kTestHang), 0x800u);
}

TEST(Chip, HostSeesItsBlocksOnly) {
  Bench bench;
  EXPECT_EQ(bench.read(reg::kId), reg::kIdReset);
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    EXPECT_EQ(bench.read(info.register_offset), bench.caps().*info.member) << info.register_offset;
  }
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    const bool own = info.block == contract::Block::kId || info.block == contract::Block::kMailbox;
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.step;
      uint32_t value = 0;
      EXPECT_EQ(bench.transport(kRead, offset, &value, 4), own ? kOk : kAddressError) << info.name;
      EXPECT_EQ(bench.debug(kRead, offset, &value, 4), own ? 4u : 0u) << info.name;
      if (own) continue;
      EXPECT_EQ(bench.transport(kWrite, offset, &value, 4), kAddressError) << info.name;
    }
  }
  uint32_t value = 0;
  EXPECT_EQ(bench.transport(kRead, reg::kId + 2, &value, 4), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(bench.transport(kRead, reg::kDoorbell, &value, 2), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(bench.transport(kRead, contract::kRegisterSpaceBytes, &value, 4), kAddressError);
  EXPECT_EQ(bench.transport(kRead, contract::kRegisterSpaceBytes - 4, &value, 4), kAddressError);
}

TEST(Chip, Windows) {
  Bench bench;
  const uint32_t table = bench.caps().var_entries * contract::VariableEntry::kBytes;
  std::array<uint32_t, 2> pair{0x11223344, 0x55667788};
  const auto at = [&](tlm::tlm_command command, uint64_t address) {
    return bench.transport(command, address, pair.data(), 8);
  };
  EXPECT_EQ(at(kWrite, contract::kPsramWindow + table), kOk);
  EXPECT_EQ(at(kWrite, contract::kPsramWindow + table - 4), kAddressError);
  EXPECT_EQ(at(kWrite, contract::kPsramWindow), kAddressError);
  EXPECT_EQ(at(kRead, contract::kPsramWindow), kOk);
  EXPECT_EQ(at(kWrite, contract::kPsramWindow + bench.caps().psram_bytes - 4), kAddressError);
  pair = {0x00000013, 0xffdff06f};  // nop; back to it
  EXPECT_EQ(at(kWrite, contract::kCodeWindow), kOk);
  EXPECT_EQ(at(kWrite, contract::kCodeWindow + contract::kCpuCodeBytes - 4), kAddressError);
  EXPECT_EQ(at(kRead, contract::kCodeWindow), kAddressError);
  EXPECT_EQ(bench.debug(kRead, contract::kCodeWindow, pair.data(), 8), 8u);
  EXPECT_EQ(pair[1], 0xffdff06fu);
  EXPECT_EQ(at(kRead, contract::kDataWindow), kOk);
  EXPECT_EQ(at(kWrite, contract::kDataWindow), kAddressError);
  EXPECT_EQ(at(kRead, contract::kDataWindow + contract::kCpuDataBytes - 4), kAddressError);
  bench.release();
  bench.run_us(1);
  EXPECT_TRUE(bench.cpu().running());
  EXPECT_EQ(at(kWrite, contract::kCodeWindow), kAddressError);  // it runs
}

TEST(Chip, ResetsTheCore) {
  Bench bench;
  uint32_t word = 0xabcd;
  const uint64_t variable = uint64_t{contract::kPsramWindow} + 1024;
  const auto kept = [&] {
    EXPECT_EQ(bench.transport(kRead, variable, &word, 4), kOk);
    return word;
  };
  ASSERT_EQ(bench.transport(kWrite, variable, &word, 4), kOk);
  bench.write(reg::kCpuControl, reg::kCpuControlResetCoreMask);
  EXPECT_EQ(kept(), 0xabcdu);
  bench.write(reg::kCpuControl, reg::kCpuControlRunMask | reg::kCpuControlResetAllMask);  // only in reset
  EXPECT_EQ(kept(), 0xabcdu);
  EXPECT_EQ(bench.read(reg::kCpuControl), reg::kCpuControlRunMask);
  bench.write(reg::kCpuControl, reg::kCpuControlResetAllMask);
  EXPECT_EQ(bench.read(reg::kCpuControl), 0u);
  EXPECT_EQ(kept(), 0u);
}

TEST(Chip, CoreInterruptsTheCpu) {
  Bench bench;
  ASSERT_TRUE(bench.start("core_irq"));
  bench.run_us(20);
  EXPECT_EQ(bench.result(0), reg::kInterruptPendingCoreMask);
  EXPECT_EQ(bench.result(1) & reg::kStatusFaultMask, reg::kStatusFaultMask);  // a job of no commands
  EXPECT_EQ(bench.result(2), 0u);
}

}  // namespace
}  // namespace npu::model::testing
