// SPDX-License-Identifier: Apache-2.0
#include "sim/report/attribution.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

using contract::Queue;

uint64_t at(const Charge& charge, Cause cause) { return charge.causes[static_cast<size_t>(cause)]; }
uint64_t at(const ResourceCycles& cycles, Resource resource) { return cycles[static_cast<size_t>(resource)]; }

Charge total(const std::vector<Charge>& layers) {
  Charge sum;
  for (const Charge& layer : layers) sum += layer;
  return sum;
}

uint64_t sum_of(const ResourceCycles& cycles) { return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0}); }

TEST(Attribution, EveryCycleIsChargedOnce) {
  const runtime::RunResult run = sample_result();
  const std::vector<CommandInfo> commands = list_commands(sample_program());
  const Subject subject{commands, {}, DramRate(sample_info().machine), 4};
  const auto layers = attribute(run.events, run.cycles, 2, subject);
  EXPECT_EQ(total(layers).cycles(), 200u);
  EXPECT_EQ(sum_of(total(layers).limits), 200u);
  // 0 to 20: command 2 is not issued. 20 to 60: command 4 waits for its weights. 60 to 65: it could start. 65 to 125:
  // the MXU works, 15 of 60 cycles stalled. 125 to 130: command 5 could start, and command 6 moves meanwhile, for
  // layer 1. 130 to 190: command 5 writes 100 bytes, 4 a cycle. 190 to 200: the end, charged like the last command's
  // issue.
  EXPECT_EQ(at(layers[0], Cause::kCommandIssue) + at(layers[0], Cause::kCommandFetch), 20u);
  EXPECT_EQ(at(layers[0], Cause::kWeightLoadFirst), 40u);
  EXPECT_EQ(at(layers[0], Cause::kTokens), 5u);
  EXPECT_EQ(at(layers[0], Cause::kMxuCompute), 45u);
  EXPECT_EQ(at(layers[0], Cause::kBankConflicts), 15u);
  EXPECT_EQ(at(layers[0], Cause::kDramWrite), 25u);
  EXPECT_EQ(at(layers[0], Cause::kDramLatency), 35u);
  EXPECT_EQ(at(layers[1], Cause::kTokens), 5u);
  EXPECT_EQ(at(layers[1], Cause::kCommandIssue), 10u);
  EXPECT_EQ(at(layers[0].limits, Resource::kDram), 65u);
  EXPECT_EQ(at(layers[0].limits, Resource::kScratchpadPort), 15u);
  EXPECT_EQ(at(layers[0].limits, Resource::kLatency), 40u);
  // Work is counted where it is done: 640 and 100 bytes at 4 a cycle, the MXU's 45 cycles, DMA but for 65 to 125.
  EXPECT_EQ(at(total(layers).busy, Resource::kDram), 160u + 25u);
  EXPECT_EQ(at(layers[0].busy, Resource::kMxu), 45u);
  EXPECT_EQ(at(layers[0].busy, Resource::kDma), 40u + 60u);
  EXPECT_EQ(at(layers[1].busy, Resource::kDma), 5u);
}

TEST(Attribution, ComputeThatNobodyWaitsForDoesNotLimit) {
  // Two tiles: the second one's weights take longer to come than the first one to compute.
  const std::vector<contract::Event> events = {
      event_of(0, 0, Queue::kDma0, 0, 0, 100), event_of(1, 0, Queue::kMxu, 0, 100, 180),
      event_of(2, 0, Queue::kDma0, 0, 100, 200), event_of(3, 0, Queue::kMxu, 0, 200, 280)};
  std::vector<CommandInfo> commands(4);
  for (size_t i = 0; i < 4; ++i) {
    commands[i].queue = i % 2 == 0 ? Queue::kDma0 : Queue::kMxu;
    if (i % 2 == 1) commands[i].wait[static_cast<size_t>(Queue::kDma0)] = 1;
    if (i % 2 == 0) commands[i].transfer = Transfer::kConstants;
  }
  const auto layers = attribute(events, 280, 1, {commands, {}, DramRate(), 4});
  EXPECT_EQ(at(layers[0], Cause::kMxuCompute), 80u);
  EXPECT_EQ(at(layers[0], Cause::kOnChipCopy) + at(layers[0], Cause::kWeightLoadLatency), 200u);
  EXPECT_EQ(at(layers[0].busy, Resource::kMxu), 160u);
}

TEST(Attribution, TheLayerIsTheMxusAndTheCauseThePaths) {
  const std::vector<contract::Event> events = {event_of(0, 0, Queue::kMxu, 0, 10, 30),
                                               event_of(1, 1, Queue::kVpu, 0, 0, 40)};
  const auto layers = attribute(events, 40, 2, {});
  EXPECT_EQ(at(layers[0], Cause::kVpuCompute), 20u);
  EXPECT_EQ(at(layers[1], Cause::kVpuCompute), 20u);
  // Only the first layer waits for a command of the other.
  constexpr auto kCompute = static_cast<size_t>(Cause::kVpuCompute);
  EXPECT_EQ(layers[0].others[kCompute], 20u);
  EXPECT_EQ(layers[1].others[kCompute], 0u);
  EXPECT_EQ(total(layers).others[kCompute], 20u);
}

TEST(Attribution, StateOnTheChipIsDmaAndStateInDramIsDramAndLatency) {
  std::vector<contract::Event> events = {event_of(0, 0, Queue::kDma0, 0, 0, 40)};
  std::vector<CommandInfo> commands(1);
  commands[0].queue = Queue::kDma0;
  commands[0].transfer = Transfer::kState;
  Charge charge = attribute(events, 40, 1, {commands, {}, DramRate(), 4}).front();
  EXPECT_EQ(at(charge, Cause::kState), 40u);
  EXPECT_EQ(at(charge.limits, Resource::kDma), 40u);
  events[0].dram_written = 30;
  charge = attribute(events, 40, 1, {commands, {}, DramRate(), 4}).front();
  EXPECT_EQ(at(charge, Cause::kState), 40u);
  EXPECT_EQ(at(charge.limits, Resource::kDram), 30u);
  EXPECT_EQ(at(charge.limits, Resource::kLatency), 10u);
}

TEST(Attribution, TheMxusCyclesTellComputeFromItsPortAndFromItsPipeline) {
  const std::vector<contract::Event> events = {event_of(0, 0, Queue::kMxu, 0, 0, 100)};
  std::vector<CommandWork> work(1);
  work[0].port_wait = 30;
  work[0].fill_drain = 15;
  work[0].port = 40;
  const auto layers = attribute(events, 100, 1, {{}, work, DramRate(), 4});
  EXPECT_EQ(at(layers[0], Cause::kWeightLoadPort), 30u);
  EXPECT_EQ(at(layers[0], Cause::kFillDrain), 15u);
  EXPECT_EQ(at(layers[0], Cause::kMxuCompute), 55u);
  EXPECT_EQ(at(layers[0].limits, Resource::kMxu), 70u);
  EXPECT_EQ(at(layers[0].busy, Resource::kScratchpadPort), 40u);
}

TEST(Attribution, WithoutCommandsOrTimeNothingBreaks) {
  EXPECT_EQ(total(attribute({}, 50, 1, {})).cycles(), 50u);
  EXPECT_EQ(total(attribute({}, 0, 3, {})).cycles(), 0u);
  const std::vector<contract::Event> late = {event_of(0, 9, Queue::kVpu, 70, 80, 90)};
  EXPECT_EQ(total(attribute(late, 50, 1, {})).cycles(), 50u);
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
    std::vector<CommandWork> work(30);
    uint64_t dram = 0;
    for (size_t i = 0; i < events.size(); ++i) {
      work[i].port_wait = random() % 20;
      work[i].fill_drain = random() % 20;
      events[i].dram_read = random() % 50;
      const bool dma = events[i].queue < static_cast<uint8_t>(Queue::kMxu) && events[i].completed > events[i].started;
      dram += dma ? events[i].dram_read : 0;
    }
    const Charge sum = total(attribute(events, cycles, 6, {{}, work, DramRate(), 2}));
    EXPECT_EQ(sum.cycles(), cycles);
    EXPECT_EQ(sum_of(sum.limits), cycles);
    EXPECT_EQ(at(sum.busy, Resource::kDram), dram);
  }
}

}  // namespace
}  // namespace npu::report
