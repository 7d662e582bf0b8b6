// SPDX-License-Identifier: Apache-2.0
#include "sim/report/attribution.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

using contract::Queue;

uint64_t at(const CauseCycles& causes, Cause cause) { return causes[static_cast<size_t>(cause)]; }

uint64_t sum(const std::vector<CauseCycles>& layers) {
  uint64_t total = 0;
  for (const CauseCycles& causes : layers) total = std::accumulate(causes.begin(), causes.end(), total);
  return total;
}

TEST(Attribution, EveryCycleIsChargedOnce) {
  const runtime::RunResult run = sample_result();
  const auto layers = attribute(run.events, run.cycles, 2, list_commands(sample_program()));
  EXPECT_EQ(sum(layers), 200u);
  // 0 to 20: command 2 is not issued. 20 to 60: it is the oldest transfer in flight (command 3 hides behind it).
  // 60 to 65: command 4 waits. 65 to 125: the MXU works, 15 of 60 cycles stalled. 125 to 130: only command 6 moves, for
  // layer 1. 130 to 190: command 5 is older. 190 to 200: the end, charged like the last command's issue.
  EXPECT_EQ(at(layers[0], Cause::kCommandIssue), 20u);
  EXPECT_EQ(at(layers[0], Cause::kWeightLoad), 40u);
  EXPECT_EQ(at(layers[0], Cause::kTokens), 5u);
  EXPECT_EQ(at(layers[0], Cause::kMxuCompute), 45u);
  EXPECT_EQ(at(layers[0], Cause::kBankConflicts), 15u);
  EXPECT_EQ(at(layers[0], Cause::kDramWrite), 60u);
  EXPECT_EQ(at(layers[1], Cause::kState), 5u);
  EXPECT_EQ(at(layers[1], Cause::kCommandIssue), 10u);
}

TEST(Attribution, VpuCountsOnlyWhereTheMxuRests) {
  const std::vector<contract::Event> events = {event_of(0, 0, Queue::kMxu, 0, 10, 30),
                                               event_of(1, 1, Queue::kVpu, 0, 0, 40)};
  const auto layers = attribute(events, 40, 2, {});
  EXPECT_EQ(at(layers[0], Cause::kMxuCompute), 20u);
  EXPECT_EQ(at(layers[1], Cause::kVpuCompute), 20u);
}

TEST(Attribution, WithoutCommandsOrTimeNothingBreaks) {
  EXPECT_EQ(sum(attribute({}, 50, 1, {})), 50u);
  EXPECT_EQ(sum(attribute({}, 0, 3, {})), 0u);
  const std::vector<contract::Event> late = {event_of(0, 9, Queue::kVpu, 70, 80, 90)};
  EXPECT_EQ(sum(attribute(late, 50, 1, {})), 50u);
}

TEST(Attribution, RandomRunsAddUp) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<contract::Event> events;
    std::array<uint64_t, 12> free{};
    uint64_t issued = 0, end = 1;
    for (uint32_t i = 0; i < 30; ++i) {
      const uint32_t queue = random() % 10;
      issued += random() % 8;
      const uint64_t started = std::max(issued, free[queue]) + random() % 5;
      const uint64_t completed = started + random() % 20;
      free[queue] = completed;
      end = std::max(end, completed);
      events.push_back(
          event_of(i, static_cast<uint16_t>(i / 5), static_cast<Queue>(queue), issued, started, completed));
      events.back().stalled = events.back().busy / 3;
    }
    const uint64_t cycles = end + random() % 10;
    EXPECT_EQ(sum(attribute(events, cycles, 6, {})), cycles);
  }
}

}  // namespace
}  // namespace npu::report
