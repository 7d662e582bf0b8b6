// SPDX-License-Identifier: Apache-2.0
// DMA channels that read ahead: when they do, that order and bytes stay as they are, and what fails in between.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <random>
#include <vector>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;

contract::Capabilities machine(bool ahead) {
  contract::Capabilities caps = small_machine();
  caps.dma_read_ahead = ahead ? 1 : 0;
  return caps;
}

// Cycles of a job, on a bench in a process of its own: there is one a process.
uint64_t cycles_of(bool ahead, const std::vector<contract::DmaCommand>& commands) {
  std::cout.flush();
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    BenchOptions options;
    options.caps = machine(ahead);
    Bench bench(options);
    Stream stream(options.caps);
    for (const contract::DmaCommand& command : commands) stream.add(command);
    EXPECT_TRUE(bench.run(stream));
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
    bench.expect_identities();
    const uint64_t cycles = ::testing::Test::HasFailure() ? 0 : bench.job_cycles();
    std::cout.flush();
    _exit(write(ends[1], &cycles, sizeof cycles) == sizeof cycles ? 0 : 1);
  }
  uint64_t cycles = 0;
  EXPECT_EQ(read(ends[0], &cycles, sizeof cycles), static_cast<ssize_t>(sizeof cycles));
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  for (const int end : ends) close(end);
  EXPECT_GT(cycles, 0u);
  return cycles;
}

// Memory answers 20 cycles after it was asked, which two bursts of four that may be in flight leave idle. Four leave no
// place for others: the second command's bursts come one by one, as places are free.
TEST(ReadAheadTest, HidesTheLatencyOfTheNextLoad) {
  const auto loads = [](uint32_t bytes) {
    return std::vector{copy(0, dram(0), spm(0), bytes), copy(0, dram(0x400), spm(0x400), bytes)};
  };
  EXPECT_EQ(cycles_of(true, loads(128)) + 20, cycles_of(false, loads(128)));
  EXPECT_EQ(cycles_of(true, loads(256)) + 15, cycles_of(false, loads(256)));
}

// Each of these second commands begins when the first one has ended.
TEST(ReadAheadTest, ReadsNothingElseAhead) {
  const contract::DmaCommand load = copy(0, dram(0), spm(0), 256);
  contract::DmaCommand fill = copy(0, {}, spm(0x400), 256);
  fill.mode = contract::DmaMode::kFill;
  fill.fill_bytes = 1;
  const std::vector<contract::DmaCommand> others = {copy(0, spm(0x800), dram(0x800), 256),
                                                    copy(0, dram(0x800), dram(0xc00), 256), fill};
  for (const contract::DmaCommand& other : others) {
    for (const auto& pair : {std::vector{load, other}, std::vector{other, load}}) {
      EXPECT_EQ(cycles_of(true, pair), cycles_of(false, pair));
    }
  }
}

// Written by channel 1, read by channel 0 behind its token: read too early, these are the old bytes.
TEST(ReadAheadTest, WaitsForTokens) {
  BenchOptions options;
  options.caps = machine(true);
  Bench bench(options);
  Stream stream(options.caps);
  stream.add(copy(1, spm(0), dram(0x4000), 2048));
  stream.add(copy(0, dram(0), spm(0x2000), 256));
  stream.add(copy(0, dram(0x4000), spm(0x3000), 2048), {{1, 1}});
  stream.add(copy(0, spm(0x3000), dram(0x8000), 2048));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  const auto& data = bench.memory.data;
  EXPECT_TRUE(std::equal(data.begin() + 0x4000, data.begin() + 0x4800, data.begin() + 0x8000));
}

// Loads and stores of random bytes over each other in one channel, answered in any order: as if one by one.
TEST(ReadAheadTest, KeepsTheOrderOfAChannel) {
  BenchOptions options;
  options.caps = machine(true);
  options.jitter = {7, 30, 30, 30};
  options.answer = Answer::kReversed;
  Bench bench(options);
  std::mt19937 random(5);
  constexpr uint32_t kRoom = 0x1000, kMost = 0x600;
  std::vector<uint8_t> spm_bytes = bench.dump_scratchpad(0, kRoom);
  std::vector<uint8_t> dram_bytes(bench.memory.data.begin(), bench.memory.data.begin() + kRoom);
  for (int trial = 0; trial < 60; ++trial) {
    Stream stream(options.caps);
    for (int i = 0; i < 10; ++i) {
      const uint32_t bytes = 1 + random() % kMost, from = random() % (kRoom - bytes), to = random() % (kRoom - bytes);
      const bool load = random() % 3 != 0;
      stream.add(load ? copy(0, dram(from), spm(to), bytes) : copy(0, spm(from), dram(to), bytes));
      const auto& source = load ? dram_bytes : spm_bytes;
      std::copy_n(source.begin() + from, bytes, (load ? spm_bytes : dram_bytes).begin() + to);
    }
    ASSERT_TRUE(bench.run(stream));
    ASSERT_EQ(bench.fault(), ErrorCode::kOk);
    bench.expect_identities();
    ASSERT_EQ(bench.dump_scratchpad(0, kRoom), spm_bytes) << "trial " << trial << " of seed 5";
    ASSERT_TRUE(std::equal(dram_bytes.begin(), dram_bytes.end(), bench.memory.data.begin())) << "trial " << trial;
  }
}

// Whichever burst fails, of the command in hand or of what is read ahead: the fault is of the command that reads it, at
// its address; and the next job is right.
TEST(ReadAheadTest, AFaultIsOfTheCommandThatReads) {
  BenchOptions options;
  options.caps = machine(true);
  Bench bench(options);
  Stream stream(options.caps);
  constexpr uint32_t kLoads = 6, kBytes = 0x140, kFirst = 1;  // behind begin
  for (uint32_t i = 0; i < kLoads; ++i) stream.add(copy(0, dram(kBytes * i), spm(kBytes * i), kBytes));
  uint32_t of_data = 0;
  for (uint32_t burst = 1;; ++burst) {
    bench.npu.fail_burst(burst);
    ASSERT_TRUE(bench.run(stream));
    if (bench.npu.bursts_until_error() > 0) break;
    ASSERT_EQ(bench.fault(), ErrorCode::kFaultBus) << "burst " << burst;
    if (bench.read(contract::reg::kFaultQueue) == 0) {
      const uint32_t offset = bench.read(contract::reg::kFaultAddressLo);
      EXPECT_EQ(bench.read(contract::reg::kFaultCommand), kFirst + offset / kBytes) << "burst " << burst;
      ++of_data;
    }
  }
  bench.npu.fail_burst(0);
  EXPECT_EQ(of_data, kLoads * kBytes / 64);
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  const std::vector<uint8_t> wanted(bench.memory.data.begin(), bench.memory.data.begin() + kLoads * kBytes);
  EXPECT_EQ(bench.dump_scratchpad(0, kLoads * kBytes), wanted);
}

// A time limit at any cycle: what was read ahead disturbs no later job.
TEST(ReadAheadTest, StopsWithItsJob) {
  BenchOptions options;
  options.caps = machine(true);
  Bench bench(options);
  Stream stream(options.caps);
  constexpr uint32_t kBytes = 0x140 * 4;
  for (uint32_t i = 0; i < 4; ++i) stream.add(copy(0, dram(0x140 * i), spm(0x140 * i), 0x140));
  ASSERT_TRUE(bench.run(stream));
  const uint64_t cycles = bench.job_cycles();
  const std::vector<uint8_t> wanted(bench.memory.data.begin(), bench.memory.data.begin() + kBytes);
  uint32_t stopped = 0;
  for (uint64_t limit = 20; limit < cycles; limit += 7) {
    bench.write(contract::reg::kCycleLimitLo, static_cast<uint32_t>(limit));
    ASSERT_TRUE(bench.run(stream));
    ASSERT_EQ(bench.fault(), ErrorCode::kFaultTimeout) << limit;
    ++stopped;
    bench.write(contract::reg::kCycleLimitLo, 0);
    ASSERT_TRUE(bench.run(stream));
    ASSERT_EQ(bench.fault(), ErrorCode::kOk);
    ASSERT_EQ(bench.job_cycles(), cycles) << "behind a job of " << limit << " cycles";
    ASSERT_EQ(bench.dump_scratchpad(0, kBytes), wanted);
  }
  std::cout << stopped << " jobs stopped\n";
}

}  // namespace
}  // namespace npu::model::testing
