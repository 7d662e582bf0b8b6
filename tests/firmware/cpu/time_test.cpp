// SPDX-License-Identifier: Apache-2.0
// The rule by which the CPU's time passes.
#include "tests/firmware/cpu/bench.h"

namespace npu::model::testing {

namespace {

constexpr uint32_t kBus = ControlCpu::kBusCycles;

TEST(CpuTime, CyclesFollowTheRule) {
  Bench bench;
  bench.dram().latency = sc_time(37, sc_core::SC_NS);  // 7.4 CPU cycles: counts as 8
  ASSERT_TRUE(bench.start("cycles"));
  // From the first read of the busy cycles to the second: two reads of registers and 100 others.
  const uint32_t first = 2 * (1 + kBus) + 100;
  EXPECT_EQ(bench.result(0), first);
  // Instructions between the reads of the count: as many.
  EXPECT_EQ(bench.result(1), 102u);
  // Up to the last read of it: 102, that second read, 10 + 1, 5 + 1, 4 + 1.
  EXPECT_EQ(bench.result(2), 125u);
  EXPECT_EQ(bench.result(3), 1u);                   // minstret, one later
  const uint32_t second = first + 12 * (1 + kBus);  // and ten and one more
  EXPECT_EQ(bench.result(4), second);
  const uint32_t third = second + 6 * (1 + kBus);  // five of persistent SRAM
  EXPECT_EQ(bench.result(5), third);
  // And DRAM: a load of a line, a store, a load from that line, a store.
  const uint32_t fourth = third + (1 + kBus) + (1 + 8) + (1 + kBus) + 1 + (1 + kBus);
  EXPECT_EQ(bench.result(6), fourth);
}

TEST(CpuTime, AccessesHappenAtTheirCycle) {
  Bench bench;
  bench.load("cycles");
  const sc_time released = sc_core::sc_time_stamp();
  bench.release();
  ASSERT_TRUE(bench.settle());
  const auto& accesses = bench.dram().accesses;
  ASSERT_EQ(accesses.size(), 3u);  // a line, and two stores
  for (const sc_time& access : accesses) EXPECT_EQ((access - released).value() % bench.cpu_period().value(), 0u);
  EXPECT_EQ(accesses[1] - accesses[0], 9 * bench.cpu_period());
  EXPECT_EQ(accesses[2] - accesses[1], (1 + kBus + 1) * bench.cpu_period());
}

// What the registers of the program `line` are when it has ended, and what it costs: see there.
TEST(CpuTime, ALineIsReadOnceAndStoresDoNotWait) {
  Bench bench;
  bench.dram().latency = sc_time(500, sc_core::SC_NS);  // 100 CPU cycles
  ASSERT_TRUE(bench.start("line"));
  EXPECT_EQ(bench.result(0), 100u + 16 + 1 + kBus) << "a line of 16 words";
  EXPECT_EQ(bench.result(1), 2 * (1 + 100) + 2 * (1 + kBus)) << "after a register is read, the line is read again";
  EXPECT_EQ(bench.result(2), 8 * (1 + kBus) + 1 + kBus) << "as many stores as have a place";
  // The ninth store goes when the first is in memory, the register is written when the ninth is: 200 cycles after the
  // first began, eight stores and a read before this figure does.
  EXPECT_EQ(bench.result(3), 200u - 9 * (1 + kBus) + 2 * (1 + kBus));
  EXPECT_EQ(bench.result(4), 7u) << "a store changes the line that is held";
}

TEST(CpuTime, SimulatedTimeIsTheCpusTime) {
  Bench bench;
  bench.load("spin");
  bench.release();
  bench.run_us(100);
  const uint64_t cycles = sc_time(100, sc_core::SC_US).value() / bench.cpu_period().value();
  EXPECT_GE(bench.cpu().busy_cycles(), cycles);
  EXPECT_LE(bench.cpu().busy_cycles(), cycles + ControlCpu::kQuantum);
  EXPECT_EQ(bench.cpu().retired(), bench.cpu().busy_cycles());
  EXPECT_EQ(bench.read64(reg::kCpuRetiredLo), bench.cpu().retired());
  EXPECT_EQ(bench.read64(reg::kCpuBusyLo), bench.cpu().busy_cycles());
}

// Cycles and instructions of the program `timer` before it waits for good, and when that is.
void check_timer(bool ahead) {
  Bench bench;
  if (ahead) bench.cpu().run_ahead();
  bench.load("timer");
  bench.release();
  bench.run_us(100);
  EXPECT_TRUE(bench.cpu().waiting());
  EXPECT_EQ(bench.cpu().busy_cycles(), 1091u);
  EXPECT_EQ(bench.cpu().retired(), 1035u);
}

TEST(CpuTime, InStepTakesItsTime) { check_timer(false); }
TEST(CpuTime, AheadTakesTheSameTime) { check_timer(true); }

TEST(CpuTime, ByAnyNumberOfQuantaAhead) {
  Bench bench;
  bench.cpu().run_ahead();
  bench.load("spin");
  bench.release();
  bench.run_us(100);
  const uint64_t cycles = sc_time(100, sc_core::SC_US).value() / bench.cpu_period().value();
  EXPECT_GE(bench.cpu().busy_cycles(), cycles);
  EXPECT_LE(bench.cpu().busy_cycles(), cycles + ControlCpu::kMostQuanta * ControlCpu::kQuantum);
  EXPECT_EQ(bench.cpu().retired(), bench.cpu().busy_cycles());
}

TEST(CpuTime, WfiIsNotBusy) {
  Bench bench;
  bench.load("timer");
  bench.release();
  bench.run_us(100);
  const uint64_t all = sc_core::sc_time_stamp().value() / bench.cpu_period().value();
  // A thousand device cycles in a loop; another thousand and the rest in wfi.
  const double loop = 1000 * (bench.device_period() / bench.cpu_period());
  EXPECT_GT(bench.cpu().busy_cycles(), loop);
  EXPECT_LT(bench.cpu().busy_cycles(), loop + 200);
  EXPECT_LT(bench.cpu().busy_cycles(), all / 2);
}

}  // namespace
}  // namespace npu::model::testing
