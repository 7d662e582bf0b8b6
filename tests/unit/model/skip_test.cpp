// SPDX-License-Identifier: Apache-2.0
// Commands that are skipped: they do nothing, but everything behind them is as if they did.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::Counter;
using contract::ErrorCode;

template <class Command>
Command skipped(Command command) {
  command.header.skip = true;
  return command;
}

class SkipTest : public ::testing::TestWithParam<Mode> {
 protected:
  SkipTest() : bench_(options(GetParam())) {
    bench_.write(reg::kEventBaseLo, Bench::kEventBase);
    bench_.write(reg::kEventCapacity, 32);
  }
  static BenchOptions options(Mode mode) {
    BenchOptions options;
    options.mode = mode;
    return options;
  }
  static contract::DmaCommand load(uint32_t channel, uint32_t from, uint32_t to, uint32_t bytes) {
    return copy(channel, dram(from), spm(to), bytes);
  }
  contract::Event event(uint32_t place) {
    return contract::Event::load(bench_.memory.data.data() + Bench::kEventBase + place * contract::Event::kBytes);
  }
  // Of the command with an index in the stream.
  contract::Event event_of(uint32_t command) {
    for (uint32_t i = 0; i < bench_.read(reg::kEventCount); ++i) {
      if (event(i).command == command) return event(i);
    }
    ADD_FAILURE() << "no record of command " << command;
    return {};
  }
  void run_well(const Stream& stream) {
    ASSERT_TRUE(bench_.run(stream));
    ASSERT_EQ(bench_.fault(), ErrorCode::kOk);
    bench_.expect_identities();
  }
  void expect_hazard(const Stream& stream, uint32_t command, uint32_t other) {
    ASSERT_TRUE(bench_.run(stream));
    ASSERT_EQ(bench_.fault(), ErrorCode::kFaultHazard);
    EXPECT_EQ(bench_.read(reg::kFaultCommand), command);
    EXPECT_EQ(bench_.read(reg::kFaultOther), other);
    bench_.write(reg::kControl, reg::kControlSoftResetMask);
  }
  bool copied(uint32_t from, uint32_t to, uint32_t bytes) {
    const auto data = bench_.memory.data.begin();
    return std::equal(data + from, data + from + bytes, data + to);
  }
  Bench bench_;
};

// Whatever it says, it moves nothing: not even what would be a fault.
TEST_P(SkipTest, DoesNothing) {
  const std::vector<uint8_t> before(bench_.memory.data.begin(), bench_.memory.data.begin() + Bench::kWorkspaceBytes);
  Stream stream(small_machine());
  const uint32_t store = stream.add(skipped(copy(0, dram(0), dram(0x1000), 256)));
  const uint32_t beyond = stream.add(skipped(copy(1, dram(UINT32_MAX - 16), spm(0), 4096)));
  const uint32_t unknown = stream.add(skipped(copy(2, variable(7), spm(0), 64)));
  const uint32_t tile = stream.add(skipped(ewise(spm(0), spm(64), 64)));
  contract::DmaCommand none = skipped(copy(0, dram(0), dram(0x1000), 0));
  none.count.fill(0);
  stream.add(none);
  run_well(stream);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), bench_.memory.data.begin()));
  EXPECT_EQ(bench_.vpu->runs, 0);
  for (const uint32_t command : {store, beyond, unknown, tile}) {
    const contract::Event record = event_of(command);
    EXPECT_EQ(record.completed, record.started) << command;
    EXPECT_EQ(record.busy, 0u);
    EXPECT_EQ(record.stalled, 0u);
    EXPECT_EQ(record.dram_read + record.dram_written + record.psram_read + record.psram_written, 0u);
  }
  EXPECT_EQ(event_of(tile).queue, kVpuQueue);
  for (const uint32_t queue : {0u, 1u, 2u, kVpuQueue}) {
    EXPECT_EQ(bench_.counter(queue, Counter::kCommands), queue == 0 ? 2u : 1u);
    EXPECT_EQ(bench_.counter(queue, Counter::kBusy), 0u);
    EXPECT_EQ(bench_.counter(queue, Counter::kBytesReadAsked), 0u);
  }
}

// It counts where commands are numbered.
TEST_P(SkipTest, TakesANumber) {
  Stream stream(small_machine());
  stream.add(skipped(load(0, 0, 0, 64)));
  const uint32_t bad = stream.add(load(0, Bench::kWorkspaceBytes, 0, 64));
  ASSERT_TRUE(bench_.run(stream));
  EXPECT_EQ(bench_.fault(), ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(bench_.read(reg::kFaultCommand), bad);
}

// Behind it is behind what it waits for, in time and for the hazard check.
TEST_P(SkipTest, WaitsForItsTokens) {
  Stream stream(small_machine());
  const uint32_t first = stream.add(load(0, 0, 0, 4096));
  const uint32_t middle = stream.add(skipped(ewise(spm(0), spm(64), 64)), {{0, 1}});
  const uint32_t last = stream.add(copy(1, spm(0), dram(0x8000), 4096), {{kVpuQueue, 1}});
  run_well(stream);
  EXPECT_TRUE(copied(0, 0x8000, 4096));
  EXPECT_GE(event_of(middle).started, event_of(first).completed);
  EXPECT_GE(event_of(last).started, event_of(middle).completed);
  if (GetParam() == Mode::kTimed) {
    EXPECT_GT(event_of(first).completed, 4096u / 16);
  }
  // Without its token nothing orders them.
  Stream wrong(small_machine());
  const uint32_t write = wrong.add(load(0, 0, 0, 4096));
  wrong.add(skipped(ewise(spm(0), spm(64), 64)));
  const uint32_t read = wrong.add(copy(1, spm(0), dram(0x8000), 4096), {{kVpuQueue, 1}});
  expect_hazard(wrong, read, write);
}

// A later command in its own queue is behind it, too.
TEST_P(SkipTest, KeepsTheOrderOfItsQueue) {
  Stream stream(small_machine());
  stream.add(load(0, 0, 0, 4096));
  stream.add(skipped(load(1, 0, 0, 64)), {{0, 1}});
  stream.add(copy(1, spm(0), dram(0x8000), 4096));
  run_well(stream);
  EXPECT_TRUE(copied(0, 0x8000, 4096));
}

// Two tiles through two halves of a buffer: the second one's load and store are skipped or not, and no token of another
// command differs.
TEST_P(SkipTest, KeepsTheDistancesOfTokens) {
  const auto tiles = [](bool skip, uint8_t distance) {
    const auto maybe = [&](contract::DmaCommand command) {
      command.header.skip = skip;
      return command;
    };
    Stream stream(small_machine());
    stream.add(load(0, 0, 0, 1024));
    stream.add(maybe(load(0, 0x1000, 1024, 1024)));
    stream.add(load(0, 0x2000, 2048, 1024));
    // The first one, with so many loads behind it.
    stream.add(copy(1, spm(0), dram(0x8000), 1024), {{0, distance}});
    stream.add(maybe(copy(1, spm(1024), dram(0x9000), 1024)), {{0, 2}});
    stream.add(copy(1, spm(2048), dram(0xa000), 1024), {{0, 1}});
    return stream;
  };
  for (const bool skip : {false, true}) {
    SCOPED_TRACE(skip);
    std::fill_n(bench_.memory.data.begin() + 0x8000, 0x3000, uint8_t{0});
    run_well(tiles(skip, 3));
    EXPECT_TRUE(copied(0, 0x8000, 1024));
    EXPECT_EQ(copied(0x1000, 0x9000, 1024), !skip);
    EXPECT_TRUE(copied(0x2000, 0xa000, 1024));
    expect_hazard(tiles(skip, 4), 4, 1);
  }
}

// More of them than a queue holds.
TEST_P(SkipTest, ManyInARowPass) {
  Stream stream(small_machine());
  stream.add(load(0, 0, 0, 1024));
  for (int i = 0; i < 100; ++i) stream.add(skipped(load(0, 0, 0, 1024)));
  stream.add(copy(1, spm(0), dram(0x8000), 1024), {{0, 101}});
  run_well(stream);
  EXPECT_TRUE(copied(0, 0x8000, 1024));
  EXPECT_EQ(bench_.counter(0, Counter::kCommands), 101u);
  EXPECT_EQ(bench_.counter(0, Counter::kBytesRead), 1024u);
}

// The sequencer's own commands are not skipped.
TEST_P(SkipTest, IsNotForTheSequencer) {
  Stream stream(small_machine());
  contract::LabelCommand label;
  label.header.queue = contract::Queue::kSequencer;
  label.index = 1;
  const uint32_t bad = stream.add(skipped(label));
  ASSERT_TRUE(bench_.run(stream));
  EXPECT_EQ(bench_.fault(), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench_.read(reg::kFaultCommand), bad);
}

INSTANTIATE_TEST_SUITE_P(Modes, SkipTest, ::testing::Values(Mode::kTimed, Mode::kFunctional),
                         [](const auto& info) { return info.param == Mode::kTimed ? "Timed" : "Functional"; });

// A channel that reads ahead must not read for a command that is skipped, behind loads that would hide it, and in a
// place of the FIFO that a load had before.
TEST(SkipAheadTest, NothingIsReadAheadForIt) {
  constexpr uint32_t kLoads = 12, kBytes = 512;
  BenchOptions options;
  options.caps.dma_read_ahead = 1;
  Bench bench(options);
  Stream stream(options.caps);
  for (uint32_t i = 0; i < kLoads; ++i) {
    stream.add(copy(0, dram(i * kBytes), spm(i * kBytes), kBytes));
    if (i % 3 == 2) stream.add(skipped(copy(0, dram(0x10000 + i * kBytes), spm(i * kBytes), kBytes)));
  }
  stream.add(copy(0, spm(0), dram(0x8000), kLoads * kBytes));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_EQ(bench.counter(0, Counter::kDramRead), kLoads * kBytes);
  EXPECT_EQ(bench.counter(0, Counter::kBytesRead), 2 * kLoads * kBytes);
  EXPECT_TRUE(std::equal(bench.memory.data.begin(), bench.memory.data.begin() + kLoads * kBytes,
                         bench.memory.data.begin() + 0x8000));
  bench.expect_identities();
}

}  // namespace
}  // namespace npu::model::testing
