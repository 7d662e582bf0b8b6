// SPDX-License-Identifier: Apache-2.0
// Streams for sizes within bounds that really run: bytes of every size, what it costs, and an urgent job in between.
#include "tests/firmware/chip_fixture.h"
#include "tests/firmware/sized_stream.h"

namespace npu::firmware_test {
namespace {

using contract::ErrorCode;

class SizesChipTest : public ChipTest {
 protected:
  static constexpr uint64_t kTable = 0x500000, kSizes = RingDriver::kShared + 0x38000, kCounters = 0x520000;
  static constexpr uint32_t kRow = SizedStream::kRowBytes, kBytes = SizedStream::kRows * kRow, kOut = 0x8000;

  explicit SizesChipTest(model::Mode mode = model::Mode::kTimed) : ChipTest(mode) {}

  // The input is region `input`, the output region `output`, both in the workspace's memory.
  contract::Job sized_job(bool yields = false, uint32_t passes = 1) {
    made = sized_stream_of(bench.caps(), contract::Region::kInput, contract::Region::kOutput,
                           {.yields = yields, .passes = passes});
    contract::Job job = this->job(0, static_cast<uint32_t>(made.words.size()));
    std::memcpy(bench.memory().data() + job.commands, made.words.data(), made.words.size() * 4);
    bench.write_memory(kTable, compiler::encode(made.table));
    job.size_table = kTable;
    job.sizes = kSizes;
    job.region_base[3] = kWorkspace;
    job.region_base[4] = kWorkspace + kOut;
    job.region_limit[3] = job.region_limit[4] = kBytes;
    job.region_flags[3] = job.region_flags[4] = job.region_flags[2];
    job.region_flags[0] = 1;
    job.counters = kCounters;
    if (yields) {
      job.segments = RingDriver::kSegments;
      job.segment_count = 1;
      contract::Segment segment;
      segment.yield_word = made.yield_word;
      segment.store(bench.memory().data() + job.segments);
    }
    return job;
  }
  void bring(int64_t rows) {
    contract::JobSizes header;
    header.version = 1;
    header.symbols = 1;
    header.hash = compiler::hash_of(compiler::encode(made.table));
    header.store(bench.memory().data() + kSizes);
    const std::array<int64_t, 3> values = {rows, -1, -1};
    std::memcpy(bench.memory().data() + kSizes + contract::JobSizes::kBytes, values.data(), sizeof values);
    std::fill_n(bench.memory().begin() + kWorkspace + kOut, kBytes, uint8_t{0xee});
  }
  void expect_rows(int64_t rows) {
    const auto bytes = static_cast<uint32_t>(rows) * kRow;
    EXPECT_TRUE(copied(0, kOut, bytes));
    const auto rest = bench.memory().begin() + kWorkspace + kOut + bytes;
    EXPECT_TRUE(std::all_of(rest, rest + (kBytes - bytes), [](uint8_t byte) { return byte == 0xee; }));
    std::array<int64_t, 2> results{};
    std::memcpy(results.data(), bench.memory().data() + kSizes + contract::JobSizes::kBytes + 8, sizeof results);
    EXPECT_EQ(results, (std::array<int64_t, 2>{rows, rows * kRow}));
  }
  contract::RingCompletion run(const contract::Job& job, int64_t rows) {
    SCOPED_TRACE(rows);
    bring(rows);
    driver.run(1, job, 0);
    const auto done = finish(1, ErrorCode::kOk);
    expect_rows(rows);
    return done;
  }

  SizedStream made;
};

TEST_F(SizesChipTest, EverySizeMovesItsBytes) {
  boot();
  open(1, 0);
  const contract::Job job = sized_job();
  for (const int64_t rows : {64, 1, 32, 33, 63, 2, 31, 64, 64}) run(job, rows);
  for (int64_t rows = 1; rows <= SizedStream::kRows; ++rows) run(job, rows);
}

// What the firmware takes for a job: of fixed sizes, of the sizes that the stream is of, of others. In cycles of its
// clock.
TEST_F(SizesChipTest, CostsLittleUnlessTheStreamIsWritten) {
  boot();
  open(1, 0);
  const contract::Job job = sized_job();
  contract::Job fixed = job;
  fixed.size_table = fixed.sizes = 0;
  fixed.region_flags[0] = 0;
  for (int i = 0; i < 3; ++i) {
    driver.run(1, fixed, 0);
    const auto done = finish(1, ErrorCode::kOk);
    RecordProperty("fixed_" + std::to_string(i), static_cast<int>(done.firmware_cycles));
  }
  run(job, 20);
  const uint64_t first = run(job, 20).firmware_cycles, same = run(job, 20).firmware_cycles;
  const uint64_t changed = run(job, 50).firmware_cycles, back = run(job, 20).firmware_cycles;
  RecordProperty("same", static_cast<int>(same));
  RecordProperty("changed", static_cast<int>(changed));
  EXPECT_LE(same, first);
  EXPECT_LT(same, changed);
  EXPECT_NEAR(static_cast<double>(back), static_cast<double>(changed), 100);
  EXPECT_LT(same, 2500u);
  EXPECT_LT(changed, 4000u);
}

TEST_F(SizesChipTest, WhatDoesNotFitRunsNothing) {
  boot();
  open(1, 0);
  const contract::Job job = sized_job();
  run(job, 40);
  for (const int64_t rows : {0, 65, -1}) {
    bring(rows);
    driver.run(1, job, 0);
    EXPECT_EQ(finish(1, ErrorCode::kSizeOutOfBounds).fault_other, 0u);
    const auto out = bench.memory().begin() + kWorkspace + kOut;
    EXPECT_TRUE(std::all_of(out, out + kBytes, [](uint8_t byte) { return byte == 0xee; }));
  }
  run(job, 40);
  run(job, 10);
}

// At its yield the stream of 60 rows waits for the urgent job, and goes on as that of 60 rows.
TEST_F(SizesChipTest, AnUrgentJobInterruptsIt) {
  boot();
  open(1, 0);
  open(2, 9);
  const contract::Job job = sized_job(true, 30);
  const contract::Job urgent = copy_job(1, 0x2000, 0x4000, 64);
  uint32_t preemptions = 0;
  for (int64_t rows = 33; rows <= SizedStream::kRows; ++rows) {
    SCOPED_TRACE(rows);
    bring(rows);
    driver.run(1, job, 0);
    ASSERT_TRUE(bench.until([&] { return driver.header(1).request_consumer == rows - 32; }, 1000));
    driver.run(2, urgent, 1);
    finish(2, ErrorCode::kOk);
    preemptions += finish(1, ErrorCode::kOk).preemptions;
    expect_rows(rows);
  }
  EXPECT_GT(preemptions, 0u);
}

class FunctionalSizesChipTest : public SizesChipTest {
 protected:
  FunctionalSizesChipTest() : SizesChipTest(model::Mode::kFunctional) {}
};

TEST_F(FunctionalSizesChipTest, EverySizeMovesItsBytes) {
  boot();
  open(1, 0);
  const contract::Job job = sized_job();
  for (int64_t rows = 1; rows <= SizedStream::kRows; ++rows) run(job, rows);
}

}  // namespace
}  // namespace npu::firmware_test
