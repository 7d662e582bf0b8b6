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

Dram patient(uint32_t refreshes) {
  Dram patient = dram();
  patient.refreshes_postponed = refreshes;
  return patient;
}

TEST(DramTimingTest, APostponedRefreshWaitsForAnIdleBus) {
  RowDram timing(patient(2));
  // A refresh is due at 1,000,000, and these leave no 100,000 between them.
  EXPECT_EQ(timing.access(950'000, 0, 64, false), 982'000u);
  EXPECT_EQ(timing.access(1'050'000, 64, 64, false), 1'072'000u);
  EXPECT_EQ(timing.access(1'172'000, 128, 64, false), 1'194'000u);
  EXPECT_EQ(timing.statistics().refreshes, 0u);
  // It begins at 1,294,000, 1,000 before this one: until 1,394,000, then 10 + 14 + 8.
  EXPECT_EQ(timing.access(1'295'000, 192, 64, false), 1'426'000u);
  EXPECT_EQ(timing.statistics(), (RowDram::Statistics{2, 2, 0, 1}));
  // The next one is due at 2,000,000, when nothing comes.
  EXPECT_EQ(timing.access(2'050'000, 0, 64, false), 2'132'000u);
  EXPECT_EQ(timing.statistics().refreshes, 2u);
}

TEST(DramTimingTest, AsManyAsMayBePostponedAndNoMore) {
  RowDram timing(patient(2));
  uint64_t last = 0, longest_at = 0, longest = 0;
  for (uint64_t at = 50'000; at < 4'500'000; at += 50'000) {  // the bus is never idle for 100,000
    const uint64_t waited = timing.access(at, 0, 64, false) - at;
    if (waited > longest) longest = waited, longest_at = at;
    last = at;
  }
  // Due at 1, 2, 3 and 4 million: the first at 3 million, where the third is due, the second at 4 million.
  EXPECT_EQ(timing.statistics().refreshes, 2u);
  EXPECT_EQ(longest_at, 3'000'000u);
  EXPECT_EQ(longest, 100'000u + 10'000 + 14'000 + 8'000);
  // Once the bus is idle, those that are due follow each other: from 100,000 after the last data, for 200,000.
  const uint64_t end = last + 14'000 + 8'000 + 100'000 + 200'000;
  EXPECT_EQ(timing.access(end + 1, 0, 64, false), end + 1 + 10'000 + 14'000 + 8'000);
  EXPECT_EQ(timing.statistics().refreshes, 4u);
  // One that arrives between two of them waits for the first only.
  for (uint64_t at = 4'850'000; at < 7'500'000; at += 50'000) static_cast<void>(timing.access(at, 0, 64, false));
  const uint64_t before = timing.statistics().refreshes;
  const uint64_t between = 7'450'000 + 14'000 + 8'000 + 100'000 + 50'000;
  EXPECT_EQ(timing.access(between, 0, 64, false), between + 50'000 + 10'000 + 14'000 + 8'000);
  EXPECT_EQ(timing.statistics().refreshes, before + 1);
}

// Calls check(arrival) behind each access.
template <class Check>
void access_now_and_then(RowDram& timing, Check check) {
  uint64_t at = 0;
  for (uint64_t i = 0; i < 20'000 && !::testing::Test::HasFatalFailure(); ++i) {
    at += (i * i * 7919) % 130'000;
    static_cast<void>(timing.access(at, i * 192, 64, i % 3 == 0));
    check(at);
  }
}

// However accesses come, no refresh is lost, and none waits for longer than it may.
TEST(DramTimingTest, RefreshesKeepTheirRate) {
  for (const uint32_t postponed : {0, 1, 8}) {
    RowDram timing(patient(postponed));
    access_now_and_then(timing, [&](uint64_t at) {
      ASSERT_GE(timing.statistics().refreshes + postponed, at / 1'000'000);
      ASSERT_LE(timing.statistics().refreshes, at / 1'000'000 + 1);
    });
  }
}

// Due of the banks 0 to 3 at 1,000,000, 1,250,000, 1,500,000 and 1,750,000, and so on.
Dram by_bank(uint32_t postponed) {
  Dram by_bank = patient(postponed);
  by_bank.refresh_by_bank = 1;
  return by_bank;
}

TEST(DramTimingTest, ARefreshOfABankLeavesTheOthersAlone) {
  RowDram timing(by_bank(0));
  EXPECT_EQ(timing.access(990'000, 0, 64, false), 1'022'000u);
  // Bank 0 is used until 1,022,000, closed at 1,034,000 and busy until 1,134,000.
  EXPECT_EQ(timing.access(1'050'000, kBankStep, 64, false), 1'082'000u);
  EXPECT_EQ(timing.access(1'100'000, 64, 64, false), 1'134'000u + 32'000u);
  EXPECT_EQ(timing.statistics(), (RowDram::Statistics{0, 3, 0, 1}));
  // The row of bank 1 is still open when its refresh is due, which waits for its end and for t_rp.
  EXPECT_EQ(timing.access(1'240'000, kBankStep, 64, false), 1'262'000u);
  EXPECT_EQ(timing.access(1'260'000, kBankStep + 64, 64, false), 1'262'000u + 12'000 + 100'000 + 32'000);
}

TEST(DramTimingTest, ABankThatIsUsedPostponesItsRefresh) {
  for (const uint32_t postponed : {0, 1, 2}) {
    RowDram timing(by_bank(postponed));
    uint64_t before = 0, waited = 0;
    // All of them wait, so that the bank is never idle. Data of 8,000 follow each other until the refresh.
    for (uint64_t i = 0; i < 1'000 && waited == 0; ++i) {
      const uint64_t done = timing.access(0, i % 16 * 64, 64, false);
      if (i > 0 && done != before + 8'000) waited = done - before;
      if (waited == 0) before = done;
    }
    // The next command, t_cas before its data, would have come when the refresh may no longer wait.
    EXPECT_EQ(before - 14'000, 1'000'000 + postponed * 1'000'000u + 2'000) << postponed;
    EXPECT_EQ(waited, 12'000u + 100'000 + 32'000) << postponed;
  }
}

TEST(DramTimingTest, BanksForWhichAccessesWaitAreRefreshedBehindOthers) {
  RowDram timing(by_bank(8));
  // All accesses wait from the start, and go from bank to bank: 125 times as long as a bank may wait for a refresh.
  const uint64_t accesses = 8 * 125 * 1'000'000 / 8'000;
  uint64_t done = 0;
  for (uint64_t i = 0; i < accesses; ++i) done = timing.access(0, i * 64, 64, false);
  EXPECT_LT(done, accesses * 8'000 * 11 / 10);
  EXPECT_GE(timing.statistics().refreshes, 4 * (done / 1'000'000 - 9));
}

TEST(DramTimingTest, RefreshesOfBanksFollowEachOther) {
  RowDram timing(by_bank(8));
  // Banks 0 and 1 take turns until 1,856,000 and 1,864,000, so that their refreshes wait.
  uint64_t done = 0;
  for (uint64_t i = 0; done < 1'864'000; ++i) done = timing.access(0, i % 2 * kBankStep + i / 2 % 16 * 64, 64, false);
  EXPECT_EQ(done, 1'864'000u);
  EXPECT_EQ(timing.statistics().refreshes, 0u);
  // Those of banks 2 and 3 are on time. Banks 0 and 1 wait for 100,000 and for t_rp: bank 0 is busy from 1,968,000 on,
  // bank 1 from 2,068,000 on. The next one of bank 0, due at 2,000,000, comes behind it.
  EXPECT_EQ(timing.access(2'100'000, 2 * kBankStep, 64, false), 2'100'000u + 32'000);
  EXPECT_EQ(timing.statistics().refreshes, 4u);
  EXPECT_EQ(timing.access(2'101'000, kBankStep, 64, false), 2'168'000u + 32'000);
}

TEST(DramTimingTest, RefreshesOfBanksAreOnTimeAfterALongPause) {
  RowDram timing(by_bank(2));
  // That of bank 1 begins at 200,250,000 and takes 100,000.
  EXPECT_EQ(timing.access(200'300'000, kBankStep, 64, false), 200'382'000u);
  EXPECT_EQ(timing.statistics().refreshes, 200u + 200u + 199u + 199u);
  EXPECT_EQ(timing.access(400'360'000, kBankStep, 64, false), 400'392'000u);
  EXPECT_EQ(timing.statistics().refreshes, 400u + 400u + 399u + 399u);
}

// Few wait where banks are mostly idle; where they never are, as many as may.
TEST(DramTimingTest, RefreshesOfBanksKeepTheirRate) {
  for (const uint32_t postponed : {0, 1, 8}) {
    RowDram timing(by_bank(postponed));
    access_now_and_then(timing, [&](uint64_t at) {
      ASSERT_GE(timing.statistics().refreshes + 8, 4 * (at / 1'000'000));
      ASSERT_LE(timing.statistics().refreshes, 4 * (at / 1'000'000 + 1));
    });
    timing.restart();
    uint64_t at = 0;
    for (uint64_t i = 0; i < 100'000; ++i) {
      at = timing.access(at, i % 16 * 64, 64, false);
      ASSERT_GE(timing.statistics().refreshes + 4 + postponed + 1, 4 * (at / 1'000'000));
    }
  }
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
  EXPECT_GT(gigabytes, 12.6);  // of 12.8 at the pins; refreshes take one bank at a time
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
