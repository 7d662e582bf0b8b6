// SPDX-License-Identifier: Apache-2.0
// Power of the engines.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::Counter;
using contract::ErrorCode;

Stream load(uint32_t bytes = 64) {
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), bytes));
  return stream;
}

bool powered(Bench& bench) { return (bench.read(reg::kStatus) & reg::kStatusPoweredMask) != 0; }

void pass_cycles(uint64_t cycles) { sc_core::sc_start(sc_core::sc_time(static_cast<double>(cycles), sc_core::SC_NS)); }

TEST(PowerTest, ComesAThousandCyclesAfterItIsSwitchedOn) {
  Bench bench;
  EXPECT_EQ(bench.read(reg::kEnginePower), 1u);
  EXPECT_TRUE(powered(bench));
  bench.write(reg::kEnginePower, 0);
  EXPECT_EQ(bench.read(reg::kEnginePower), 0u);
  EXPECT_FALSE(powered(bench));
  pass_cycles(5000);
  EXPECT_FALSE(powered(bench));
  bench.write(reg::kEnginePower, 1);
  EXPECT_EQ(bench.read(reg::kEnginePower), 1u);
  pass_cycles(500);
  bench.write(reg::kEnginePower, 1);  // does not start anew
  pass_cycles(499);
  EXPECT_FALSE(powered(bench));
  pass_cycles(1);
  EXPECT_TRUE(powered(bench));
  ASSERT_TRUE(bench.run(load()));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(PowerTest, ComesAtOnceInFunctionalMode) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  Bench bench(options);
  bench.write(reg::kEnginePower, 0);
  EXPECT_FALSE(powered(bench));
  bench.write(reg::kEnginePower, 1);
  EXPECT_TRUE(powered(bench));
}

TEST(PowerTest, StartWithoutItIsAFaultAtOnce) {
  Bench bench;
  ASSERT_TRUE(bench.run(load()));
  for (const uint32_t on : {0u, 1u}) {  // switched off, and not ready yet
    bench.write(reg::kEnginePower, on);
    bench.write(reg::kIrqStatus, 1);
    pass_cycles(1);
    EXPECT_FALSE(bench.irq.read());
    bench.start(load().finish());
    EXPECT_FALSE(bench.npu.running());
    EXPECT_EQ(bench.read(reg::kStatus), uint32_t{reg::kStatusFaultMask});
    EXPECT_EQ(bench.fault(), ErrorCode::kFaultPower);
    EXPECT_EQ(bench.read(reg::kFaultQueue), kSequencerQueue);
    EXPECT_EQ(bench.job_cycles(), 0u);
    EXPECT_EQ(bench.read(reg::kEventCount), 0u);
    EXPECT_EQ(bench.counter(0, Counter::kCommands), 0u);
    pass_cycles(1);
    EXPECT_TRUE(bench.irq.read());
  }
  pass_cycles(1000);
  ASSERT_TRUE(bench.run(load()));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(PowerTest, OffIsRefusedWhileAJobRuns) {
  Bench bench;
  bench.start(load(32768).finish());
  pass_cycles(500);
  ASSERT_TRUE(bench.npu.running());
  bench.write(reg::kEnginePower, 0);
  EXPECT_EQ(bench.read(reg::kEnginePower), 1u);
  EXPECT_TRUE(powered(bench));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(PowerTest, OffLosesTheScratchpadButNotThePersistentMemory) {
  Bench bench;  // without poison at job start
  contract::VariableEntry entry;
  entry.base = 0x200;
  entry.length = 64;
  bench.set_variable(2, entry);
  std::vector<uint8_t> content(64);
  std::iota(content.begin(), content.end(), uint8_t{3});
  bench.transport(tlm::TLM_WRITE_COMMAND, contract::kPsramWindow + entry.base, content.data(), content.size());
  Stream stream(small_machine());
  stream.add(fill(0, spm(0x1000), 64, 0x11));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.dump_scratchpad(0x1000, 64), std::vector<uint8_t>(64, 0x11));
  bench.write(reg::kEnginePower, 0);
  bench.write(reg::kEnginePower, 1);
  pass_cycles(1000);
  EXPECT_EQ(bench.dump_scratchpad(0x1000, 64), std::vector<uint8_t>(64, Scratchpad::kPoison));
  EXPECT_EQ(bench.get_variable(2).length, 64u);
  std::vector<uint8_t> kept(content.size());
  bench.transport(tlm::TLM_READ_COMMAND, contract::kPsramWindow + entry.base, kept.data(), kept.size());
  EXPECT_EQ(kept, content);
}

TEST(PowerTest, ResetSwitchesItOn) {
  Bench bench;
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_TRUE(powered(bench));  // it was on
  bench.write(reg::kEnginePower, 0);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_EQ(bench.read(reg::kEnginePower), 1u);
  pass_cycles(1000);
  EXPECT_TRUE(powered(bench));
}

TEST(PowerTest, DebugAccessDoesNotSwitch) {
  Bench bench;
  EXPECT_EQ(bench.debug_write(reg::kEnginePower, 0), 4u);
  EXPECT_EQ(bench.read(reg::kEnginePower), 1u);
}

}  // namespace
}  // namespace npu::model::testing
