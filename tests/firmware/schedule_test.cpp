// SPDX-License-Identifier: Apache-2.0
// The scheduler: priorities, stopping at yields, saving and bringing back.
#include "tests/firmware/firmware_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using contract::Request;

class ScheduleTest : public FirmwareTest {
 protected:
  static constexpr uint32_t kLow = 3, kHigh = 1;

  void boot_with_contexts() {
    boot();
    open(kLow, 1, 0x30);
    open(kHigh, 5, 0x10);
    open(kOther, 5, 0x20);
  }
  static constexpr uint32_t kOther = 2;

  static uint64_t stream_of(uint32_t number) { return kStream + 0x1000 * uint64_t{number}; }

  // Starts a low job and lets a high one come 500 cycles later.
  void interrupt_low(uint32_t live = 128) {
    contract::Job job = yielding_job(0, live);
    job.events = 0x400000;
    job.event_capacity = 100;
    job.counters = 0x500000;
    low_ = driver.run(kLow, job, 0);
    ASSERT_TRUE(device.run());
    ASSERT_EQ(device.starts.size(), 1u);
    ASSERT_TRUE(device.pass(500));
    high_ = driver.run(kHigh, yielding_job(1), 1);
    ASSERT_TRUE(device.run());
    ASSERT_EQ(device.preemptions_asked, 1u);
    ASSERT_EQ(device.starts.size(), 1u);
  }

  uint32_t low_ = 0, high_ = 0;
};

TEST_F(ScheduleTest, SavesAndRestoresAnInterruptedJob) {
  boot_with_contexts();
  interrupt_low();
  device.end_preempted(1000, 32, 0, 7);
  ASSERT_TRUE(device.run());

  // The save stream: what is in the scratchpad counts, nothing is reported, `save` is mapped.
  ASSERT_EQ(device.starts.size(), 2u);
  Start start = last_start();
  EXPECT_EQ(start.pair(reg::kCommandBaseLo), stream_of(0) + 64 * 4);
  EXPECT_EQ(start.at(reg::kCommandWords), 20u);
  EXPECT_EQ(start.at(reg::kCommandStart), 0u);
  EXPECT_EQ(start.at(reg::kJobFlags), reg::kJobFlagsKeepScratchpadMask);
  EXPECT_EQ(start.at(reg::kEventCapacity), 0u);
  EXPECT_EQ(start.pair(reg::kCounterBaseLo), 0u);
  EXPECT_EQ(start.at(reg::kJobOwner), 0x30u);
  EXPECT_NE(start.at(reg::region_flags(5)), 0u);
  EXPECT_EQ(start.pair(reg::region_base_lo(5)), 0x310000u);
  device.end_done(60);
  ASSERT_TRUE(device.run());

  // The high job.
  ASSERT_EQ(device.starts.size(), 3u);
  start = last_start();
  EXPECT_EQ(start.pair(reg::kCommandBaseLo), stream_of(1));
  EXPECT_EQ(start.at(reg::kJobFlags), 0u);
  EXPECT_EQ(start.at(reg::kJobOwner), 0x10u);
  EXPECT_EQ(start.at(reg::region_flags(5)), 0u);
  const uint64_t high_started = start.time;
  device.end_done(2000);
  ASSERT_TRUE(device.run());
  const auto high = completion(kHigh, high_, ErrorCode::kOk);
  EXPECT_EQ(high.engine_cycles, 2000u);
  EXPECT_GT(high.blocked, 1060u);
  EXPECT_LE(high.blocked, high_started - high.accepted);
  EXPECT_GE(high.blocked + 2000, high_started - high.accepted);

  // The restore stream, on a scratchpad that the high job has used.
  ASSERT_EQ(device.starts.size(), 4u);
  start = last_start();
  EXPECT_EQ(start.pair(reg::kCommandBaseLo), stream_of(0) + 96 * 4);
  EXPECT_EQ(start.at(reg::kCommandWords), 24u);
  EXPECT_EQ(start.at(reg::kJobFlags), 0u);
  EXPECT_NE(start.at(reg::region_flags(5)), 0u);
  device.end_done(50);
  ASSERT_TRUE(device.run());

  // And the low job goes on where it stopped.
  ASSERT_EQ(device.starts.size(), 5u);
  start = last_start();
  EXPECT_EQ(start.pair(reg::kCommandBaseLo), stream_of(0));
  EXPECT_EQ(start.at(reg::kCommandWords), kStreamWords);
  EXPECT_EQ(start.at(reg::kCommandStart), 32u);
  EXPECT_EQ(start.at(reg::kJobFlags), reg::kJobFlagsKeepScratchpadMask);
  EXPECT_EQ(start.pair(reg::kCycleBaseLo), 1000u);
  EXPECT_EQ(start.pair(reg::kEventBaseLo), 0x400000u + 7 * 64);
  EXPECT_EQ(start.at(reg::kEventCapacity), 93u);
  EXPECT_EQ(start.pair(reg::kCounterBaseLo), 0x500000u);
  EXPECT_EQ(start.at(reg::region_flags(5)), 0u);
  device.end_done(3000, 5);
  ASSERT_TRUE(device.run());
  const auto low = completion(kLow, low_, ErrorCode::kOk);
  EXPECT_EQ(low.engine_cycles, 4000u);
  EXPECT_EQ(low.event_count, 12u);
  EXPECT_EQ(low.preemptions, 1u);
  EXPECT_EQ(low.save_cycles, 110u);
  EXPECT_EQ(low.saved_bytes, 256u);
  EXPECT_EQ(low.blocked, 0u);
}

TEST_F(ScheduleTest, SavesNothingWhereNothingIsLive) {
  boot_with_contexts();
  interrupt_low(0);
  device.end_preempted(1000, 32, 0);
  ASSERT_TRUE(device.run());
  ASSERT_EQ(device.starts.size(), 2u);
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1));
  device.end_done(2000);
  ASSERT_TRUE(device.run());
  ASSERT_EQ(device.starts.size(), 3u);
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(0));
  EXPECT_EQ(last_start().at(reg::kCommandStart), 32u);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(kHigh, high_, ErrorCode::kOk);
  EXPECT_EQ(completion(kLow, low_, ErrorCode::kOk).saved_bytes, 0u);
}

TEST_F(ScheduleTest, GoesOnAtOnceWhenTheUrgentJobIsGone) {
  boot_with_contexts();
  interrupt_low();
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{kHigh, high_});
  admin(0, ErrorCode::kOk);
  completion(kHigh, high_, ErrorCode::kJobCancelled);
  device.end_preempted(1000, 32, 0);
  ASSERT_TRUE(device.run());
  // Not saved, not restored: what is live is still there.
  ASSERT_EQ(device.starts.size(), 2u);
  EXPECT_EQ(last_start().at(reg::kCommandStart), 32u);
  EXPECT_EQ(last_start().at(reg::kJobFlags), reg::kJobFlagsKeepScratchpadMask);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(completion(kLow, low_, ErrorCode::kOk).saved_bytes, 0u);
}

TEST_F(ScheduleTest, AJobThatEndsBeforeItsYieldIsDone) {
  boot_with_contexts();
  interrupt_low();
  device.end_done(1000);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(completion(kLow, low_, ErrorCode::kOk).preemptions, 0u);
  ASSERT_EQ(device.starts.size(), 2u);
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1));
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_GT(completion(kHigh, high_, ErrorCode::kOk).blocked, 900u);
}

TEST_F(ScheduleTest, EqualPriorityDoesNotInterrupt) {
  boot_with_contexts();
  const uint32_t first = driver.run(kHigh, yielding_job(1), 1);
  ASSERT_TRUE(device.run());
  const uint32_t second = driver.run(kOther, yielding_job(2), 2);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.preemptions_asked, 0u);
  device.end_done(100);
  ASSERT_TRUE(device.run());
  device.end_done(100);
  ASSERT_TRUE(device.run());
  completion(kHigh, first, ErrorCode::kOk);
  EXPECT_EQ(completion(kOther, second, ErrorCode::kOk).blocked, 0u);
}

TEST_F(ScheduleTest, EqualPriorityRunsInTheOrderOfAcceptance) {
  boot_with_contexts();
  driver.run(kLow, simple_job(), 0);
  ASSERT_TRUE(device.run());
  driver.run(kOther, yielding_job(2), 2);
  ASSERT_TRUE(device.run());
  driver.run(kHigh, yielding_job(1), 1);
  ASSERT_TRUE(device.run());
  device.end_done(100);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(2));
  device.end_done(100);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1));
}

TEST_F(ScheduleTest, DoesNotAskAJobWithoutYields) {
  boot_with_contexts();
  driver.run(kLow, simple_job(), 0);
  ASSERT_TRUE(device.run());
  driver.run(kHigh, simple_job(), 1);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.preemptions_asked, 0u);
}

// One low job, two high ones after each other: what waits as saved is not saved again.
TEST_F(ScheduleTest, SavesOnceForSeveralUrgentJobs) {
  boot_with_contexts();
  interrupt_low();
  driver.run(kOther, yielding_job(2), 2);
  device.end_preempted(1000, 32, 0);
  ASSERT_TRUE(device.run());
  device.end_done(60);  // save
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1));
  device.end_done(100);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(2));
  device.end_done(100);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(0) + 96 * 4);
  device.end_done(50);
  ASSERT_TRUE(device.run());
  device.end_done(500);
  ASSERT_TRUE(device.run());
  completion(kHigh, high_, ErrorCode::kOk);
  const auto low = completion(kLow, low_, ErrorCode::kOk);
  EXPECT_EQ(low.saved_bytes, 2 * 128u);
  EXPECT_EQ(low.save_cycles, 110u);
  EXPECT_EQ(low.preemptions, 1u);
}

// What was restored is not thrown away: the job runs to its next yield, and stops there for the urgent one.
TEST_F(ScheduleTest, ARestoredJobRunsASegmentBeforeTheNextUrgentOne) {
  boot_with_contexts();
  interrupt_low();
  device.end_preempted(1000, 32, 0);
  ASSERT_TRUE(device.run());
  device.end_done(60);  // save
  ASSERT_TRUE(device.run());
  device.end_done(100);  // the urgent job
  ASSERT_TRUE(device.run());
  completion(kHigh, high_, ErrorCode::kOk);
  ASSERT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(0) + 96 * 4);
  const uint32_t second = driver.run(kHigh, yielding_job(1), 1);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.preemptions_asked, 1u) << "a restore has no yield to stop at";
  device.end_done(50);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(0));
  EXPECT_EQ(last_start().at(reg::kCommandStart), 32u);
  EXPECT_EQ(device.preemptions_asked, 2u) << "asked to stop at once";
  device.end_preempted(700, 32, 0);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(0) + 64 * 4);
  device.end_done(60);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1));
  device.end_done(100);
  ASSERT_TRUE(device.run());
  EXPECT_GE(completion(kHigh, second, ErrorCode::kOk).blocked, 50u + 700u + 60u);
}

TEST_F(ScheduleTest, ThreePrioritiesNest) {
  boot_with_contexts();
  open(4, 9);
  interrupt_low();
  device.end_preempted(1000, 32, 0);
  ASSERT_TRUE(device.run());
  device.end_done(60);
  ASSERT_TRUE(device.run());
  const uint32_t top = driver.run(4, simple_job(), 3);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.preemptions_asked, 2u);
  device.end_preempted(700, 32, 0);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1) + 64 * 4);
  device.end_done(60);
  ASSERT_TRUE(device.run());
  device.end_done(5);  // the top job
  ASSERT_TRUE(device.run());
  completion(4, top, ErrorCode::kOk);
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1) + 96 * 4);
  device.end_done(60);
  ASSERT_TRUE(device.run());
  device.end_done(300);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(completion(kHigh, high_, ErrorCode::kOk).engine_cycles, 1000u);
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(0) + 96 * 4);
}

TEST_F(ScheduleTest, RefusesASegmentOfAnotherStream) {
  boot_with_contexts();
  interrupt_low();
  device.end_preempted(1000, 48, 0);
  ASSERT_TRUE(device.run());
  completion(kLow, low_, ErrorCode::kFaultRequest);
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), stream_of(1));
}

TEST_F(ScheduleTest, RefusesASegmentBeyondTheTable) {
  boot_with_contexts();
  interrupt_low();
  device.end_preempted(1000, 32, 1);
  ASSERT_TRUE(device.run());
  completion(kLow, low_, ErrorCode::kFaultRequest);
}

TEST_F(ScheduleTest, CancelsASavedJob) {
  boot_with_contexts();
  interrupt_low();
  device.end_preempted(1000, 32, 0);
  ASSERT_TRUE(device.run());
  device.end_done(60);
  ASSERT_TRUE(device.run());
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{kLow, low_});
  admin(0, ErrorCode::kOk);
  const auto low = completion(kLow, low_, ErrorCode::kJobCancelled);
  EXPECT_EQ(low.engine_cycles, 1000u);
  device.end_done(100);
  ASSERT_TRUE(device.run());
  completion(kHigh, high_, ErrorCode::kOk);
  EXPECT_EQ(device.starts.size(), 3u);
}

}  // namespace
}  // namespace npu::firmware_test
