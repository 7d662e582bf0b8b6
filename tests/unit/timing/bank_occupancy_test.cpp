// SPDX-License-Identifier: Apache-2.0
// Grants of banks in time buckets of 64 cycles.
#include "hw/timing/bank_occupancy.h"

#include <gtest/gtest.h>

#include <vector>

namespace npu::timing::testing {
namespace {

TEST(OccupancyTest, OneRequesterNeverWaits) {
  BankOccupancy banks(2);
  banks.begin_job();
  for (uint64_t start = 0; start < 10000; start += 256) {
    EXPECT_EQ(banks.book(start, 256, std::vector<uint32_t>{256, 10}), start + 256);
  }
}

TEST(OccupancyTest, AccessesOfOneBankTakeACycleEach) {
  BankOccupancy banks(1);
  banks.begin_job();
  EXPECT_EQ(banks.book(0, 10, std::vector<uint32_t>{1000}), 1000u);
}

TEST(OccupancyTest, ASecondRequesterWaitsForWhatIsLeft) {
  BankOccupancy banks(1);
  banks.begin_job();
  EXPECT_EQ(banks.book(0, 256, std::vector<uint32_t>{256}), 256u);
  // All 256 cycles are taken: 64 accesses wanted in the last bucket follow after it.
  EXPECT_EQ(banks.book(192, 64, std::vector<uint32_t>{64}), 256u + 64);
  // Half of the cycles of the next stretch are free.
  EXPECT_EQ(banks.book(320, 640, std::vector<uint32_t>{320}), 960u);
  EXPECT_EQ(banks.book(320, 640, std::vector<uint32_t>{320}), 960u);
  EXPECT_EQ(banks.book(320, 640, std::vector<uint32_t>{64}), 960u + 64);
}

TEST(OccupancyTest, BanksAreIndependent) {
  BankOccupancy banks(2);
  banks.begin_job();
  EXPECT_EQ(banks.book(0, 64, std::vector<uint32_t>{64, 0}), 64u);
  EXPECT_EQ(banks.book(0, 64, std::vector<uint32_t>{0, 64}), 64u);
  EXPECT_EQ(banks.book(0, 64, std::vector<uint32_t>{1, 0}), 65u);
}

TEST(OccupancyTest, AJobStartsWithFreeBanks) {
  BankOccupancy banks(1);
  banks.begin_job();
  banks.book(0, 640, std::vector<uint32_t>{640});
  banks.begin_job();
  EXPECT_EQ(banks.book(0, 64, std::vector<uint32_t>{64}), 64u);
}

TEST(OccupancyTest, StretchesLongerThanTheWindowEnd) {
  BankOccupancy banks(1);
  banks.begin_job();
  const uint64_t million = 1'000'000;
  EXPECT_GE(banks.book(0, 10, std::vector<uint32_t>{1'000'000}), million);
  EXPECT_GE(banks.book(5, million, std::vector<uint32_t>{10}), million + 5);
}

}  // namespace
}  // namespace npu::timing::testing
