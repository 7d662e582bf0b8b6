// SPDX-License-Identifier: Apache-2.0
// No request is forgotten: what becomes due while the firmware is at work, rings that waited for room, interrupts that
// the timer's look causes, and a watchdog that much honest work must not wake.
#include "tests/firmware/firmware_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using contract::Request;

class StarvationTest : public FirmwareTest {
 protected:
  // More requests than the ring has room to complete: the last one waits.
  void fill(uint32_t ring) {
    for (uint32_t i = 0; i < RingDriver::kEntries; ++i) driver.submit(ring, Request::kNop);
    ASSERT_TRUE(device.run());
    driver.submit(ring, Request::kNop);
    ASSERT_TRUE(device.run());
    ASSERT_EQ(driver.header(ring).request_consumer, RingDriver::kEntries);
  }
  int take_all(uint32_t ring) {
    int taken = 0;
    while (driver.take(ring)) ++taken;
    return taken;
  }
};

// Wherever in the firmware's work on the low job the urgent one becomes due, the low one is asked to stop.
TEST_F(StarvationTest, AJobThatBecomesDueDuringADispatchIsSeen) {
  boot(0);
  open(3, 1);
  open(1, 5);
  int low_first = 0;
  for (uint64_t delay = 0; delay < 8000; delay += 200) {
    contract::Job low = yielding_job(0);
    low.cycle_limit = 0;
    contract::Job urgent = yielding_job(1);
    urgent.not_before = device.time() + delay;
    const uint32_t asked = device.preemptions_asked;
    driver.run(3, low, 0);
    driver.run(1, urgent, 1);
    ASSERT_TRUE(device.run());
    if (last_start().pair(reg::kCommandBaseLo) == kStream) {
      ++low_first;
      ASSERT_TRUE(device.pass(20'000));
      EXPECT_EQ(device.preemptions_asked, asked + 1) << "due after " << delay << " cycles";
    }
    while (device.busy) {
      device.end_done(100);
      ASSERT_TRUE(device.run());
    }
    take_all(3);
    take_all(1);
    ASSERT_TRUE(device.pass(300'000));
  }
  EXPECT_GT(low_first, 10);
}

TEST_F(StarvationTest, ARingThatWaitedForRoomIsServedWhenAnotherRings) {
  boot(0);
  open(1, 1);
  open(2, 1);
  fill(1);
  EXPECT_EQ(take_all(1), static_cast<int>(RingDriver::kEntries));
  driver.submit(2, Request::kNop);
  ASSERT_TRUE(device.run());
  EXPECT_TRUE(driver.take(1).has_value());
}

TEST_F(StarvationTest, ACompletionWrittenByTheTimersLookIsToldAgain) {
  boot(0);
  open(1, 1);
  fill(1);
  take_all(1);
  ASSERT_TRUE(device.pass(1'000'000));
  ASSERT_TRUE(driver.peek(1).has_value());
  const uint32_t raised = device.host_raises;
  ASSERT_TRUE(device.pass(1'000'000));
  EXPECT_GE(device.host_raises, raised + 8);  // every 100 us, until it is consumed
}

TEST_F(StarvationTest, CorruptionFoundByTheTimersLookIsToldAgain) {
  boot(0);
  open(1, 1);
  driver.submit(1, Request::kNop);
  ASSERT_TRUE(device.run());
  driver.write_word(RingDriver::ring_address(1) + 52, 77);  // completion_consumer
  const uint32_t raised = device.host_raises;
  ASSERT_TRUE(device.pass(5'000'000));
  EXPECT_EQ(driver.header(1).error, code(ErrorCode::kFaultRing));
  EXPECT_EQ(device.host_raises - raised, 9u);
}

TEST_F(StarvationTest, TheWatchdogOutlivesFullRings) {
  boot(2);
  constexpr uint32_t kRings = 15;
  for (uint32_t ring = 1; ring <= kRings; ++ring) open(ring, 1);
  for (uint32_t ring = 1; ring <= kRings; ++ring) {
    for (uint32_t i = 0; i < RingDriver::kEntries; ++i) driver.submit(ring, Request::kRun, 3);  // no job lies there
  }
  uint64_t longest = 0;
  for (int turns = 0; turns < 200'000 && driver.header(kRings).completion_producer < RingDriver::kEntries; ++turns) {
    device.run(64);
    longest = std::max(longest, device.time() - device.last_kick);
  }
  EXPECT_EQ(driver.header(kRings).completion_producer, RingDriver::kEntries);
  EXPECT_LT(longest, device.word(reg::kWatchdog) / 50);
}

TEST_F(StarvationTest, TheWatchdogOutlivesPowerThatNeverComes) {
  boot(0);
  constexpr uint32_t kRings = 4;
  for (uint32_t ring = 1; ring <= kRings; ++ring) open(ring, 1);
  const std::vector<uint32_t> sleep = {static_cast<uint32_t>(contract::PowerState::kSleep)};
  driver.submit(0, Request::kPower, 0, sleep);
  admin(0, ErrorCode::kOk);
  device.power_comes = false;
  for (uint32_t ring = 1; ring <= kRings; ++ring) driver.run(ring, simple_job(), ring);
  uint64_t longest = 0;
  for (int turns = 0; turns < 200'000 && driver.header(kRings).completion_producer == 0; ++turns) {
    device.run(64);
    longest = std::max(longest, device.time() - device.last_kick);
  }
  for (uint32_t ring = 1; ring <= kRings; ++ring) {
    const auto done = driver.take(ring);
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(done->code, code(ErrorCode::kFaultPower));
  }
  EXPECT_LT(longest, device.word(reg::kWatchdog) / 50);
}

// The driver may use the job's memory again as soon as it is told of the end.
TEST_F(StarvationTest, TheEnginesStandStillBeforeATimeoutIsTold) {
  boot(0);
  open(1, 1);
  contract::Job job = simple_job();
  job.cycle_limit = 10'000;
  driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  ASSERT_TRUE(device.busy);
  ASSERT_TRUE(device.pass(9'000));
  for (int cycles = 0; cycles < 200'000 && !driver.peek(1); ++cycles) device.pass(1);
  const auto done = driver.take(1);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->code, code(ErrorCode::kFaultTimeout));
  EXPECT_FALSE(device.busy);
}

TEST_F(StarvationTest, EventsMustNotGoWhereTheRingsAre) {
  boot(0);
  open(1, 1);
  contract::Job job = simple_job();
  job.events = RingDriver::kShared;
  job.event_capacity = 4;
  const uint32_t id = driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  completion(1, id, ErrorCode::kFaultRequest);
}

}  // namespace
}  // namespace npu::firmware_test
