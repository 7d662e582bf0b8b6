// SPDX-License-Identifier: Apache-2.0
// The test hook for an engine that never completes, and what gets the device out of it.
#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

// Indices: 1 load, 2 load, 3 compute, 4 declaration-free yield, 5 store.
Stream program() {
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 512));
  stream.add(copy(0, dram(0x200), spm(0x200), 512));
  stream.add(ewise(spm(0), spm(0x1000), 1024), {{0, 1}});
  stream.yield(0);
  stream.add(copy(1, spm(0x1000), dram(0x8000), 1024), {{kVpuQueue, 1}});
  return stream;
}

class HangTest : public ::testing::TestWithParam<Mode> {
 protected:
  static BenchOptions options() {
    BenchOptions options;
    options.mode = GetParam();
    return options;
  }

  void SetUp() override {
    bench_.npu.on_hang([this] { ++struck_; });
  }

  uint32_t state(uint32_t queue) { return bench_.read(reg::queue_state(queue)); }
  bool executes(uint32_t queue) {
    const uint32_t both = reg::kQueueStateHoldingMask | reg::kQueueStateExecutingMask;
    return (state(queue) & both) == both;
  }

  // Runs into the hang, shows where, resets; then the same job runs well.
  void hangs_and_recovers(uint32_t queue, uint32_t from, uint32_t command) {
    std::fill_n(bench_.memory.data.begin() + 0x8000, 1024, uint8_t{0});
    struck_ = 0;
    bench_.npu.hang(queue, from);
    EXPECT_TRUE(bench_.npu.hang_armed());
    EXPECT_FALSE(bench_.run(program()));  // not within 10 ms
    EXPECT_EQ(struck_, 1);
    EXPECT_FALSE(bench_.npu.hang_armed());
    EXPECT_TRUE(executes(queue)) << std::hex << state(queue);
    EXPECT_EQ(bench_.read(reg::queue_command(queue)), command);
    bench_.in_thread([&] { bench_.write(reg::kControl, reg::kControlSoftResetMask); });
    EXPECT_FALSE(bench_.npu.running());
    EXPECT_EQ(bench_.read(reg::kStatus), uint32_t{reg::kStatusPoweredMask});
    runs_well();
  }
  void runs_well() {
    ASSERT_TRUE(bench_.run(program()));
    EXPECT_EQ(bench_.fault(), ErrorCode::kOk);
    EXPECT_TRUE(
        std::equal(bench_.memory.data.begin(), bench_.memory.data.begin() + 1024, bench_.memory.data.begin() + 0x8000));
    bench_.expect_identities();
  }

  Bench bench_{options()};
  int struck_ = 0;
};

TEST_P(HangTest, Dma) { hangs_and_recovers(0, 0, 1); }
TEST_P(HangTest, LaterCommandOfAQueue) { hangs_and_recovers(0, 2, 2); }
TEST_P(HangTest, FirstCommandFromAnIndexOn) { hangs_and_recovers(1, 3, 5); }
TEST_P(HangTest, Engine) { hangs_and_recovers(kVpuQueue, 0, 3); }
TEST_P(HangTest, SequencerAtBegin) { hangs_and_recovers(kSequencerQueue, 0, 0); }
TEST_P(HangTest, SequencerAtYield) { hangs_and_recovers(kSequencerQueue, 1, 4); }
TEST_P(HangTest, SequencerAtEnd) { hangs_and_recovers(kSequencerQueue, 5, 6); }

TEST_P(HangTest, StaysArmedUntilItsCommandComes) {
  bench_.npu.hang(0, 100);
  runs_well();
  bench_.npu.hang(7, 0);  // no such queue
  runs_well();
  EXPECT_TRUE(bench_.npu.hang_armed());
  bench_.npu.hang(kMxuQueue, 0);
  runs_well();
  EXPECT_TRUE(bench_.npu.hang_armed());
  bench_.npu.no_hang();
  EXPECT_FALSE(bench_.npu.hang_armed());
  EXPECT_EQ(struck_, 0);
}

TEST_P(HangTest, OnlyAColdResetDisarmsIt) {
  bench_.npu.hang(0, 0);
  bench_.in_thread([&] { bench_.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_TRUE(bench_.npu.hang_armed());
  bench_.in_thread([&] { bench_.write(reg::kControl, reg::kControlColdResetMask); });
  EXPECT_FALSE(bench_.npu.hang_armed());
  runs_well();
  EXPECT_EQ(struck_, 0);
}

TEST_P(HangTest, PreemptionDoesNotGetPastIt) {
  bench_.npu.hang(0, 0);
  EXPECT_FALSE(bench_.run(program().finish(), 0, reg::kControlPreemptMask));
  EXPECT_EQ(state(kSequencerQueue) & reg::kQueueStateWaitsForMask, 0u);  // for channel 0
  EXPECT_EQ(bench_.read(reg::queue_command(kSequencerQueue)), 4u);
  bench_.in_thread([&] { bench_.write(reg::kControl, reg::kControlSoftResetMask); });
  runs_well();
}

TEST_P(HangTest, PlatformThatSeesNothingMoveEndsTheJob) {
  bench_.npu.hang(kVpuQueue, 0);
  EXPECT_FALSE(bench_.run(program()));
  EXPECT_FALSE(sc_core::sc_pending_activity());
  bench_.npu.report_stuck();
  ASSERT_TRUE(bench_.finish());
  EXPECT_EQ(bench_.fault(), ErrorCode::kFaultToken);
  runs_well();
}

INSTANTIATE_TEST_SUITE_P(Modes, HangTest, ::testing::Values(Mode::kTimed, Mode::kFunctional),
                         [](const auto& mode) { return mode.param == Mode::kTimed ? "Timed" : "Functional"; });

TEST(HangTest, CycleLimitEndsTheJob) {
  Bench bench;
  bench.npu.hang(0, 2);
  bench.write(reg::kCycleLimitLo, 5000);
  ASSERT_TRUE(bench.run(program()));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultTimeout);
  EXPECT_EQ(bench.job_cycles(), 5000u);
  bench.expect_cycles_add_up();
  ASSERT_TRUE(bench.run(program()));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

}  // namespace
}  // namespace npu::model::testing
