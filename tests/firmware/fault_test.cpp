// SPDX-License-Identifier: Apache-2.0
// What goes wrong: faults, jobs without end, corrupt rings, doorbell storms, lost interrupts, and the firmware itself.
#include "tests/firmware/firmware_fixture.h"
#include "tests/firmware/patched_image.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using contract::Request;

constexpr uint32_t kRequestProducer = 48, kCompletionConsumer = 52;

class FaultTest : public FirmwareTest {
 protected:
  void expect_next_job_runs(uint32_t ring = 1) {
    const uint32_t id = driver.run(ring, simple_job(), 7);
    ASSERT_TRUE(device.run());
    ASSERT_TRUE(device.busy);
    EXPECT_EQ(last_start().at(reg::region_limit(4)), 0x200u);
    device.end_done(100);
    ASSERT_TRUE(device.run());
    completion(ring, id, ErrorCode::kOk);
  }
  // Boots an image in which a function begins with another instruction.
  void boot_patched(std::string_view function, uint16_t instruction) {
    driver.boot(patched(function, instruction));
    ASSERT_TRUE(device.run());
  }
};

TEST_F(FaultTest, ReportsAFaultAndGoesOn) {
  boot();
  open(1, 0);
  const uint32_t resets = device.resets;
  const uint32_t id = driver.run(1, simple_job(), 0);
  const uint32_t next = driver.run(1, simple_job(), 1);
  ASSERT_TRUE(device.run());
  device.end_fault(ErrorCode::kFaultOutOfBounds, 17);
  ASSERT_TRUE(device.run());
  const auto fault = completion(1, id, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(fault.fault_command, 17u);
  EXPECT_EQ(fault.fault_other, 18u);
  EXPECT_EQ(fault.fault_queue, static_cast<uint32_t>(contract::Queue::kMxu));
  EXPECT_EQ(fault.fault_address, uint64_t{3} << 32 | 0x1234);
  EXPECT_EQ(fault.fault_cycle, 77u);
  EXPECT_EQ(fault.engine_cycles, 78u);
  EXPECT_EQ(device.resets, resets + 1);
  EXPECT_NE(driver.log().find("error"), std::string::npos);
  ASSERT_TRUE(device.busy);
  device.end_done(5);
  ASSERT_TRUE(device.run());
  completion(1, next, ErrorCode::kOk);
}

TEST_F(FaultTest, StopsAJobWithoutEndAndSaysWhoWaits) {
  boot(1);
  open(1, 0);
  contract::Job job = simple_job();
  job.cycle_limit = 50'000;
  const uint32_t id = driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  const uint64_t started = last_start().time;
  // The VPU waits for the MXU, which hangs at command 9; the sequencer waits for room.
  device.word(reg::queue_state(8)) = reg::kQueueStateHoldingMask | reg::kQueueStateExecutingMask | 255;
  device.word(reg::queue_command(8)) = 9;
  device.word(reg::queue_state(9)) = reg::kQueueStateHoldingMask | 8;
  device.word(reg::queue_command(9)) = 4;
  ASSERT_TRUE(device.pass(started + 50'000 - device.time()));
  EXPECT_FALSE(driver.peek(1)) << "before its time";
  ASSERT_TRUE(device.pass(2'000));
  const auto fault = completion(1, id, ErrorCode::kFaultTimeout);
  EXPECT_EQ(fault.queue_state[8], device.word(reg::queue_state(8)));
  EXPECT_EQ(fault.queue_command[8], 9u);
  EXPECT_EQ(fault.queue_state[9], device.word(reg::queue_state(9)));
  EXPECT_EQ(fault.fault_queue, 8u);
  EXPECT_EQ(fault.fault_command, 9u);
  EXPECT_GE(fault.fault_cycle, 51'000u);
  EXPECT_LT(fault.ended, started + 51'000 + 5'000);
  EXPECT_FALSE(device.busy);
  expect_next_job_runs();
}

TEST_F(FaultTest, TheLimitCountsAllPartsOfAJob) {
  boot();
  open(1, 0);
  open(2, 5);
  contract::Job job = yielding_job(0, 0);
  job.cycle_limit = 50'000;
  const uint32_t id = driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  driver.run(2, simple_job(), 1);
  ASSERT_TRUE(device.run());
  device.end_preempted(40'000, 32, 0);
  ASSERT_TRUE(device.run());
  device.end_done(100'000);
  ASSERT_TRUE(device.run());
  EXPECT_FALSE(driver.peek(1));
  ASSERT_TRUE(device.pass(12'000));
  const auto fault = completion(1, id, ErrorCode::kFaultTimeout);
  EXPECT_GE(fault.engine_cycles, 50'000u);
  EXPECT_LT(fault.engine_cycles, 60'000u);
}

TEST_F(FaultTest, ASaveThatFaultsEndsItsJob) {
  boot();
  open(1, 0);
  open(2, 5);
  const uint32_t low = driver.run(1, yielding_job(0), 0);
  ASSERT_TRUE(device.run());
  const uint32_t high = driver.run(2, simple_job(), 1);
  ASSERT_TRUE(device.run());
  device.end_preempted(100, 32, 0);
  ASSERT_TRUE(device.run());
  device.end_fault(ErrorCode::kFaultBus, 1);
  ASSERT_TRUE(device.run());
  const auto fault = completion(1, low, ErrorCode::kFaultBus);
  EXPECT_EQ(fault.engine_cycles, 100u);
  device.end_done(100);
  ASSERT_TRUE(device.run());
  completion(2, high, ErrorCode::kOk);
}

TEST_F(FaultTest, CancelsARunningJob) {
  boot();
  open(1, 0);
  const uint32_t id = driver.run(1, simple_job(), 0);
  ASSERT_TRUE(device.run());
  const uint32_t resets = device.resets;
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{1, id});
  admin(0, ErrorCode::kOk);
  completion(1, id, ErrorCode::kJobCancelled);
  EXPECT_EQ(device.resets, resets + 1);
  expect_next_job_runs();
}

TEST_F(FaultTest, CancelsAQueuedJobInItsTurn) {
  boot();
  open(1, 0);
  const uint32_t first = driver.run(1, simple_job(), 0);
  const uint32_t second = driver.run(1, simple_job(), 1);
  const uint32_t third = driver.run(1, simple_job(), 2);
  ASSERT_TRUE(device.run());
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{1, second});
  admin(0, ErrorCode::kOk);
  EXPECT_FALSE(driver.peek(1));
  device.end_done(5);
  ASSERT_TRUE(device.run());
  completion(1, first, ErrorCode::kOk);
  completion(1, second, ErrorCode::kJobCancelled);
  device.end_done(5);
  ASSERT_TRUE(device.run());
  completion(1, third, ErrorCode::kOk);
  EXPECT_EQ(device.starts.size(), 2u);
}

TEST_F(FaultTest, CancellingNothingIsWell) {
  boot();
  open(1, 0);
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{1, 12345});
  admin(0, ErrorCode::kOk);
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{5, 1});
  admin(0, ErrorCode::kOk);
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{16, 1});
  admin(0, ErrorCode::kFaultRequest);
}

TEST_F(FaultTest, CorruptRequestIndexStopsThatRingOnly) {
  boot();
  open(1, 0);
  open(2, 0);
  driver.run(1, simple_job(), 0);
  ASSERT_TRUE(device.run());
  const uint32_t raises = device.host_raises;
  driver.write_word(RingDriver::ring_address(1) + kRequestProducer, 1 + RingDriver::kEntries + 1);
  driver.ring_doorbell(1);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(driver.header(1).error, code(ErrorCode::kFaultRing));
  EXPECT_EQ(driver.header(1).completion_producer, 0u);
  EXPECT_GT(device.host_raises, raises);
  EXPECT_FALSE(device.busy);
  expect_next_job_runs(2);
  // Not served any more, until it is opened again.
  driver.ring_doorbell(1);
  ASSERT_TRUE(device.run());
  EXPECT_FALSE(device.busy);
  open(1, 0);
  EXPECT_EQ(driver.header(1).error, 0u);
  expect_next_job_runs(1);
}

TEST_F(FaultTest, CorruptCompletionIndexStopsThatRingOnly) {
  boot();
  open(1, 0);
  open(2, 0);
  driver.submit(1, Request::kNop);
  ASSERT_TRUE(device.run());
  driver.write_word(RingDriver::ring_address(1) + kCompletionConsumer, 1000);
  ASSERT_TRUE(device.pass(200'000));
  EXPECT_EQ(driver.header(1).error, code(ErrorCode::kFaultRing));
  expect_next_job_runs(2);
}

TEST_F(FaultTest, CorruptAdminRingLeavesTheContexts) {
  boot();
  open(1, 0);
  driver.write_word(RingDriver::ring_address(0) + kRequestProducer, 0x80000000);
  driver.ring_doorbell(0);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(driver.header(0).error, code(ErrorCode::kFaultRing));
  expect_next_job_runs(1);
}

TEST_F(FaultTest, DoorbellStormsAreHarmless) {
  boot();
  open(1, 0);
  const uint32_t id = driver.run(1, simple_job(), 0);
  ASSERT_TRUE(device.run());
  const std::string log = driver.log();
  for (int i = 0; i < 1000; ++i) {
    driver.ring_doorbell(static_cast<uint32_t>(i) % 32);
    ASSERT_TRUE(i % 10 != 0 || device.run());
  }
  EXPECT_EQ(driver.log(), log);
  device.end_done(5);
  ASSERT_TRUE(device.run());
  completion(1, id, ErrorCode::kOk);
}

TEST_F(FaultTest, RepeatsTheInterruptUntilCompletionsAreConsumed) {
  boot();
  open(1, 0);
  driver.submit(1, Request::kNop);
  ASSERT_TRUE(device.run());
  const uint32_t raises = device.host_raises;
  ASSERT_TRUE(device.pass(90'000));  // the time began with the look that found the request
  EXPECT_EQ(device.host_raises, raises);
  ASSERT_TRUE(device.pass(20'000));
  EXPECT_EQ(device.host_raises, raises + 1);
  ASSERT_TRUE(device.pass(100'000));
  EXPECT_EQ(device.host_raises, raises + 2);
  EXPECT_NE(driver.log().find("raised again"), std::string::npos);
  ASSERT_TRUE(driver.take(1));
  ASSERT_TRUE(device.pass(1'000'000));
  EXPECT_EQ(device.host_raises, raises + 2);
}

// At rest nothing wakes the CPU, so that an idle device costs nothing.
TEST_F(FaultTest, RestsWhenAllIsConsumed) {
  boot();
  open(1, 0);
  expect_next_job_runs();
  ASSERT_TRUE(device.pass(500'000));
  const uint64_t instructions = device.work.instructions;
  ASSERT_TRUE(device.pass(50'000'000));
  EXPECT_EQ(device.work.instructions, instructions);
}

TEST_F(FaultTest, KicksTheWatchdogWheneverItWorks) {
  boot();
  open(1, 0);
  EXPECT_EQ(device.word(reg::kWatchdog), 1000u * FakeDevice::kClockMhz);
  const uint64_t before = device.last_kick;
  ASSERT_TRUE(device.pass(10'000));
  driver.submit(1, Request::kNop);
  ASSERT_TRUE(device.run());
  EXPECT_GT(device.last_kick, before);
}

constexpr uint16_t kEbreak = 0x9002, kJumpToSelf = 0xa001;

TEST_F(FaultTest, EveryStreamGoesThroughDispatch) {
  boot_patched("npu_dispatch", kEbreak);
  open(1, 0);
  driver.run(1, simple_job(), 0);
  ASSERT_TRUE(device.run());
  ASSERT_TRUE(device.stopped());
  EXPECT_EQ(device.stop().reason, model::IssStop::Reason::kGivenUp);
  EXPECT_EQ(device.stop().cause, 3u);
  EXPECT_EQ(device.iss().read_csr(0x341), address_of("npu_dispatch"));
  EXPECT_TRUE(device.starts.empty());
  EXPECT_NE(device.uart.find("trap: cause 3"), std::string::npos) << device.uart;
  EXPECT_NE(driver.log().find("trap: cause 3"), std::string::npos) << driver.log();
}

// The frames lead from the instruction that trapped to npu_main, as firmware/README.md says.
TEST_F(FaultTest, AStopLeavesAWalkableStack) {
  boot_patched("npu_dispatch", kEbreak);
  open(1, 0);
  driver.run(1, simple_job(), 0);
  ASSERT_TRUE(device.run());
  ASSERT_TRUE(device.stopped());
  // npu_dispatch had not made its own frame yet: its caller is in ra, and fp is that one's.
  const uint32_t caller = device.iss().read_register(1);
  EXPECT_GE(caller, address_of("npu_start"));
  std::vector<uint32_t> returns;
  uint32_t fp = device.iss().read_register(8);
  while (fp != 0 && returns.size() < 20) {
    returns.push_back(device.data_word(fp - 4));
    fp = device.data_word(fp - 8);
  }
  ASSERT_GE(returns.size(), 2u);
  EXPECT_EQ(fp, 0u);
  bool through_main = false;
  for (const uint32_t address : returns) {
    through_main |= address >= address_of("npu_main") && address < end_of("npu_main");
  }
  EXPECT_TRUE(through_main);
}

TEST_F(FaultTest, AnEndlessLoopNeitherWaitsNorKicks) {
  boot_patched("npu_dispatch", kJumpToSelf);
  open(1, 0);
  driver.run(1, simple_job(), 0);
  EXPECT_FALSE(device.run(500'000));
  EXPECT_GT(device.time(), device.last_kick + 900'000);  // so the hardware's watchdog strikes
}

TEST_F(FaultTest, AStackOverflowTrapsInsteadOfSpoilingData) {
  boot_patched("npu_admin", 0xa001);
  driver.submit(0, Request::kContextClose);
  EXPECT_FALSE(device.run(10'000));
  // As deep recursion would have left it.
  device.iss().write_register(2, contract::kCpuDataBase + 8);
  device.iss().write_register(model::kIssPc, address_of("npu_context_serve"));
  ASSERT_TRUE(device.run());
  EXPECT_TRUE(device.stopped());
  EXPECT_EQ(device.stop().reason, model::IssStop::Reason::kGivenUp);
  EXPECT_EQ(device.stop().cause, 7u);  // store access fault
  // Registers are as the trap found them, and told.
  EXPECT_LT(device.iss().read_register(2), contract::kCpuDataBase);
  EXPECT_NE(device.uart.find("sp 0fffff"), std::string::npos) << device.uart;
}

}  // namespace
}  // namespace npu::firmware_test
