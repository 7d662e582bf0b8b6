// SPDX-License-Identifier: Apache-2.0
// Jobs that stop at yield commands: where they may, what is saved, and that nothing of the result is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>

#include "driver/compiler/schedule/intervals.h"
#include "driver/compiler/schedule/liveness.h"
#include "driver/compiler/schedule/segments.h"
#include "driver/compiler/schedule/yields.h"
#include "hw/contract/error.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/compiler/byte_sets.h"
#include "tests/unit/compiler/command_interpreter.h"
#include "tests/unit/compiler/segment_checks.h"

namespace npu::compiler::testing {
namespace {

using backend::ByteSet;
using backend::ByteSpan;
using backend::IntervalSet;

TEST(IntervalSets, AreSetsOfBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    IntervalSet set;
    std::set<int64_t> bytes;
    for (int step = 0; step < 40; ++step) {
      const auto low = static_cast<int64_t>(random() % 60), high = low + 1 + static_cast<int64_t>(random() % 20);
      const bool add = random() % 3 != 0;
      bool all = true;
      size_t some = 0;
      for (int64_t at = low; at < high; ++at) {
        all &= bytes.contains(at);
        some += bytes.count(at);
      }
      ASSERT_EQ(set.contains(low, high), all);
      size_t within = 0;
      for (const ByteSpan& span : set.within(low, high)) within += static_cast<size_t>(span.high - span.low);
      ASSERT_EQ(within, some);
      for (int64_t at = low; at < high; ++at) {
        if (add) {
          bytes.insert(at);
        } else {
          bytes.erase(at);
        }
      }
      if (add) {
        set.add(low, high);
      } else {
        set.remove(low, high);
      }
      ASSERT_EQ(set.bytes(), static_cast<int64_t>(bytes.size()));
      std::set<int64_t> have;
      int64_t last = -1;
      for (const ByteSpan& span : set.spans()) {
        ASSERT_GT(span.low, last) << "neighbours are one";
        last = span.high;
        for (int64_t at = span.low; at < span.high; ++at) have.insert(at);
      }
      ASSERT_EQ(have, bytes);
    }
  }
}

TEST(Liveness, EndsWithTheLastReadAndBeginsWithTheWriteBeforeIt) {
  // Writes 0-100, reads 0-40, writes 20-60, reads 20-100 and, of bytes that were never written, 200-210.
  const std::vector<std::vector<ByteSet>> footprints = {
      {scratchpad_bytes(0, 100, true)},
      {scratchpad_bytes(0, 40, false)},
      {scratchpad_bytes(20, 40, true)},
      {scratchpad_bytes(20, 80, false), scratchpad_bytes(200, 10, false)},
  };
  const backend::Liveness liveness(footprints);
  EXPECT_THAT(liveness.bytes(), ::testing::ElementsAre(0, 40 + 40, 40, 80, 0));
  const std::vector<size_t> places = {1, 2, 3};
  const auto spans = liveness.spans(places);
  EXPECT_EQ(spans[0], (std::vector<ByteSpan>{{0, 40}, {60, 100}}));
  EXPECT_EQ(spans[1], (std::vector<ByteSpan>{{60, 100}}));
  EXPECT_EQ(spans[2], (std::vector<ByteSpan>{{20, 100}}));
}

TEST(Liveness, ACommandThatReadsWhatItWritesKeepsIt) {
  const std::vector<std::vector<ByteSet>> footprints = {{scratchpad_bytes(0, 16, true)},
                                                        {scratchpad_bytes(0, 16, true), scratchpad_bytes(0, 16, false)},
                                                        {scratchpad_bytes(8, 8, false)}};
  EXPECT_THAT(backend::Liveness(footprints).bytes(), ::testing::ElementsAre(0, 16, 8, 0));
}

TEST(Pieces, AreAlignedFewAndCoverAllOfIt) {
  EXPECT_TRUE(backend::pieces_of({}).empty());
  EXPECT_EQ(backend::pieces_of({{3, 5}, {40, 41}}), (std::vector<ByteSpan>{{0, 48}}));
  EXPECT_EQ(backend::pieces_of({{16, 32}, {4096, 4100}}), (std::vector<ByteSpan>{{16, 32}, {4096, 4112}}));
  std::vector<ByteSpan> many;
  for (int64_t i = 0; i < 50; ++i) many.push_back({i * 10000, i * 10000 + 8000 - i});
  const std::vector<ByteSpan> pieces = backend::pieces_of(many);
  EXPECT_LE(pieces.size(), 8u);
  for (const ByteSpan& span : many) {
    EXPECT_TRUE(std::any_of(pieces.begin(), pieces.end(),
                            [&](const ByteSpan& p) { return p.low <= span.low && span.high <= p.high; }));
  }
}

// A stream of one queue in which command i is issued at once and done at done[i].
backend::Yields choose(const std::vector<double>& done, const std::vector<int64_t>& live, uint32_t limit) {
  std::vector<backend::Command> commands(done.size());
  backend::Timeline timeline;
  for (size_t i = 0; i < done.size(); ++i) {
    timeline.issued.push_back(static_cast<double>(i + 1));
    timeline.completed.push_back(done[i]);
  }
  return backend::choose_yields(commands, timeline, live, limit);
}

std::vector<size_t> places(const backend::Yields& yields) {
  std::vector<size_t> out;
  for (const backend::YieldPoint& point : yields.points) out.push_back(point.before);
  return out;
}

TEST(Yields, TakeThePointWithTheFewestLiveBytesOfTheLaterHalf) {
  const std::vector<double> done = {100, 200, 300, 400, 500, 600, 700, 800};
  //                    before command:   0  1  2  3  4  5  6  7  end
  EXPECT_THAT(places(choose(done, {0, 1, 9, 5, 9, 9, 5, 9, 0}, 400)), ::testing::ElementsAre(3, 6));
  EXPECT_THAT(places(choose(done, {0, 1, 9, 5, 5, 9, 9, 9, 0}, 400)), ::testing::ElementsAre(4)) << "equal: the latest";
  EXPECT_THAT(places(choose(done, {0, 1, 1, 1, 1, 1, 1, 1, 0}, 800)), ::testing::ElementsAre()) << "short enough";
}

TEST(Yields, ComeAfterEveryCommandThatIsLongerThanASegment) {
  const backend::Yields yields = choose({1000, 2000, 2000, 3000}, {0, 5, 9, 5, 0}, 100);
  EXPECT_THAT(places(yields), ::testing::ElementsAre(1, 3)) << "before command 2 nothing would be gained";
  EXPECT_EQ(yields.points[0].cycles, 1000);
  EXPECT_EQ(yields.points[1].cycles, 2000 - 1) << "from when the first point was passed";
  EXPECT_EQ(yields.tail, 3000 - 3);
}

// A label with this number, and a branch back to it.
backend::Command label_at(uint32_t number) {
  contract::LabelCommand label;
  label.header.queue = contract::Queue::kSequencer;
  label.index = number;
  return {label};
}
backend::Command branch_back_to(uint32_t number) {
  contract::BranchCommand branch;
  branch.header.queue = contract::Queue::kSequencer;
  branch.mode = contract::BranchMode::kRepeat;
  branch.target = number;
  return {branch};
}

TEST(Yields, LieInEveryLoopAlsoBehindTheLastQueuedCommand) {
  const std::vector<backend::Command> commands = {{},          label_at(0),       branch_back_to(0),
                                                  label_at(1), branch_back_to(1), label_at(2)};
  const backend::Timeline timeline{{1, 2, 102, 107, 109, 114}, {100, 102, 107, 109, 114, 116}};
  const backend::Yields yields = backend::choose_yields(commands, timeline, std::vector<int64_t>(7), 100'000);
  ASSERT_THAT(places(yields), ::testing::ElementsAre(2, 4));
  EXPECT_EQ(yields.points[0].cycles, 107 - 2) << "from its last time";
  EXPECT_EQ(yields.points[1].cycles, 109 - 2);
  EXPECT_EQ(yields.tail, 116 - 107) << "to the end of the stream";
}

struct Machine {
  const char* name;
  contract::Capabilities capabilities;
  ScheduleOptions options;
};

std::vector<Machine> machines(uint32_t seed) {
  constexpr std::array<uint32_t, 4> kSegments = {1, 100, 700, 2048};
  std::vector<Machine> out{{"edge", edge_capabilities(), {}}, {"nano", nano_capabilities(), {}}};
  contract::Capabilities small = nano_capabilities();
  small.spm_bytes = 16 << 10;
  out.push_back({"tiny", small, {}});
  out.push_back({"tiny, single buffered", small, {false, false, 0}});
  for (size_t i = 0; i < out.size(); ++i) out[i].options.segment_cycles = kSegments[(seed + i) % kSegments.size()];
  return out;
}

struct Results {
  std::vector<std::vector<uint8_t>> outputs, variables;
  friend bool operator==(const Results&, const Results&) = default;
};

class Bench {
 public:
  Bench(Program program, const contract::Capabilities& capabilities, uint32_t seed)
      : program_(std::move(program)), capabilities_(capabilities) {
    std::mt19937 random(seed);
    for (const Port& port : program_.inputs) {
      inputs_.emplace_back(port.bytes);
      for (uint8_t& byte : inputs_.back()) byte = static_cast<uint8_t>(random());
    }
  }

  // Stops wherever at_yield does.
  Results run(const std::function<void(CommandInterpreter&, size_t)>& at_yield) {
    CommandInterpreter device(program_, capabilities_);
    for (size_t i = 0; i < inputs_.size(); ++i) device.set_input(i, inputs_[i]);
    device.run([&](size_t segment) { at_yield(device, segment); });
    EXPECT_THAT(device.complaints, ::testing::ElementsAre());
    Results results;
    for (size_t i = 0; i < program_.outputs.size(); ++i) results.outputs.push_back(device.output(i));
    for (size_t i = 0; i < program_.variables.size(); ++i) results.variables.push_back(device.variable(i));
    return results;
  }
  Results undisturbed() {
    return run([](CommandInterpreter&, size_t) {});
  }

  // Stops at all yields in one run, and at each of `single` in a run of its own.
  void expect_nothing_lost(std::span<const size_t> single, uint32_t seed) {
    const Results want = undisturbed();
    EXPECT_TRUE(run([&](CommandInterpreter& device, size_t segment) {
                  device.preempt(segment, seed + static_cast<uint32_t>(segment));
                }) == want)
        << "stopped at every yield";
    for (const size_t only : single) {
      EXPECT_TRUE(run([&](CommandInterpreter& device, size_t segment) {
                    if (segment == only) device.preempt(segment, seed);
                  }) == want)
          << "stopped at yield " << only;
    }
  }

  // Inverts each range of live bytes at some yields after they were brought back, one range a run; how many of them the
  // results show.
  std::pair<size_t, size_t> lose_live_ranges(size_t yields, size_t ranges) {
    const Results want = undisturbed();
    const auto live = live_bytes(program_, capabilities_);
    size_t lost = 0, noticed = 0;
    for (size_t y = 0; y < live.size(); y += std::max<size_t>(1, live.size() / yields)) {
      for (size_t r = 0; r < live[y].size(); r += std::max<size_t>(1, live[y].size() / ranges)) {
        const ByteSpan span = live[y][r];
        ++lost;
        const Results have = run([&](CommandInterpreter& device, size_t segment) {
          if (segment != y) return;
          device.preempt(segment, 7);
          for (int64_t at = span.low; at < span.high; ++at) device.scratchpad()[static_cast<size_t>(at)] ^= 0xff;
        });
        if (have != want) ++noticed;
      }
    }
    return {lost, noticed};
  }

  [[nodiscard]] const Program& program() const { return program_; }

 private:
  Program program_;
  const contract::Capabilities& capabilities_;
  std::vector<std::vector<uint8_t>> inputs_;
};

std::optional<Program> try_schedule(const Module& module, const Machine& machine) {
  try {
    return schedule(Module(module), machine.capabilities, machine.options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
    return std::nullopt;
  }
}

class BackSegments : public ::testing::TestWithParam<int> {};

TEST_P(BackSegments, RandomModulesLoseNothingWhereTheyStop) {
  constexpr int kSeeds = 12;
  size_t yields = 0, lost = 0, noticed = 0;
  for (int i = 0; i < kSeeds; ++i) {
    const auto seed = static_cast<uint32_t>(GetParam() * kSeeds + i);
    const Module module = i % 4 == 3 ? random_image_module(seed, 3 + i % 4) : random_module(seed, 2 + i % 9);
    for (const Machine& machine : machines(seed)) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + machine.name);
      std::optional<Program> program = try_schedule(module, machine);
      if (!program) continue;
      EXPECT_EQ(check_segments(*program, machine.capabilities), "");
      EXPECT_EQ(check_segment_times(*program, machine.capabilities, machine.options.segment_cycles), "");
      yields += program->segments.size();
      std::vector<size_t> single(program->segments.size());
      for (size_t k = 0; k < single.size(); ++k) single[k] = k;
      if (single.size() > 12) single.resize(12);
      Bench bench(std::move(*program), machine.capabilities, seed);
      bench.expect_nothing_lost(single, seed);
      if (i % 4 != 0) continue;
      const auto [more, found] = bench.lose_live_ranges(4, 4);
      lost += more;
      noticed += found;
    }
  }
  EXPECT_GT(yields, 200u);
  EXPECT_GT(lost, 30u);
  // Not all of them decide a result: some are clamped, are not the largest, or meet a weight of zero.
  EXPECT_GT(noticed * 2, lost) << noticed << " of " << lost;
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackSegments, ::testing::Range(0, 8));

// Copies alone: every byte decides one of the result.
Module copies() {
  ModuleBuilder builder(3);
  for (const int64_t channels : {16, 24, 40}) {
    View at = builder.input({1, 20, 20, channels});
    for (int i = 0; i < 3; ++i) {
      const View next = builder.tensor({1, 20, 20, channels}, contract::Element::kI8, i == 2);
      builder.copy(at, next);
      at = next;
    }
  }
  return std::move(builder.module);
}

TEST(BackSegmentsLost, EveryLiveRangeIsNeeded) {
  const contract::Capabilities machine = nano_capabilities();
  ScheduleOptions options;
  options.segment_cycles = 1;
  Program program = schedule(copies(), machine, options);
  EXPECT_EQ(check_segments(program, machine), "");
  Bench bench(std::move(program), machine, 5);
  const auto [lost, noticed] = bench.lose_live_ranges(1000, 1000);
  EXPECT_GE(lost, 5u);
  EXPECT_EQ(noticed, lost);
}

TEST(BackSegmentsLost, AStreamThatLeavesBytesOutIsNoticed) {
  const contract::Capabilities machine = nano_capabilities();
  ScheduleOptions options;
  options.segment_cycles = 1;
  const Program whole = schedule(copies(), machine, options);
  size_t damaged = 0;
  for (const Segment& segment : whole.segments) {
    if (segment.live_bytes == 0) continue;
    ++damaged;
    // The first move of both streams one piece of 16 bytes shorter, at its end.
    Program less = whole;
    for (const uint32_t stream : {segment.save_word, segment.restore_word}) {
      less.commands[stream + contract::BeginCommand::kWords + 12] -= 16;
    }
    EXPECT_NE(check_segments(less, machine), "");
    Bench bench(less, machine, 5);
    const Results want = bench.undisturbed();
    EXPECT_FALSE(bench.run([&](CommandInterpreter& device, size_t at) { device.preempt(at, 9); }) == want);
  }
  EXPECT_GE(damaged, 3u);
}

TEST(BackSegmentsOff, ThereAreNoYields) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const Module module = random_module(seed, 6);
    const contract::Capabilities machine = nano_capabilities();
    ScheduleOptions options;
    options.segment_cycles = 0;
    const Program plain = schedule(Module(module), machine, options);
    EXPECT_TRUE(plain.segments.empty());
    EXPECT_EQ(plain.main_words, plain.commands.size());
    EXPECT_EQ(plain.save_bytes, 0u);
    EXPECT_TRUE(decode_stream(plain).yields.empty());
    options.segment_cycles = 1;
    const Program stops = schedule(Module(module), machine, options);
    const DecodedStream a = decode_stream(plain), b = decode_stream(stops);
    ASSERT_EQ(a.commands.size(), b.commands.size());
    for (size_t i = 0; i < a.commands.size(); ++i) {
      EXPECT_TRUE(a.commands[i].body == b.commands[i].body) << "yields change nothing else: command " << i;
    }
  }
}

}  // namespace
}  // namespace npu::compiler::testing
