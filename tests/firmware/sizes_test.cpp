// SPDX-License-Identifier: Apache-2.0
// Jobs that bring sizes: when their stream is written, what comes back, and how jobs go on that were interrupted.
#include "tests/firmware/sizes_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using contract::Request;

TEST_F(SizesTest, TheStreamBecomesThatOfTheSizes) {
  boot();
  open(1, 0);
  const Table table = rows();
  const contract::Job job = place(table);
  for (const int64_t n : {64, 1, 31, 32, 33, 59, 60, 64, 2}) {
    SCOPED_TRACE(n);
    run_well(1, job, table, {n, n});
  }
}

// The words of the stream stay as they are, which shows in a word that someone else has changed meanwhile.
TEST_F(SizesTest, TheSameSizesAgainWriteNothing) {
  boot();
  open(1, 0);
  const Table table = rows();
  const contract::Job job = place(table);
  run_well(1, job, table, {20, 20});
  poke(job.commands + 4 * 7, {1234});
  bring(job, table, {20, 20});
  const uint32_t id = driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(words(job.commands + 4 * 7, 1)[0], 1234u);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, id, ErrorCode::kOk);
  // The results come back all the same.
  EXPECT_EQ(values_at(job.sizes + contract::JobSizes::kBytes + 16, 2), (std::vector<int64_t>{20, 80}));
  run_well(1, job, table, {21, 21});
}

// As a driver does that has written the commands anew.
TEST_F(SizesTest, AStreamThatIsNotCurrentIsWritten) {
  boot();
  open(1, 0);
  const Table table = rows();
  const contract::Job job = place(table);
  run_well(1, job, table, {20, 20});
  poison_stream(job);
  poke(job.size_table + 28, {0});
  run_well(1, job, table, {20, 20});
}

// The boot of another firmware knows nothing, but memory does.
TEST_F(SizesTest, AResetKeepsWhatIsCurrent) {
  boot();
  open(1, 0);
  const Table table = rows();
  const contract::Job job = place(table);
  run_well(1, job, table, {20, 20});
  boot();
  open(1, 0);
  run_well(1, job, table, {20, 20});
  run_well(1, job, table, {1, 1});
}

TEST_F(SizesTest, ProgramsWithAndWithoutSizesTakeTurns) {
  boot();
  open(1, 0);
  open(2, 0);
  Table other = rows();
  other.rules[0].words = {9};
  const contract::Job first = place(rows()), second = place(other, 1);
  for (const int64_t n : {5, 6, 6, 40}) {
    run_well(1, first, rows(), {n, n});
    const uint32_t plain = driver.run(1, simple_job(), 0);
    ASSERT_TRUE(device.run());
    device.end_done(10);
    ASSERT_TRUE(device.run());
    completion(1, plain, ErrorCode::kOk);
    run_well(2, second, other, {65 - n, 65 - n});
  }
}

// A job that is otherwise the one before may be one with sizes, or none.
TEST_F(SizesTest, AJobThatDiffersInItsNumberAndTableIsReadAgain) {
  boot();
  open(1, 0);
  const contract::Job job = place(rows()), other = place(rows(), 1);
  contract::Job plain = job, moved = job;
  plain.region_flags[0] = 0;
  plain.size_table = 0;
  moved.region_flags[0] = other.region_flags[0];
  moved.size_table = other.size_table;
  moved.sizes = other.sizes;
  run_well(1, job, rows(), {5, 5});
  poison_stream(job);
  const uint32_t id = driver.run(1, plain, 0);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(stream(job), std::vector<uint32_t>(job.command_words, kPoison));
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, id, ErrorCode::kOk);
  run_well(1, moved, rows(), {9, 9});
}

// What a job of another ring waits for behind a running one, in cycles of the device.
class BehindARunningJobTest : public SizesTest {
 protected:
  // From the end of a job to the start of one that was behind it.
  uint64_t start_cycles(const contract::Job& job, const std::vector<int64_t>& sizes, uint32_t ring) {
    bring(job, rows(), sizes);
    const uint32_t running = driver.run(1, simple_running(), 0), behind = driver.run(ring, job, 1);
    EXPECT_TRUE(device.run());
    device.end_done(1000);
    const uint64_t ended = device.time();
    before = stream(job);
    EXPECT_TRUE(device.run());
    EXPECT_TRUE(device.busy);
    EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), job.commands);
    const uint64_t cycles = last_start().time - ended;
    device.end_done(1000);
    EXPECT_TRUE(device.run());
    completion(1, running, ErrorCode::kOk);
    completion(ring, behind, ErrorCode::kOk);
    look(job, rows(), sizes);
    return cycles;
  }
  static contract::Job simple_running() {
    contract::Job job = simple_job();
    job.commands += 0x8000;
    return job;
  }
  std::vector<uint32_t> before;  // the stream when the job before ended
};

TEST_F(BehindARunningJobTest, AStreamIsWrittenWhenNothingRuns) {
  constexpr uint64_t kMostCycles = 700;  // as of jobs without sizes
  boot(2);
  device.word(reg::kPhaseCapacity) = 0;
  open(1, 1);
  open(2, 1);
  const contract::Job job = place(rows());
  for (const uint32_t ring : {1u, 2u}) {
    SCOPED_TRACE(ring);
    start_cycles(job, {5, 5}, ring);
    EXPECT_LE(start_cycles(job, {5, 5}, ring), kMostCycles);
    EXPECT_GT(start_cycles(job, {6, 6}, ring), kMostCycles);
    EXPECT_EQ(before, expected(job, rows(), {5, 5}));
  }
}

// Both read in the shadow, when the stream was of 5; then one of them makes it another one. (A driver does not do so.)
TEST_F(SizesTest, WhatWasSeenInTheShadowIsLookedAtAgain) {
  boot(2);
  open(1, 1);
  open(2, 1);
  open(3, 1);
  const Table table = rows();
  const contract::Job job = place(table);
  contract::Job same = job;
  same.sizes += 0x100;
  run_well(1, job, table, {5, 5});
  bring(job, table, {6, 6});
  bring(same, table, {5, 5});
  contract::Job running = simple_job();
  running.commands += 0x8000;
  driver.run(1, running, 0);
  driver.run(2, job, 1);
  driver.run(3, same, 2);
  ASSERT_TRUE(device.run());
  for (const int64_t n : {6, 5}) {
    device.end_done(10);
    ASSERT_TRUE(device.run());
    ASSERT_TRUE(device.busy);
    EXPECT_EQ(stream(job), expected(job, table, {n, n}));
  }
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_TRUE(driver.take(2) && driver.take(3));
}

TEST_F(SizesTest, AJobThatWasMadeReadyCanBeCancelled) {
  boot();
  open(1, 1);
  const Table table = rows();
  const contract::Job job = place(table);
  run_well(1, job, table, {5, 5});
  for (const int64_t n : {5, 6}) {
    bring(job, table, {n, n});
    contract::Job running = simple_job();
    running.commands += 0x8000;
    const uint32_t first = driver.run(1, running, 0), second = driver.run(1, job, 1);
    ASSERT_TRUE(device.run());
    driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{1, second});
    admin(0, ErrorCode::kOk);
    device.end_done(10);
    ASSERT_TRUE(device.run());
    EXPECT_FALSE(device.busy);
    completion(1, first, ErrorCode::kOk);
    completion(1, second, ErrorCode::kJobCancelled);
    EXPECT_EQ(stream(job), expected(job, table, {5, 5}));
  }
  run_well(1, job, table, {6, 6});
}

// It goes on in the stream that it started with, whatever that is by now.
TEST_F(SizesTest, AnInterruptedJobGoesOnInItsStream) {
  for (const uint32_t live : {0u, 128u}) {
    SCOPED_TRACE(live);
    boot();
    open(1, 0);
    open(2, 5);
    const Table table = rows();
    contract::Job job = place(table);
    const contract::Job yields = with_sizes(yielding_job(0, live), 0);
    bring(job, table, {20, 20});
    const uint32_t low = driver.run(1, yields, 0);
    ASSERT_TRUE(device.run());
    const contract::Job urgent = place(table, 1);
    bring(urgent, table, {3, 3});
    const uint32_t high = driver.run(2, urgent, 1);
    ASSERT_TRUE(device.run());
    device.end_preempted(100, 32, 0);
    ASSERT_TRUE(device.run());
    if (live > 0) {
      device.end_done(10);  // saved
      ASSERT_TRUE(device.run());
    }
    EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), urgent.commands);
    poke(job.commands + 4 * 7, {4321});
    poke(job.size_table + 28, {0});
    device.end_done(10);
    ASSERT_TRUE(device.run());
    if (live > 0) {
      device.end_done(10);  // restored
      ASSERT_TRUE(device.run());
    }
    EXPECT_EQ(last_start().at(reg::kCommandStart), 32u);
    EXPECT_EQ(words(job.commands + 4 * 7, 1)[0], 4321u);
    device.end_done(10);
    ASSERT_TRUE(device.run());
    completion(2, high, ErrorCode::kOk);
    EXPECT_EQ(completion(1, low, ErrorCode::kOk).preemptions, 1u);
    look(urgent, table, {3, 3});
  }
}

// The stream that loads them lies behind the main one, and runs first; it has no sizes.
TEST_F(SizesTest, ConstantsThatStayAreLoadedAsEver) {
  boot();
  open(1, 1);
  const Table table = rows();
  contract::Job job = place(table);
  job.region_base[0] = uint64_t{0x800} << 32 | 0x2000;
  job.region_limit[0] = 0x1000;
  job.load_word = 64;
  job.load_words = 20;
  for (const int64_t n : {5, 5, 6}) {
    bring(job, table, {n, n});
    const uint32_t id = driver.run(1, job, 0);
    ASSERT_TRUE(device.run());
    const bool loads = last_start().at(reg::kCommandWords) == job.load_words;
    EXPECT_EQ(loads, device.starts.size() == 1);
    if (loads) {
      device.end_done(10);
      ASSERT_TRUE(device.run());
    }
    EXPECT_EQ(last_start().at(reg::kCommandWords), job.command_words);
    EXPECT_EQ(stream(job), expected(job, table, {n, n}));
    device.end_done(10);
    ASSERT_TRUE(device.run());
    EXPECT_EQ(completion(1, id, ErrorCode::kOk).loads, loads ? 1 : 0);
    look(job, table, {n, n});
  }
}

// A line a job, of dimensions alone; long lists take several.
TEST_F(SizesTest, TheLogHasTheSizes) {
  boot();
  open(1, 0);
  const contract::Job job = place(rows());
  run_well(1, job, rows(), {20, 20});
  run_well(1, job, rows(), {20, 20});
  EXPECT_NE(driver.log().find(": sizes 20 20\n"), std::string::npos) << driver.log();
  Table many;
  for (uint32_t i = 0; i < contract::kMostSymbols; ++i) many.symbols.push_back({"x", -2147483647 - 1, 2147483647});
  std::vector<int64_t> sizes(many.symbols.size(), -2147483647 - 1);
  sizes.back() = 2147483647;
  const contract::Job long_job = place(many, 1);
  run_well(1, long_job, many, sizes);
  const std::string log = driver.log();
  std::string line = ": sizes";
  for (int i = 0; i < 6; ++i) line += " -2147483648";
  EXPECT_NE(log.find(line + "\n"), std::string::npos) << log;
  EXPECT_NE(log.find(": sizes -2147483648 -2147483648 -2147483648 2147483647\n"), std::string::npos) << log;
  const auto lines = [&] {
    size_t count = 0;
    for (size_t at = log.find("sizes "); at != std::string::npos; at = log.find("sizes ", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(lines(), 5u);
  boot(2);
  open(1, 0);
  run_well(1, job, rows(), {21, 21});
  EXPECT_EQ(driver.log().find("sizes"), std::string::npos);
}

// A table with as many words as one may have: it takes long, but the watchdog is kept quiet, and the bound of the
// driver is kept.
TEST_F(SizesTest, TheLargestTableIsWrittenInTime) {
  boot(2);
  open(1, 0);
  Table table = rows();
  table.rules.resize(1);
  contract::Job job = with_sizes(simple_job(), 0);
  job.command_words = 0x20000;
  const uint32_t left = contract::kMostSizeTableBytes - static_cast<uint32_t>(compiler::encode(table).size());
  for (uint32_t i = 0; i < left / 4; ++i) table.rules[0].words.push_back(i % job.command_words);
  ASSERT_EQ(compiler::encode(table).size(), contract::kMostSizeTableBytes);
  poison_stream(job);
  device.write_memory(job.size_table, compiler::encode(table));
  bring(job, table, {7, 7});
  const uint32_t id = driver.run(1, job, 0);
  device.work = {};
  ASSERT_TRUE(device.run(10'000'000));
  ASSERT_TRUE(device.busy);
  EXPECT_EQ(stream(job), expected(job, table, {7, 7}));
  RecordProperty("instructions", static_cast<int>(device.work.instructions));
  RecordProperty("memory_accesses", static_cast<int>(device.work.memory_accesses));
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, id, ErrorCode::kOk);
  // One row more is refused.
  table.rules[0].words.resize(table.rules[0].words.size() + 2);
  device.write_memory(job.size_table, compiler::encode(table));
  bring(job, table, {7, 7});
  run_badly(1, job, ErrorCode::kFaultSizes);
}

}  // namespace
}  // namespace npu::firmware_test
