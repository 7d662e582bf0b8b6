// SPDX-License-Identifier: Apache-2.0
// The row model's arithmetic, in picoseconds, written beside each number.
#include "hw/timing/dram_timing.h"

#include <gtest/gtest.h>

#include "hw/presets/preset.h"

namespace npu::timing::testing {
namespace {

// 8 bytes every nanosecond: a 64-byte granule takes the bus for 8,000 ps.
Dram dram() {
  Dram dram;
  dram.name = "test";
  dram.data_rate_mts = 1000;
  dram.bus_bits = 64;
  dram.banks = 4;
  dram.row_bytes = 1024;
  dram.t_rcd_ns = 10;
  dram.t_rp_ns = 12;
  dram.t_cas_ns = 14;
  dram.t_ras_ns = 30;
  dram.t_wr_ns = 16;
  dram.t_refi_ns = 1000;
  dram.t_rfc_ns = 100;
  return dram;
}

constexpr uint64_t kBankStep = 1024;     // next bank, same row
constexpr uint64_t kRowStep = 4 * 1024;  // next row, same bank

TEST(DramTimingTest, ClosedHitMiss) {
  RowDram timing(dram());
  // Closed: activate 10, CAS 14, 8 of data.
  EXPECT_EQ(timing.access(0, 0, 64, false), 32'000u);
  // Hit, long after: CAS 14, 8 of data.
  EXPECT_EQ(timing.access(100'000, 64, 64, false), 122'000u);
  // Miss: precharge 12, activate 10, CAS 14, 8 of data.
  EXPECT_EQ(timing.access(200'000, kRowStep, 64, false), 244'000u);
  EXPECT_EQ(timing.statistics(), (RowDram::Statistics{1, 1, 1, 0}));
}

TEST(DramTimingTest, HitsStreamAtTheRateOfTheBus) {
  RowDram timing(dram());
  uint64_t done = timing.access(0, 0, 64, false);
  for (uint64_t at = 64; at < 1024; at += 64) {
    const uint64_t next = timing.access(0, at, 64, false);  // all of them waiting
    EXPECT_EQ(next, done + 8'000);
    done = next;
  }
}

TEST(DramTimingTest, BanksPrepareTheirRowsInParallel) {
  RowDram timing(dram());
  EXPECT_EQ(timing.access(0, 0, 64, false), 32'000u);
  // Activated at 0 too, data behind the first on the bus.
  EXPECT_EQ(timing.access(0, kBankStep, 64, false), 40'000u);
  EXPECT_EQ(timing.access(0, 2 * kBankStep, 64, false), 48'000u);
}

TEST(DramTimingTest, PrechargeWaitsForRasAndForWrites) {
  RowDram timing(dram());
  // Activated at 0, data from 24 to 32, next command at 18; the precharge waits for t_ras: 30, then 12 + 10 + 14 + 8.
  EXPECT_EQ(timing.access(0, 0, 64, false), 32'000u);
  EXPECT_EQ(timing.access(0, kRowStep, 64, false), 74'000u);
  timing.restart();
  // Write data ends at 32; the precharge waits 16 more: 48, then 12 + 10 + 14 + 8.
  EXPECT_EQ(timing.access(0, 0, 64, true), 32'000u);
  EXPECT_EQ(timing.access(0, kRowStep, 64, false), 92'000u);
}

TEST(DramTimingTest, WholeGranules) {
  RowDram timing(dram());
  EXPECT_EQ(timing.access(0, 10, 1, false), 32'000u);
  timing.restart();
  EXPECT_EQ(timing.access(0, 60, 8, false), 40'000u);  // in two granules
  timing.restart();
  // Across the end of a row: 64 bytes of bank 0 as above, 64 of bank 1 behind them.
  EXPECT_EQ(timing.access(0, 1024 - 64, 128, false), 40'000u);
  EXPECT_EQ(timing.statistics().closed, 2u);
}

TEST(DramTimingTest, RefreshClosesRowsAndBlocksAllBanks) {
  RowDram timing(dram());
  EXPECT_EQ(timing.access(900'000, 0, 64, false), 932'000u);
  // The refresh at 1,000,000 takes 100,000; then the row is closed again: 10 + 14 + 8.
  EXPECT_EQ(timing.access(1'050'000, 64, 64, false), 1'132'000u);
  EXPECT_EQ(timing.statistics(), (RowDram::Statistics{0, 2, 0, 1}));
  // Idle for long: refreshes happened, the last one long ago.
  EXPECT_EQ(timing.access(5'500'000, 0, 64, false), 5'532'000u);
  EXPECT_EQ(timing.statistics().refreshes, 5u);
}

TEST(DramTimingTest, RefreshWaitsForDataOnTheBus) {
  RowDram timing(dram());
  EXPECT_EQ(timing.access(990'000, 0, 64, false), 1'022'000u);
  // The refresh starts at 1,022,000 and takes 100,000; 10 + 14 + 8.
  EXPECT_EQ(timing.access(1'000'000, 64, 64, false), 1'154'000u);
}

TEST(DramTimingTest, RestartForgetsEverything) {
  RowDram timing(dram());
  timing.access(1'234'567, 0, 4096, true);
  timing.restart();
  EXPECT_EQ(timing.access(0, 0, 64, false), 32'000u);
}

TEST(DramTimingTest, EdgePresetStreamsAtItsBandwidth) {
  RowDram timing(presets::load_preset("edge").dram);
  uint64_t done = 0;
  const uint64_t bytes = 1 << 20;
  for (uint64_t at = 0; at < bytes; at += 256) done = timing.access(0, at, 256, false);
  const double gigabytes = static_cast<double>(bytes) / static_cast<double>(done) * 1000;
  EXPECT_GT(gigabytes, 11.0);  // of 12.8 at the pins; refresh takes 7 %
  EXPECT_LT(gigabytes, 12.8);
}

// A bus of 1,024 bits moves 128 bytes at once.
TEST(DramTimingTest, AWideBusMovesWholeTransfers) {
  Dram wide = dram();
  wide.bus_bits = 1024;
  RowDram timing(wide);
  EXPECT_EQ(timing.access(0, 64, 64, false), 10'000u + 14'000u + 1'000u);
  EXPECT_EQ(timing.access(100'000, 96, 64, false), 100'000u + 14'000u + 2'000u);
}

TEST(FixedDramTest, EachAccessTakesTheLatencyAndTheBus) {
  Dram memory;
  memory.data_rate_mts = 1000;
  memory.bus_bits = 64;
  memory.latency_ns = 40;
  const std::unique_ptr<DramTiming> timing = make_dram_timing(memory);
  // 40 of latency, 8 of data, wherever it is.
  EXPECT_EQ(timing->access(0, 0, 64, false), 48'000u);
  EXPECT_EQ(timing->access(100'000, 1 << 20, 64, true), 148'000u);
  // Behind the other on the bus; half a granule takes it for a whole one, and two for two.
  EXPECT_EQ(timing->access(101'000, 64, 32, false), 156'000u);
  EXPECT_EQ(timing->access(101'000, 32, 64, false), 172'000u);
  timing->restart();
  EXPECT_EQ(timing->access(0, 0, 64, false), 48'000u);
}

TEST(FixedDramTest, ServesAtTheRateOfTheBus) {
  Dram memory;
  memory.data_rate_mts = 3200;
  memory.bus_bits = 32;
  memory.latency_ns = 100;
  FixedDram timing(memory);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(timing.access(0, 4096 * i, 256, false), 100'000 + 20'000 * (i + 1));  // 256 bytes at 12.8 a ns
  }
}

}  // namespace
}  // namespace npu::timing::testing
