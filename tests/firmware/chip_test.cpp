// SPDX-License-Identifier: Apache-2.0
// The whole firmware on the model's chip.
#include "tests/firmware/chip_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::CpuStop;
using contract::ErrorCode;
using contract::PowerState;
using contract::Queue;
using contract::Request;

TEST_F(ChipTest, BootsAndRunsAJob) {
  boot();
  open(1, 0);
  clear_interrupts();
  contract::Job job = copy_job(0, 0, 0x4000, 1024);
  job.counters = 0x500000;
  std::memset(bench.memory().data() + job.counters, 0, 2048);
  const uint64_t submitted = bench.device_time();
  driver.run(1, job, 0);
  const auto done = finish(1, ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0x4000, 1024));
  EXPECT_TRUE(bench.until([&] { return bench.irq(); }, 5));  // a completion that is seen is told a little later
  EXPECT_GT(done.engine_cycles, 128u);
  EXPECT_LE(submitted, done.accepted);
  EXPECT_LT(done.accepted, done.started);
  EXPECT_GE(done.ended, done.started + done.engine_cycles);
  // Busy, stalled and idle of the first queue make up the job.
  uint64_t cycles = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    uint64_t value = 0;
    std::memcpy(&value, bench.memory().data() + job.counters + 8 * uint64_t{i}, 8);
    cycles += value;
  }
  EXPECT_EQ(cycles, done.engine_cycles);
  RecordProperty("accept_cycles", static_cast<int>(done.accepted - submitted));
  RecordProperty("start_cycles", static_cast<int>(done.started - done.accepted));
  RecordProperty("end_cycles", static_cast<int>(done.ended - done.started - done.engine_cycles));
  RecordProperty("firmware_cycles", static_cast<int>(done.firmware_cycles));
}

TEST_F(ChipTest, RecordsPhases) {
  boot();
  open(1, 0);
  driver.run(1, copy_job(0, 0, 0x4000, 64), 0);
  finish(1, ErrorCode::kOk);
  std::vector<contract::Phase> phases;
  uint64_t last = 0;
  for (uint32_t i = 0; i < bench.read_register(reg::kPhaseCount); ++i) {
    const auto record = contract::PhaseRecord::load(bench.memory().data() + kPhases + 16 * uint64_t{i});
    EXPECT_GE(record.time, last);
    last = record.time;
    phases.push_back(static_cast<contract::Phase>(record.id));
  }
  const auto seen = [&](contract::Phase phase) { return std::count(phases.begin(), phases.end(), phase); };
  EXPECT_EQ(phases.front(), contract::Phase::kBoot);
  EXPECT_EQ(seen(contract::Phase::kFetch), 2);
  EXPECT_EQ(seen(contract::Phase::kDispatch), 1);
  EXPECT_EQ(seen(contract::Phase::kComplete), 1);
}

TEST_F(ChipTest, AFaultHarmsNobodyElse) {
  boot();
  open(1, 0);
  open(2, 0);
  driver.run(1, copy_job(0, kWorkspaceBytes - 512, 0x4000, 1024), 0);
  driver.run(2, copy_job(1, 0, 0x6000, 1024), 1);
  const auto fault = finish(1, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(fault.fault_command, 1u);
  EXPECT_EQ(fault.fault_address >> 32 & 0xff, static_cast<uint64_t>(contract::Region::kWorkspace));
  finish(2, ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0x6000, 1024));
  driver.run(1, copy_job(0, 0, 0x5000, 512), 0);
  finish(1, ErrorCode::kOk);
}

TEST_F(ChipTest, AHangIsNamedAndTheNextJobRuns) {
  boot();
  open(1, 0);
  bench.write_register(reg::kTestHangCommand, 2);
  bench.write_register(reg::kTestHang, reg::kTestHangEnableMask | static_cast<uint32_t>(Queue::kDma1) << 8);
  contract::Job job = copy_job(0, 0, 0x4000, 1024);
  job.cycle_limit = 20'000;
  driver.run(1, job, 0);
  driver.run(1, copy_job(1, 0, 0x5000, 512), 1);
  const auto fault = finish(1, ErrorCode::kFaultTimeout);
  EXPECT_EQ(fault.fault_queue, static_cast<uint32_t>(Queue::kDma1));
  EXPECT_EQ(fault.fault_command, 2u);
  EXPECT_NE(fault.queue_state[1] & reg::kQueueStateExecutingMask, 0u);
  EXPECT_EQ(fault.queue_command[1], 2u);
  EXPECT_GE(fault.fault_cycle, 20'000u);
  EXPECT_LT(fault.fault_cycle, 25'000u);
  finish(1, ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0x5000, 512));
}

TEST_F(ChipTest, AnUrgentJobInterruptsAndNothingIsLost) {
  boot();
  open(1, 0);
  open(2, 9);
  driver.run(1, long_job(0, 0xa000, 40), 0);
  ASSERT_TRUE(bench.until([&] { return driver.header(1).request_consumer == 1; }, 1000));
  sc_core::sc_start(5, sc_core::SC_US);
  for (uint32_t i = 0; i < 3; ++i) {
    driver.run(2, copy_job(1, 0x2000, 0x4000 + i * 0x400, 1024), 1);
    const auto high = finish(2, ErrorCode::kOk);
    EXPECT_FALSE(driver.peek(1));
    EXPECT_GT(high.blocked, 0u);
    EXPECT_TRUE(copied(0x2000, 0x4000 + i * 0x400, 1024));
    RecordProperty("blocked" + std::to_string(i), static_cast<int>(high.blocked));
  }
  const auto low = finish(1, ErrorCode::kOk);
  EXPECT_GE(low.preemptions, 1u);
  EXPECT_GT(low.save_cycles, 0u);
  EXPECT_EQ(low.saved_bytes % kSpmBytes, 0u);
  EXPECT_GE(low.saved_bytes, 2u * kSpmBytes);
  EXPECT_TRUE(copied(0, 0xa000, kSpmBytes));
  EXPECT_TRUE(copied(0, 0x8000, kSpmBytes));
}

TEST_F(ChipTest, InterruptedOrNotTheSameCyclesOfWork) {
  boot();
  open(1, 0);
  open(2, 9);
  contract::Job job = long_job(0, 0xa000, 40);
  job.events = 0x600000;
  job.event_capacity = 100;
  driver.run(1, job, 0);
  const auto alone = finish(1, ErrorCode::kOk);
  driver.run(1, job, 0);
  ASSERT_TRUE(bench.until([&] { return driver.header(1).request_consumer == 2; }, 1000));
  sc_core::sc_start(2, sc_core::SC_US);
  driver.run(2, copy_job(1, 0x2000, 0x4000, 64), 1);
  finish(2, ErrorCode::kOk);
  const auto interrupted = finish(1, ErrorCode::kOk);
  ASSERT_EQ(interrupted.preemptions, 1u);
  EXPECT_EQ(alone.event_count, 40 * 2 + 4u);
  EXPECT_GE(interrupted.event_count, alone.event_count);
  EXPECT_LE(interrupted.event_count, alone.event_count + 1);  // the yield itself, once more at most
  // Behind the yield the stream is fetched anew, and the memory's pipeline fills again.
  EXPECT_GE(interrupted.engine_cycles, alone.engine_cycles);
  EXPECT_LT(interrupted.engine_cycles, alone.engine_cycles + 500);
}

TEST_F(ChipTest, CancelsARunningJob) {
  boot();
  open(1, 0);
  const uint32_t id = driver.run(1, long_job(0, 0xa000, 40), 0);
  ASSERT_TRUE(bench.until([&] { return driver.header(1).request_consumer == 1; }, 1000));
  ask(Request::kCancel, {1, id});
  finish(1, ErrorCode::kJobCancelled);
  driver.run(1, copy_job(1, 0, 0x5000, 512), 1);
  finish(1, ErrorCode::kOk);
}

TEST_F(ChipTest, SleepsAndWakesForAJob) {
  boot();
  open(1, 0);
  ask(Request::kPower, {static_cast<uint32_t>(PowerState::kSleep)});
  driver.run(1, copy_job(0, 0, 0x5000, 512), 0);
  const auto done = finish(1, ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0x5000, 512));
  EXPECT_GE(done.started, done.accepted + 1000);
}

TEST_F(ChipTest, OwnsTheVariableTable) {
  boot();
  const uint32_t table = bench.caps().var_entries * 16;
  ask(Request::kVariableWrite, {3, table, 64, 7, 0x1234});
  EXPECT_EQ(ask(Request::kVariableRead, {3}).value, (std::array<uint32_t, 4>{table, 64, 7, 0x1234}));
}

TEST_F(ChipTest, ALostInterruptComesAgain) {
  boot();
  open(1, 0);
  clear_interrupts();
  sc_core::sc_start(300, sc_core::SC_US);
  ASSERT_FALSE(bench.irq());
  bench.write_register(reg::kTestDropInterrupts, 1);
  driver.submit(1, Request::kNop);
  ASSERT_TRUE(bench.until([&] { return driver.peek(1).has_value(); }, 50));
  EXPECT_FALSE(bench.irq());
  EXPECT_TRUE(bench.until([&] { return bench.irq(); }, 110));
}

TEST_F(ChipTest, CorruptIndicesAreReportedWithinMicroseconds) {
  boot();
  open(1, 0);
  open(2, 0);
  clear_interrupts();
  driver.write_word(RingDriver::ring_address(1) + 48, 0xdeadbeef);
  driver.ring_doorbell(1);
  ASSERT_TRUE(bench.until([&] { return bench.irq(); }, 20));
  EXPECT_EQ(driver.header(1).error, static_cast<uint32_t>(ErrorCode::kFaultRing));
  driver.run(2, copy_job(0, 0, 0x5000, 512), 0);
  finish(2, ErrorCode::kOk);
}

TEST_F(ChipTest, ADoorbellStormDelaysOnly) {
  boot();
  open(1, 0);
  driver.run(1, copy_job(0, 0, 0x5000, 512), 0);
  for (uint32_t i = 0; i < 2000; ++i) {
    driver.ring_doorbell(i % 16);
    if (i % 20 == 0) sc_core::sc_start(1, sc_core::SC_US);
  }
  finish(1, ErrorCode::kOk);
  EXPECT_EQ(stop_reason(), CpuStop::kNone);
}

TEST_F(ChipTest, NotBeforeIsKept) {
  boot();
  open(1, 0);
  contract::Job job = copy_job(0, 0, 0x5000, 512);
  job.not_before = bench.device_time() + 50'000;
  driver.run(1, job, 0);
  const auto done = finish(1, ErrorCode::kOk);
  EXPECT_GE(done.started, job.not_before);
  EXPECT_LT(done.started, job.not_before + 5'000);
}

TEST_F(ChipTest, ABreakInDispatchStopsTheCpuAndResetBringsItBack) {
  boot(patched("npu_dispatch", 0x9002));
  open(1, 0);
  clear_interrupts();
  driver.run(1, copy_job(0, 0, 0x5000, 512), 0);
  ASSERT_TRUE(bench.until([&] { return stop_reason() != CpuStop::kNone; }, 100));
  EXPECT_EQ(stop_reason(), CpuStop::kFirmware);
  EXPECT_EQ(bench.read_register(reg::kStopPc), address_of("npu_dispatch"));
  EXPECT_EQ(bench.read_register(reg::kStopCause), 3u);
  EXPECT_TRUE(bench.irq());
  EXPECT_NE(bench.uart.find("trap: cause 3"), std::string::npos);
  EXPECT_FALSE(copied(0, 0x5000, 512));
  boot();
  open(1, 0);
  driver.run(1, copy_job(0, 0, 0x5000, 512), 0);
  finish(1, ErrorCode::kOk);
}

TEST_F(ChipTest, AnEndlessLoopMeetsTheWatchdog) {
  boot(patched("npu_dispatch", 0xa001));
  open(1, 0);
  clear_interrupts();
  driver.run(1, copy_job(0, 0, 0x5000, 512), 0);
  ASSERT_FALSE(bench.until([&] { return bench.irq(); }, 900));
  ASSERT_TRUE(bench.until([&] { return bench.irq(); }, 200));
  EXPECT_EQ(stop_reason(), CpuStop::kWatchdog);
  EXPECT_EQ(bench.read_register(reg::kStopPc), address_of("npu_dispatch"));
  boot();
  open(1, 0);
  driver.run(1, copy_job(0, 0, 0x5000, 512), 0);
  finish(1, ErrorCode::kOk);
}

class FunctionalChipTest : public ChipTest {
 protected:
  FunctionalChipTest() : ChipTest(model::Mode::kFunctional) {}
};

TEST_F(FunctionalChipTest, RunsAndInterruptsWithoutCycles) {
  boot();
  open(1, 0);
  open(2, 9);
  driver.run(1, long_job(0, 0xa000, 60), 0);
  driver.run(2, copy_job(1, 0x2000, 0x4000, 1024), 1);
  const auto high = finish(2, ErrorCode::kOk);
  EXPECT_EQ(high.engine_cycles, 0u);
  finish(1, ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0xa000, kSpmBytes));
  EXPECT_TRUE(copied(0x2000, 0x4000, 1024));
}

}  // namespace
}  // namespace npu::firmware_test
