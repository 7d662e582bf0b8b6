// SPDX-License-Identifier: Apache-2.0
// The commands label and branch: which way a job goes, what it costs, and which streams are refused.
#include <gtest/gtest.h>

#include "hw/timing/sequencer_cycles.h"
#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::BranchMode;
using contract::Counter;
using contract::ErrorCode;

constexpr uint32_t kFlag = 64, kCount = 128, kData = 256;  // in the scratchpad
constexpr uint32_t kOut = 0x1000;                          // in DRAM

uint32_t word_at(const Bench& bench, uint32_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bench.memory.data.data() + at, sizeof(word));
  return word;
}

// Writes 1 to kOut if the flag is true, else 2; without tokens between the blocks.
Stream one_of_two(uint8_t flag) {
  Stream stream(small_machine());
  stream.add(fill(0, spm(kFlag), 1, flag));
  stream.branch(BranchMode::kIfFalse, 0, spm(kFlag));
  stream.add(fill(1, spm(kData), 4, 1, 4));
  stream.branch(BranchMode::kAlways, 1);
  stream.label(0);
  stream.add(fill(2, spm(kData), 4, 2, 4));
  stream.label(1);
  stream.add(copy(0, spm(kData), dram(kOut), 4));
  return stream;
}

TEST(BranchTest, TakesOneOfTwoBlocks) {
  Bench bench;
  for (const uint8_t flag : {0, 1, 255}) {
    ASSERT_TRUE(bench.run(one_of_two(flag)));
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
    EXPECT_EQ(word_at(bench, kOut), flag == 0 ? 2U : 1U);
    bench.expect_identities();
  }
}

TEST(BranchTest, WithoutTimeTheSame) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  Bench bench(options);
  for (const uint8_t flag : {0, 1}) {
    ASSERT_TRUE(bench.run(one_of_two(flag)));
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
    EXPECT_EQ(word_at(bench, kOut), flag == 0 ? 2U : 1U);
  }
}

// Copies the counter to DRAM in each of `times` iterations; the condition ends it never, the limit does.
Stream counting(uint32_t limit, bool yields = false) {
  Stream stream(small_machine());
  stream.add(fill(0, spm(kCount), 4, 0, 4));
  stream.label(0);
  if (yields) stream.yield(3);
  stream.add(copy(1, spm(kCount), dram(kOut), 4));
  stream.branch(BranchMode::kRepeat, 0, spm(kCount), limit);
  return stream;
}

TEST(BranchTest, BeyondItsLimitIsAFaultOfItsOwn) {
  Bench bench;
  const Stream stream = counting(9);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kLoopLimit);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 4U);
  EXPECT_EQ(word_at(bench, kOut), 9U) << "all iterations had run";
  bench.expect_cycles_add_up();
}

TEST(BranchTest, AStoppedLoopGoesOnWithItsCounter) {
  Bench bench;
  const Stream stream = counting(5, true);
  uint32_t word = 0, stops = 0;
  for (;;) {
    bench.write(reg::kJobFlags, word == 0 ? 0 : reg::kJobFlagsKeepScratchpadMask);
    ASSERT_TRUE(bench.run(stream.finish(), word, reg::kControlPreemptMask));
    if ((bench.read(reg::kStatus) & reg::kStatusPreemptedMask) == 0) break;
    word = bench.read(reg::kCommandNext);
    ASSERT_EQ(word, stream.word_of_yield(0));
    EXPECT_EQ(bench.read(reg::kYieldSegment), 3U);
    bench.expect_identities();
    ASSERT_LE(++stops, 6U);
  }
  EXPECT_EQ(bench.fault(), ErrorCode::kLoopLimit);
  EXPECT_EQ(stops, 6U) << "each iteration passes the yield";
  EXPECT_EQ(word_at(bench, kOut), 5U);
}

TEST(BranchTest, CostsItsDecodingAndTheConditionWhenItGoesOn) {
  Bench bench;
  bench.write(reg::kEventBaseLo, Bench::kEventBase);
  bench.write(reg::kEventCapacity, 16);
  ASSERT_TRUE(bench.run(one_of_two(1)));
  for (uint32_t i = 0; i < bench.read(reg::kEventCount); ++i) {
    const auto event =
        contract::Event::load(bench.memory.data.data() + Bench::kEventBase + i * contract::Event::kBytes);
    if (event.command != 2) continue;
    EXPECT_EQ(event.opcode, static_cast<uint8_t>(contract::Opcode::kBranch));
    EXPECT_GE(event.completed - event.started,
              timing::decode_cycles(contract::BranchCommand::kWords) + timing::kConditionCycles);
    return;
  }
  ADD_FAILURE() << "no record";
}

// Runs a stream that was changed.
template <class Change>
ErrorCode fault_of(Bench& bench, const Stream& stream, Change&& change) {
  std::vector<uint32_t> words = stream.finish();
  change(words);
  EXPECT_TRUE(bench.run(words)) << "it hangs";
  return bench.fault();
}

TEST(BranchTest, GoesToLabelsOnly) {
  Bench bench;
  const Stream stream = one_of_two(0);
  const uint32_t target = stream.word_of_branch(0) + Stream::kTargetWord;
  const auto fault_at = [&](uint32_t word, uint32_t index) {
    return fault_of(bench, stream, [&](std::vector<uint32_t>& words) {
      words[target] = word;
      words[target + 1] = index;
    });
  };
  const uint32_t label = stream.word_of_label(0);
  EXPECT_EQ(fault_at(label, 5), ErrorCode::kOk);
  EXPECT_EQ(fault_at(label, 4), ErrorCode::kFaultBadCommand) << "another index";
  EXPECT_EQ(fault_at(label + contract::LabelCommand::kWords, 6), ErrorCode::kFaultBadCommand) << "a DMA command";
  EXPECT_EQ(fault_at(label + 1, 5), ErrorCode::kFaultBadCommand) << "the middle of a command";
  EXPECT_EQ(fault_at(0, 0), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_at(0, 1), ErrorCode::kFaultBadCommand) << "begin";
  EXPECT_EQ(fault_at(0xffffffff, 5), ErrorCode::kFaultBadCommand) << "outside of the stream";
  EXPECT_EQ(fault_at(label, stream.count()), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_at(label, 0xffffffff), ErrorCode::kFaultBadCommand);
}

TEST(BranchTest, ReadsTheScratchpadAlone) {
  Bench bench;
  const auto fault_with = [&](contract::Address flag) {
    Stream stream(small_machine());
    stream.branch(BranchMode::kIfFalse, 0, flag);
    stream.label(0);
    return fault_of(bench, stream, [](auto&) {});
  };
  EXPECT_EQ(fault_with(spm(65535)), ErrorCode::kOk);
  EXPECT_EQ(fault_with(spm(65536)), ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(fault_with(spm(0xffffffff)), ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(fault_with(dram(0)), ErrorCode::kFaultAccessRight);
  EXPECT_EQ(fault_with(at(contract::Region::kInput, 0)), ErrorCode::kFaultBadRegion);
  EXPECT_NE(fault_with(variable(0)), ErrorCode::kOk);
  const auto fault_counting = [&](uint32_t counter) {
    Stream stream(small_machine());
    stream.label(0);
    stream.branch(BranchMode::kRepeat, 0, spm(counter), 0);
    return fault_of(bench, stream, [](auto&) {});
  };
  EXPECT_EQ(fault_counting(64), ErrorCode::kLoopLimit);
  EXPECT_EQ(fault_counting(66), ErrorCode::kFaultBadCommand) << "not on a multiple of 4";
  EXPECT_EQ(fault_counting(65533), ErrorCode::kFaultOutOfBounds);
}

TEST(BranchTest, HasNoTokensAndItsOwnQueue) {
  Bench bench;
  const Stream stream = one_of_two(0);
  for (const uint32_t first : {stream.word_of_branch(0), stream.word_of_label(0)}) {
    EXPECT_EQ(fault_of(bench, stream, [&](auto& words) { words[first + 2] = 1; }), ErrorCode::kFaultBadCommand);
    EXPECT_EQ(fault_of(bench, stream, [&](auto& words) { words[first] &= ~0x00ff0000u; }), ErrorCode::kFaultBadCommand);
  }
  EXPECT_EQ(fault_of(bench, stream, [&](auto& words) { words[stream.word_of_branch(0) + 9] = 3; }),
            ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_of(bench, stream, [&](auto& words) { words[stream.word_of_label(1) + 5] += 1; }),
            ErrorCode::kFaultBadCommand)
      << "a label that the stream comes to has its own index, too";
}

TEST(BranchTest, WithoutTimeALoopThatNeverEndsIsOutOfTime) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  options.most_repeats = 1000;
  Bench bench(options);
  Stream stream(small_machine());
  stream.label(0);
  stream.add(fill(0, dram(kOut), 4, 1, 4));
  stream.branch(BranchMode::kAlways, 0);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultTimeout);
  EXPECT_EQ(bench.read(reg::kFaultOther), contract::kTimeoutRepeats);
}

TEST(BranchTest, TheCycleLimitEndsALoop) {
  Bench bench;
  Stream stream(small_machine());
  stream.label(0);
  stream.branch(BranchMode::kAlways, 0);
  bench.write(reg::kCycleLimitLo, 20000);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultTimeout);
  EXPECT_EQ(bench.read(reg::kFaultOther), 0U);
  EXPECT_LT(bench.job_cycles(), 20000U + 2000U);
}

}  // namespace
}  // namespace npu::model::testing
