// SPDX-License-Identifier: Apache-2.0
// The hazard checker against a plain one: every byte with its own history, order by walking all edges.
#include "hw/model/hazard_checker.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <vector>

#include "tests/unit/model/stream.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;
using contract::Space;
using engine::Access;
using Wait = std::array<uint8_t, contract::kWaitQueues>;

ByteSet bytes(uint64_t low, uint64_t run, uint64_t count = 1, uint64_t stride = 0) {
  ByteSet set;
  set.low = low;
  set.run = run;
  if (count > 1) {
    set.dims[0] = {count, stride};
    set.rank = 1;
  }
  set.high = low + stride * (count - 1) + run;
  return set;
}

// Order and histories as plainly as possible.
class PlainChecker {
 public:
  void issue(uint32_t queue, uint32_t index, const Wait& wait) {
    std::vector<bool> before(index, false);
    const auto behind = [&](uint32_t other) {
      before[other] = true;
      for (uint32_t i = 0; i < other; ++i) {
        if (before_[other][i]) before[i] = true;
      }
    };
    for (uint32_t q = 0; q < contract::kEngineQueues; ++q) {
      const auto& issued = queues_[q];
      if (q == queue && !issued.empty()) behind(issued.back());
      if (wait[q] > 0 && issued.size() >= wait[q]) behind(issued[issued.size() - wait[q]]);
    }
    before_[index] = before;
    queues_[queue].push_back(index);
    self_ = index;
  }
  // The conflicting command, if any.
  std::optional<uint32_t> glance(uint64_t byte) {
    const History& history = histories_[byte];
    const bool unordered_write = history.writer && *history.writer != self_ && !ordered(*history.writer);
    return unordered_write ? history.writer : std::nullopt;
  }
  std::optional<uint32_t> access(uint64_t byte, Access access) {
    if (const std::optional<uint32_t> writer = glance(byte)) return writer;
    History& history = histories_[byte];
    if (access == Access::kRead) {
      history.readers.push_back(self_);
      return std::nullopt;
    }
    for (uint32_t reader : history.readers) {
      if (reader != self_ && !ordered(reader)) return reader;
    }
    history.writer = self_;
    history.readers.clear();
    return std::nullopt;
  }

 private:
  struct History {
    std::optional<uint32_t> writer;
    std::vector<uint32_t> readers;
  };
  bool ordered(uint32_t other) { return before_[self_][other]; }

  std::map<uint32_t, std::vector<bool>> before_;
  std::array<std::vector<uint32_t>, contract::kEngineQueues> queues_;
  std::map<uint64_t, History> histories_;
  uint32_t self_ = 0;
};

TEST(HazardCheckerTest, AgreesWithAPlainOne) {
  std::mt19937 random(3);
  HazardChecker checker(small_machine());
  int conflicts = 0, clean = 0;
  for (int trial = 0; trial < 400; ++trial) {
    PlainChecker plain;
    checker.begin_job();
    bool stopped = false;
    for (uint32_t index = 0; index < (trial % 2 == 0 ? 60u : 12u) && !stopped; ++index) {
      const uint32_t queue = std::array<uint32_t, 4>{0, 1, 8, 9}[random() % 4];
      Wait wait{};
      for (uint32_t q : {0u, 1u, 8u, 9u}) wait[q] = random() % 10 < 8 ? 1 + random() % (trial % 2 == 0 ? 2 : 1) : 0;
      checker.issue(queue, index, wait);
      plain.issue(queue, index, wait);
      const uint64_t at = 1000 + random() % 2000;
      for (const Access access : {Access::kRead, Access::kWrite}) {
        if (access == Access::kRead && random() % 4 == 0) continue;
        // Reads lie below the writes of the same command.
        const uint64_t low = access == Access::kRead ? at : at + 400;
        const ByteSet set = random() % 2 == 0 ? bytes(low, 1 + random() % 200)
                                              : bytes(low, 1 + random() % 7, 2 + random() % 8, 8 + random() % 20);
        const bool glances = access == Access::kRead && random() % 3 == 0;
        std::optional<uint32_t> wanted;
        uint64_t wanted_at = 0;
        set.for_each_run([&](uint64_t begin, uint64_t end) {
          for (uint64_t byte = begin; byte < end && !wanted; ++byte) {
            wanted = glances ? plain.glance(byte) : plain.access(byte, access);
            wanted_at = byte;
          }
          return !wanted;
        });
        const Conflict conflict =
            glances ? checker.glance(Space::kScratchpad, set) : checker.access(Space::kScratchpad, set, access);
        ASSERT_EQ(conflict.error == ErrorCode::kFaultHazard, wanted.has_value()) << trial << " " << index;
        if (wanted) {
          ASSERT_EQ(conflict.address, wanted_at);
          ASSERT_EQ(conflict.other, *wanted);
          stopped = true;
          break;
        }
      }
    }
    ++(stopped ? conflicts : clean);
  }
  EXPECT_GT(conflicts, 50);
  EXPECT_GT(clean, 5);
}

TEST(HazardCheckerTest, MemoriesAreApart) {
  HazardChecker checker(small_machine());
  checker.begin_job();
  checker.issue(0, 0, {});
  EXPECT_EQ(checker.access(Space::kScratchpad, bytes(64, 64), Access::kWrite).error, ErrorCode::kOk);
  checker.issue(1, 1, {});
  EXPECT_EQ(checker.access(Space::kDram, bytes(64, 64), Access::kWrite).error, ErrorCode::kOk);
  EXPECT_EQ(checker.access(Space::kPersistent, bytes(64, 64), Access::kWrite).error, ErrorCode::kOk);
  const Conflict conflict = checker.access(Space::kScratchpad, bytes(127, 1), Access::kRead);
  EXPECT_EQ(conflict.error, ErrorCode::kFaultHazard);
  EXPECT_EQ(conflict.other, 0u);
  EXPECT_EQ(conflict.address, 127u);
}

TEST(HazardCheckerTest, JobsForgetEachOther) {
  HazardChecker checker(small_machine());
  for (int job = 0; job < 3; ++job) {
    checker.begin_job();
    checker.issue(job % 2, 0, {});
    EXPECT_EQ(checker.access(Space::kScratchpad, bytes(10, 1000), Access::kWrite).error, ErrorCode::kOk);
  }
}

TEST(HazardCheckerTest, SequencerWaitsOrderWhatFollows) {
  HazardChecker checker(small_machine());
  checker.begin_job();
  checker.issue(0, 1, {});
  EXPECT_EQ(checker.access(Space::kScratchpad, bytes(0, 64), Access::kWrite).error, ErrorCode::kOk);
  checker.sequencer_waited({1});
  checker.issue(1, 3, {});
  EXPECT_EQ(checker.access(Space::kScratchpad, bytes(0, 64), Access::kRead).error, ErrorCode::kOk);
}

TEST(HazardCheckerTest, ManyStatesAreCompacted) {
  // More than two million different states over time; the memory for them stays small and answers stay right.
  HazardChecker checker(small_machine());
  checker.begin_job();
  for (uint32_t index = 0; index < 1'100'000; ++index) {
    checker.issue(0, index, {});
    ASSERT_EQ(checker.access(Space::kScratchpad, bytes(index % 60000, 3), Access::kRead).error, ErrorCode::kOk);
    ASSERT_EQ(checker.access(Space::kDram, bytes(index % 60000, 3), Access::kWrite).error, ErrorCode::kOk);
  }
  checker.issue(1, 1'100'000, {});
  const Conflict conflict = checker.access(Space::kDram, bytes((1'100'000 - 1) % 60000, 1), Access::kRead);
  EXPECT_EQ(conflict.error, ErrorCode::kFaultHazard);
  EXPECT_EQ(conflict.other, 1'100'000u - 1);
}

TEST(HazardCheckerTest, AbsurdlyScatteredAccessesAreRefused) {
  contract::Capabilities caps = small_machine();
  caps.dram_mib = 1024;
  HazardChecker checker(caps);
  checker.begin_job();
  checker.issue(0, 0, {});
  const Conflict conflict =
      checker.access(Space::kDram, bytes(0, 1, kMaxSplitBlocks + 1, Shadow::kBlock), Access::kWrite);
  EXPECT_EQ(conflict.error, ErrorCode::kFaultBadCommand);
}

}  // namespace
}  // namespace npu::model::testing
