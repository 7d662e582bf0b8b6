// SPDX-License-Identifier: Apache-2.0
// What stops the CPU, what is kept then, and reset.
#include "tests/firmware/cpu/bench.h"

namespace npu::model::testing {

using contract::CpuStop;

TEST(CpuStopped, TrapWithoutVector) {
  Bench bench;
  bench.write(reg::kHostIrqEnable, reg::kHostIrqStatusCpuStoppedMask);
  ASSERT_TRUE(bench.start("stop_no_vector"));
  EXPECT_EQ(bench.status(), reg::kCpuStatusStoppedMask | static_cast<uint32_t>(CpuStop::kTrap) << 8);
  EXPECT_EQ(bench.read(reg::kStopCause), 5u);
  EXPECT_EQ(bench.read(reg::kStopValue), 0x40000004u);
  EXPECT_EQ(bench.read(reg::stop_register(10)), 0x1234u);
  EXPECT_EQ(bench.read(reg::stop_register(11)), 0x40000004u);
  // The program counter is at the load.
  uint16_t half = 0;
  ASSERT_EQ(bench.debug(tlm::TLM_READ_COMMAND, contract::kCodeWindow + bench.read(reg::kStopPc), &half, 2), 2u);
  EXPECT_EQ(half, 0x4188u);  // c.lw a0, 0(a1)
  EXPECT_TRUE(bench.irq());
  EXPECT_EQ(bench.read(reg::kHostIrqStatus), reg::kHostIrqStatusCpuStoppedMask);
  const uint64_t retired = bench.cpu().retired();
  bench.write(reg::kDoorbell, 1);
  bench.run_us(100);
  EXPECT_EQ(bench.cpu().retired(), retired);
}

TEST(CpuStopped, TrapInTheTrapHandler) {
  Bench bench;
  ASSERT_TRUE(bench.start("stop_nested"));
  EXPECT_EQ(bench.stop_reason(), CpuStop::kTrap);
  EXPECT_EQ(bench.read(reg::kStopCause), 7u);
  EXPECT_EQ(bench.read(reg::kStopValue), 0x50000000u);
  EXPECT_EQ(bench.results(4), (std::vector<uint32_t>{11, 11, 11, 0}));
}

TEST(CpuStopped, HandlerGivesUp) {
  Bench bench;
  ASSERT_TRUE(bench.start("stop_in_interrupt"));
  EXPECT_EQ(bench.stop_reason(), CpuStop::kFirmware);
  EXPECT_EQ(bench.result(0), 0x80000007u);
  EXPECT_EQ(bench.result(1), 2u);
  EXPECT_EQ(bench.read(reg::kStopCause), 2u);
  EXPECT_EQ(bench.read(reg::kStopValue), 0xffffffffu);
  EXPECT_EQ(bench.read(reg::kStopPc), bench.result(2));  // where it trapped, not where it gave up
}

TEST(CpuStopped, Watchdog) {
  Bench bench;
  bench.load("watchdog");
  bench.release();
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.result(0), 5000u);
  ASSERT_TRUE(bench.cpu().waiting());  // longer than the watchdog is long
  const sc_time began = sc_core::sc_time_stamp();
  while (bench.cpu().waiting()) bench.run_us(1);
  EXPECT_GT(sc_core::sc_time_stamp() - began, 9000 * bench.device_period());
  ASSERT_TRUE(bench.cpu().running());
  const sc_time woke = sc_core::sc_time_stamp();
  while (bench.cpu().running()) bench.run_us(0.1);
  const sc_time lasted = sc_core::sc_time_stamp() - woke;
  EXPECT_GT(lasted, 5000 * bench.device_period() - sc_time(1.2, sc_core::SC_US));
  EXPECT_LE(lasted, 5000 * bench.device_period() + sc_time(0.2, sc_core::SC_US));
  EXPECT_EQ(bench.stop_reason(), CpuStop::kWatchdog);
  EXPECT_EQ(bench.read(reg::kStopCause), 0u);
  EXPECT_EQ(bench.read(reg::stop_register(18)), 0x5a5a5a5au);
  EXPECT_EQ(bench.read(reg::kHostIrqStatus), reg::kHostIrqStatusCpuStoppedMask);
}

TEST(CpuStopped, ResetBringsItBack) {
  Bench bench;
  ASSERT_TRUE(bench.start("stop_no_vector"));
  bench.write(reg::kHostIrqStatus, ~0u);
  bench.hold();
  EXPECT_EQ(bench.status() & 0xff, 0u);
  EXPECT_NE(bench.read(reg::kStopPc), 0u);  // kept until it runs again
  ASSERT_TRUE(bench.start("hello"));
  EXPECT_EQ(bench.status(), reg::kCpuStatusRunningMask | reg::kCpuStatusWaitingMask);
  EXPECT_EQ(bench.result(0), reg::kIdReset);
  EXPECT_EQ(bench.read(reg::kStopPc), 0u);
  EXPECT_EQ(bench.read(reg::stop_register(10)), 0u);
}

TEST(CpuStopped, ResetOfARunningCpu) {
  Bench bench;
  bench.load("spin");
  bench.release();
  bench.run_us(3);
  const uint32_t count = bench.result(0);
  EXPECT_GT(count, 100u);
  bench.hold();
  bench.run_us(3);
  EXPECT_LE(bench.result(0), count + 1);
  EXPECT_EQ(bench.status(), 0u);
  ASSERT_TRUE(bench.start("hello"));
  EXPECT_EQ(bench.result(0), reg::kIdReset);
  // Held and released at one moment: starts anew, from the beginning.
  bench.hold();
  bench.load("spin");
  bench.release();
  bench.run_us(10);
  const uint32_t before = bench.result(0);
  bench.hold();
  bench.release();
  EXPECT_EQ(bench.read64(reg::kCpuRetiredLo), 0u);
  bench.run_us(1);
  EXPECT_LT(bench.result(0), before);
  EXPECT_GT(bench.result(0), 1u);
}

TEST(CpuStopped, ResetClearsPeripherals) {
  Bench bench;
  ASSERT_TRUE(bench.start("phases"));
  EXPECT_EQ(bench.read(reg::kFirmwareState), 2u);
  bench.write(reg::kDoorbell, 1);
  bench.hold();
  EXPECT_EQ(bench.read(reg::kFirmwareState), 0u);
  EXPECT_EQ(bench.read(reg::kFirmwareVersion), 0u);
  EXPECT_EQ(bench.read(reg::kFirmwareChecksum), 0u);
  bench.write(reg::kDoorbell, 2);  // the stopped CPU does not hear it
  ASSERT_TRUE(bench.start("echo"));
  bench.run_us(10);
  EXPECT_EQ(bench.result(0), 0u);
  EXPECT_TRUE(bench.cpu().waiting());
}

}  // namespace npu::model::testing
