// SPDX-License-Identifier: Apache-2.0
// A job that is stopped at every yield, saved, overwritten, restored and resumed computes what it computes in one go,
// and what it counts and records in its parts is what it counts and records in one go.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::Counter;
using contract::ErrorCode;
using contract::Region;

constexpr uint32_t kBlock = 1024;
constexpr uint32_t kSource = 0, kResult = 0x10000;
constexpr uint32_t kSave = 0x50000;  // DRAM, outside of workspace
constexpr uint32_t kLive = 0x4000;   // bytes of the scratchpad that the program uses
constexpr uint32_t kCounters = 0xf0000;
constexpr uint32_t kEvents = 256;

// Rounds of load, compute, compute, store in a pipeline over two queues and the VPU, with a yield between the steps,
// so that tokens reach back over yields and everything is live somewhere.
Stream program(uint32_t rounds) {
  Stream stream(small_machine());
  uint32_t segment = 0;
  for (uint32_t i = 0; i < rounds; ++i) {
    const uint32_t a = i % 2 * 3 * kBlock, b = a + kBlock, c = b + kBlock;
    // The load overwrites what the computation two rounds before has read; the stores read what it must not.
    stream.add(copy(0, dram(kSource + i * kBlock), spm(a), kBlock), {{kVpuQueue, 2}, {1, 2}});
    stream.yield(segment++);
    stream.add(ewise(spm(a), spm(b), kBlock), {{0, 1}, {1, 2}});
    if (i % 2 == 1) stream.yield(segment++);
    stream.add(ewise(spm(b), spm(c), kBlock), {{kVpuQueue, 1}, {1, 2}});
    if (i % 3 == 1) stream.yield(segment++);
    stream.add(copy(1, spm(c), dram(kResult + i * kBlock), kBlock), {{kVpuQueue, 1}});
  }
  return stream;
}

struct Totals {
  std::vector<uint64_t> counters = std::vector<uint64_t>(reg::kCounterCount);
  uint64_t cycles = 0;
  uint32_t events = 0, parts = 0;
};

class PreemptTest : public ::testing::TestWithParam<Mode> {
 protected:
  static BenchOptions options() {
    BenchOptions options;
    options.mode = GetParam();
    options.poison = true;
    return options;
  }

  void clear_memory() {
    std::fill_n(bench_.memory.data.begin() + kResult, 0x8000, uint8_t{0});
    std::fill_n(bench_.memory.data.begin() + kCounters, 2048, uint8_t{0});
    std::fill_n(bench_.memory.data.begin() + Bench::kEventBase, kEvents * contract::Event::kBytes, uint8_t{0});
  }
  std::vector<uint8_t> result() const {
    return {bench_.memory.data.begin() + kResult, bench_.memory.data.begin() + kResult + 0x8000};
  }
  uint64_t counter_in_memory(uint32_t index) const {
    uint64_t value = 0;
    std::memcpy(&value, bench_.memory.data.data() + kCounters + index * 8, 8);
    return value;
  }

  // Runs one part of the main stream and adds up what it says.
  void run_part(const std::vector<uint32_t>& stream, uint32_t word, uint32_t also, Totals& totals) {
    bench_.write(reg::kJobFlags, word == 0 ? 0 : reg::kJobFlagsKeepScratchpadMask);
    bench_.write64(reg::kCycleBaseLo, totals.cycles);
    bench_.write64(reg::kCounterBaseLo, kCounters);
    bench_.write(reg::kEventBaseLo, Bench::kEventBase + totals.events * contract::Event::kBytes);
    bench_.write(reg::kEventCapacity, kEvents - totals.events);
    ASSERT_TRUE(bench_.run(stream, word, also));
    ASSERT_EQ(bench_.fault(), ErrorCode::kOk);
    bench_.expect_identities();
    for (uint32_t i = 0; i < reg::kCounterCount; ++i) totals.counters[i] += bench_.read64(reg::counter_lo(i));
    const uint32_t count = bench_.read(reg::kEventCount);
    for (uint32_t i = totals.events; i < totals.events + count; ++i) {
      EXPECT_GE(event(i).issued, totals.cycles);
      EXPECT_GE(event(i).started, event(i).issued);
      EXPECT_GE(event(i).completed, event(i).started);
      EXPECT_LE(event(i).completed, totals.cycles + bench_.job_cycles());
    }
    totals.events += count;
    totals.cycles += bench_.job_cycles();
    ++totals.parts;
  }

  static contract::Event event_at(const TestMemory& memory, uint32_t index) {
    return contract::Event::load(memory.data.data() + Bench::kEventBase + index * contract::Event::kBytes);
  }
  contract::Event event(uint32_t index) const { return event_at(bench_.memory, index); }

  // A stream of its own that moves the live bytes between scratchpad and DRAM.
  void move_live(bool save) {
    Stream stream(small_machine());
    stream.add(save ? copy(0, spm(0), at(Region::kSave, 0), kLive) : copy(0, at(Region::kSave, 0), spm(0), kLive));
    bench_.map_region(Region::kSave, kSave, kLive, contract::Space::kDram, true, true);
    bench_.write(reg::kEventCapacity, 0);
    bench_.write64(reg::kCounterBaseLo, 0);
    bench_.write(reg::kJobFlags, save ? reg::kJobFlagsKeepScratchpadMask : 0);
    ASSERT_TRUE(bench_.run(stream));
    ASSERT_EQ(bench_.fault(), ErrorCode::kOk);
  }
  // Another job that leaves its own bytes everywhere.
  void other_job() {
    Stream stream(small_machine());
    stream.add(fill(0, spm(0), small_machine().spm_bytes, 0x77));
    bench_.write(reg::kJobFlags, 0);
    ASSERT_TRUE(bench_.run(stream));
    ASSERT_EQ(bench_.fault(), ErrorCode::kOk);
  }

  // Asks for preemption at every yield.
  Totals run_in_parts(const Stream& stream) {
    const std::vector<uint32_t> words = stream.finish();
    Totals totals;
    uint32_t word = 0;
    for (uint32_t yield = 0; yield <= stream.yields(); ++yield) {
      run_part(words, word, reg::kControlPreemptMask, totals);
      if (::testing::Test::HasFatalFailure() || yield == stream.yields()) break;
      EXPECT_EQ(bench_.read(reg::kStatus), reg::kStatusPreemptedMask | reg::kStatusPoweredMask);
      EXPECT_EQ(bench_.read(reg::kYieldSegment), yield);
      word = bench_.read(reg::kCommandNext);
      EXPECT_EQ(word, stream.word_of_yield(yield));
      move_live(true);
      other_job();
      move_live(false);
    }
    EXPECT_EQ(bench_.read(reg::kStatus), reg::kStatusDoneMask | reg::kStatusPoweredMask);
    return totals;
  }

  Bench bench_{options()};
};

TEST_P(PreemptTest, PartsAreTheWhole) {
  constexpr uint32_t kRounds = 8;
  const Stream stream = program(kRounds);
  clear_memory();
  Totals whole;
  run_part(stream.finish(), 0, 0, whole);
  const std::vector<uint8_t> expected = result();
  ASSERT_TRUE(std::equal(expected.begin(), expected.begin() + kRounds * kBlock, bench_.memory.data.begin() + kSource));
  EXPECT_EQ(whole.events, stream.count());

  clear_memory();
  const Totals parts = run_in_parts(stream);
  EXPECT_EQ(parts.parts, stream.yields() + 1);
  EXPECT_EQ(result(), expected);

  // Every command completed once, in one of the parts.
  ASSERT_EQ(parts.events, stream.count());
  std::vector<uint32_t> commands;
  for (uint32_t i = 0; i < parts.events; ++i) commands.push_back(event(i).command);
  std::sort(commands.begin(), commands.end());
  for (uint32_t i = 0; i < commands.size(); ++i) EXPECT_EQ(commands[i], i);

  for (uint32_t i = 0; i < reg::kCounterCount; ++i) EXPECT_EQ(counter_in_memory(i), parts.counters[i]) << i;
  for (uint32_t queue = 0; queue < 16; ++queue) {
    // What does not depend on when things happen is the same in parts; the sequencer reads some of its stream again.
    for (const Counter counter : {Counter::kCommands, Counter::kMacs, Counter::kBytesRead, Counter::kBytesWritten,
                                  Counter::kDramWritten, Counter::kDramRead}) {
      const uint32_t index = contract::counter_index(queue, counter);
      const bool stream_bytes =
          queue == kSequencerQueue && (counter == Counter::kBytesRead || counter == Counter::kDramRead);
      if (stream_bytes) {
        EXPECT_GT(parts.counters[index], whole.counters[index]);
      } else {
        EXPECT_EQ(parts.counters[index], whole.counters[index]) << "queue " << queue;
      }
    }
  }
}

TEST_P(PreemptTest, WithoutItsBytesTheProgramComputesSomethingElse) {
  // The test above would see it: the same without saving and restoring.
  const Stream stream = program(4);
  const std::vector<uint32_t> words = stream.finish();
  clear_memory();
  Totals totals;
  run_part(words, 0, reg::kControlPreemptMask, totals);
  other_job();
  run_part(words, stream.word_of_yield(0), 0, totals);
  EXPECT_FALSE(std::equal(bench_.memory.data.begin() + kResult, bench_.memory.data.begin() + kResult + kBlock,
                          bench_.memory.data.begin() + kSource));
}

TEST_P(PreemptTest, ScratchpadIsKeptOrPoisoned) {
  Stream first(small_machine());
  first.add(fill(0, spm(0x100), 64, 0x5a));
  Stream second(small_machine());
  second.add(copy(0, spm(0x100), dram(kResult), 64));
  ASSERT_TRUE(bench_.run(first));
  bench_.write(reg::kJobFlags, reg::kJobFlagsKeepScratchpadMask);
  ASSERT_TRUE(bench_.run(second));
  EXPECT_EQ(bench_.memory.data[kResult], 0x5a);
  ASSERT_TRUE(bench_.run(second));
  EXPECT_EQ(bench_.memory.data[kResult], 0x5a);
  bench_.write(reg::kJobFlags, 0);
  ASSERT_TRUE(bench_.run(second));
  EXPECT_EQ(bench_.memory.data[kResult], Scratchpad::kPoison);
}

TEST_P(PreemptTest, CountersOfAFaultedJobAreAddedAndThoseOfAResetOneAreNot) {
  bench_.write64(reg::kCounterBaseLo, kCounters);
  clear_memory();
  Stream stream(small_machine());
  stream.add(fill(0, spm(0), 64, 1));
  stream.add(fill(0, spm(64), 64, 1));
  stream.add(copy(1, at(Region::kInput, 0), spm(0x1000), 16), {{0, 1}});  // not mapped
  ASSERT_TRUE(bench_.run(stream));
  ASSERT_EQ(bench_.fault(), ErrorCode::kFaultBadRegion);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < reg::kCounterCount; ++i) {
    EXPECT_EQ(counter_in_memory(i), bench_.read64(reg::counter_lo(i))) << i;
    sum += counter_in_memory(i);
  }
  EXPECT_GT(sum, 0u);

  Stream hangs(small_machine());
  hangs.add(fill(0, spm(0), 64, 1));
  bench_.npu.hang(0, 0);
  bench_.start(hangs.finish());
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  clear_memory();
  bench_.in_thread([&] { bench_.write(reg::kControl, reg::kControlSoftResetMask); });
  for (uint32_t i = 0; i < reg::kCounterCount; ++i) EXPECT_EQ(counter_in_memory(i), 0u) << i;
}

TEST_P(PreemptTest, CountersWithoutMemoryDoNoHarm) {
  bench_.write64(reg::kCounterBaseLo, (1 << 20) - 1024);  // half of the words lie behind the end
  const std::vector<uint8_t> before(bench_.memory.data.end() - 1024, bench_.memory.data.end());
  ASSERT_TRUE(bench_.run(program(2)));
  EXPECT_EQ(bench_.fault(), ErrorCode::kOk);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), bench_.memory.data.end() - 1024));
}

INSTANTIATE_TEST_SUITE_P(Modes, PreemptTest, ::testing::Values(Mode::kTimed, Mode::kFunctional),
                         [](const auto& mode) { return mode.param == Mode::kTimed ? "Timed" : "Functional"; });

}  // namespace
}  // namespace npu::model::testing
