// SPDX-License-Identifier: Apache-2.0
// Interrupts, wfi, timer.
#include "tests/firmware/cpu/bench.h"

namespace npu::model::testing {

TEST(CpuInterrupt, ExternalGoesFirstAndMaskingWorks) {
  Bench bench;
  bench.load("interrupts");
  bench.release();
  bench.run_us(20);  // spins until the doorbell
  EXPECT_FALSE(bench.cpu().waiting());
  bench.write(reg::kDoorbell, 3);
  ASSERT_TRUE(bench.settle());
  EXPECT_EQ(bench.results(10), (std::vector<uint32_t>{0x80,                            // mip before
                                                      0x8000000b, 0, 1u << 3, 0x1880,  // external
                                                      0x80000007, 0,                   // timer
                                                      1, 1, 0x1880}));
}

TEST(CpuInterrupt, WfiCostsNothingAndWakes) {
  Bench bench;
  bench.write(reg::kHostIrqEnable, ~0u);
  ASSERT_TRUE(bench.start("echo"));
  const uint64_t busy = bench.cpu().busy_cycles(), retired = bench.cpu().retired();
  EXPECT_FALSE(sc_core::sc_pending_activity());
  const uint64_t deltas = sc_core::sc_delta_count();
  bench.run(sc_time(1, sc_core::SC_SEC));
  EXPECT_EQ(sc_core::sc_delta_count(), deltas);
  EXPECT_EQ(bench.cpu().busy_cycles(), busy);
  EXPECT_EQ(bench.cpu().retired(), retired);

  const sc_time rung = sc_core::sc_time_stamp();
  for (int i = 0; i < 3; ++i) bench.write(reg::kDoorbell, 0);  // a storm is one bit
  bench.run_us(5);
  EXPECT_EQ(bench.result(0), 1u);
  ASSERT_EQ(bench.irq_rises().size(), 1u);
  EXPECT_TRUE(bench.irq());
  // After wfi: get (2 + 4 cycles, li of two instructions included: 3), put, addi, li, and the put that raises begins.
  const sc_time answered = bench.irq_rises()[0] - rung;
  EXPECT_GT(answered, 10 * bench.cpu_period());
  EXPECT_LT(answered, 40 * bench.cpu_period());
  bench.write(reg::kHostIrqStatus, reg::kHostIrqStatusCompletionMask);
  bench.run_us(1);
  EXPECT_FALSE(bench.irq());
  bench.write(reg::kDoorbell, 1);
  bench.run_us(5);
  EXPECT_EQ(bench.result(0), 2u);
  ASSERT_EQ(bench.irq_rises().size(), 2u);
}

TEST(CpuInterrupt, WakesAtTheSameCycleEveryTime) {
  Bench bench;
  bench.write(reg::kHostIrqEnable, ~0u);
  ASSERT_TRUE(bench.start("echo"));
  std::vector<uint64_t> taken;
  for (int i = 0; i < 3; ++i) {
    bench.run_us(7);
    const sc_time rung = sc_core::sc_time_stamp();
    bench.write(reg::kDoorbell, 0);
    bench.run_us(7);
    taken.push_back((bench.irq_rises().back() - rung).value());
    bench.write(reg::kHostIrqStatus, ~0u);
  }
  EXPECT_EQ(bench.irq_rises().size(), 3u);
  EXPECT_EQ(taken[1], taken[0]);
  EXPECT_EQ(taken[2], taken[0]);
}

// How late: the instructions until the program reads the time, in device cycles.
void expect_timer_works(Bench& bench) {
  bench.load("timer");
  bench.release();
  bench.run_us(50);
  ASSERT_TRUE(bench.cpu().waiting());
  const double cycle = bench.cpu_period() / bench.device_period();
  // From wfi: the two instructions of li, then the access begins.
  EXPECT_LE(bench.result(0), 3 * cycle);
  // From a loop: the instruction at hand, then the same in the handler.
  EXPECT_LE(bench.result(1), 4 * cycle);
  EXPECT_EQ(bench.result(2), 0x80000007u);
  EXPECT_FALSE(sc_core::sc_pending_activity());  // no event of a timer without waiters
}

TEST(CpuInterrupt, TimerWakesAndInterrupts) {
  Bench bench;
  expect_timer_works(bench);
}

TEST(CpuInterrupt, FunctionalModeHasTheCpusTimeToo) {
  Bench bench(Mode::kFunctional);
  expect_timer_works(bench);
}

}  // namespace npu::model::testing
