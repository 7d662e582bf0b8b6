// SPDX-License-Identifier: Apache-2.0
// Programs with loops: which layers a loop has, how often it ran, and to whom the cycles of all iterations go.
#include "sim/report/loops.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/report/report.h"
#include "sim/report/unroll.h"
#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

using contract::Event;
using contract::Opcode;
using contract::Queue;

// begin, label, load (layer 1), branch out, VPU (layer 2, waits for the load), branch back, label, end. The loop's
// layer is 3.
std::vector<CommandInfo> loop_commands() {
  std::vector<CommandInfo> commands(8);
  const auto set = [&](size_t at, Opcode opcode, uint32_t layer, Queue queue = Queue::kSequencer) {
    commands[at].opcode = opcode;
    commands[at].layer = layer;
    commands[at].queue = queue;
  };
  set(0, Opcode::kBegin, 0);
  set(1, Opcode::kLabel, 3);
  set(2, Opcode::kDma, 1, Queue::kDma0);
  set(3, Opcode::kBranch, 3);
  set(4, Opcode::kVpuEwise, 2, Queue::kVpu);
  set(5, Opcode::kBranch, 3);
  set(6, Opcode::kLabel, 3);
  set(7, Opcode::kEnd, 0);
  commands[5].back_to = 1;
  return commands;
}

// `iterations` of 100 cycles each: 60 of the load, 30 of the VPU; then the load alone, and 5 cycles to the end.
std::vector<Event> loop_events(uint32_t iterations) {
  std::vector<Event> events = {event_of(0, 0, Queue::kSequencer, 0, 0, 2)};
  uint64_t at = 2;
  const auto add = [&](uint32_t command, uint16_t layer, Queue queue, uint64_t issued, uint64_t started,
                       uint64_t done) {
    events.push_back(event_of(command, layer, queue, at + issued, at + started, at + done));
  };
  for (uint32_t i = 0; i <= iterations; ++i) {
    add(1, 3, Queue::kSequencer, 0, 0, 2);
    add(2, 1, Queue::kDma0, 4, 4, 64);
    add(3, 3, Queue::kSequencer, 4, 4, 66);
    if (i == iterations) break;
    add(4, 2, Queue::kVpu, 66, 66, 96);
    add(5, 3, Queue::kSequencer, 66, 66, 100);
    at += 100;
  }
  add(6, 3, Queue::kSequencer, 66, 66, 68);
  add(7, 0, Queue::kSequencer, 68, 68, 71);
  return events;
}

TEST(Loops, HaveTheLayersBetweenTheirLabelAndTheWayBack) {
  const std::vector<LoopRow> loops = find_loops(loop_commands());
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].layer, 3U);
  EXPECT_EQ(loops[0].branch, 5U);
  EXPECT_EQ(loops[0].layers, (std::vector<uint32_t>{1, 2}));
  std::vector<CommandInfo> straight = loop_commands();
  straight[5].back_to = 0;
  EXPECT_TRUE(find_loops(straight).empty());
}

TEST(Loops, CountTheirIterations) {
  std::vector<LoopRow> loops = find_loops(loop_commands());
  count_iterations(loop_events(3), loops);
  count_iterations(loop_events(0), loops);
  EXPECT_EQ(loops[0].iterations, 3U);
}

// Layers 0 and 2 have MACs, layer 2 in the body.
TEST(Loops, CountTheMacsOfEveryIteration) {
  std::vector<CommandInfo> commands = loop_commands();
  commands[4].opcode = Opcode::kMxu;
  commands[4].queue = Queue::kMxu;
  std::vector<LayerRow> layers(4);
  layers[2].layer.macs = 50;
  add_macs(loop_events(3), commands, layers);
  EXPECT_EQ(layers[2].macs, 150U);
  add_macs(loop_events(0), commands, layers);
  EXPECT_EQ(layers[2].macs, 150U);
  for (CommandInfo& command : commands) {
    if (command.opcode == Opcode::kBranch) command.opcode = Opcode::kLabel;
  }
  add_macs({}, commands, layers);
  EXPECT_EQ(layers[2].macs, 200U) << "without branches records need not tell";
}

TEST(Loops, SayWhatTheyCost) {
  Report report;
  report.invocations = 2;
  report.cycles = 200;
  report.layers.resize(2);
  report.layers[0].layer.name = "steps";
  report.layers[0].cycles = 40;
  report.layers[1].layer.name = "body";
  report.layers[1].cycles = 60;
  EXPECT_EQ(loop_lines(report), "");
  report.loops = {{0, 5, {1}, 10}};
  EXPECT_EQ(loop_lines(report), "loops     steps: 5 iterations, 50.0 % of the cycles, 10 an iteration; layers body\n");
  report.events_lost = 1;
  EXPECT_NE(loop_lines(report).find("at least 5 iterations"), std::string::npos);
}

TEST(Unroll, PutsCommandsInTheOrderInWhichTheyRan) {
  std::vector<Event> events = loop_events(2);
  std::reverse(events.begin(), events.end());
  const std::vector<CommandInfo> commands = loop_commands();
  EXPECT_TRUE(has_branches(commands));
  const Unrolled job = unroll(events, commands, {});
  ASSERT_EQ(job.events.size(), events.size());
  ASSERT_EQ(job.commands.size(), events.size());
  std::vector<Opcode> order;
  for (size_t i = 0; i < job.commands.size(); ++i) {
    EXPECT_EQ(job.events[i].command, i);
    order.push_back(job.commands[i].opcode);
  }
  const std::vector<Opcode> body = {Opcode::kLabel, Opcode::kDma, Opcode::kBranch, Opcode::kVpuEwise, Opcode::kBranch};
  std::vector<Opcode> want = {Opcode::kBegin};
  for (int i = 0; i < 2; ++i) want.insert(want.end(), body.begin(), body.end());
  want.insert(want.end(), {Opcode::kLabel, Opcode::kDma, Opcode::kBranch, Opcode::kLabel, Opcode::kEnd});
  EXPECT_EQ(order, want);
}

constexpr uint64_t kLoopCycles = 2 + 300 + 71;  // of three iterations

std::vector<Charge> charges_of(const std::vector<CommandInfo>& commands) {
  const std::vector<CommandWork> work(commands.size());
  return attribute(loop_events(3), kLoopCycles, 4, {commands, work, DramRate(sample_info().machine), 8});
}

uint64_t all_of(const std::vector<Charge>& charges, Cause cause) {
  uint64_t sum = 0;
  for (const Charge& charge : charges) sum += charge.causes[static_cast<size_t>(cause)];
  return sum;
}

TEST(Attribution, EveryCycleOfEveryIterationIsChargedOnce) {
  const std::vector<Charge> charges = charges_of(loop_commands());
  uint64_t sum = 0;
  for (const Charge& charge : charges) sum += charge.cycles();
  EXPECT_EQ(sum, kLoopCycles);
  EXPECT_GE(charges[1].cycles(), 4 * 60U);
  EXPECT_GE(charges[2].cycles(), 3 * 30U);
}

TEST(Attribution, WaitingAtABranchIsTheWorkThatItWaitsFor) {
  const std::vector<Charge> charges = charges_of(loop_commands());
  EXPECT_EQ(all_of(charges, Cause::kOnChipCopy), 4 * 60U);
  EXPECT_EQ(all_of(charges, Cause::kVpuCompute), 3 * 30U);
  EXPECT_EQ(all_of(charges, Cause::kCommandIssue), kLoopCycles - 4 * 60 - 3 * 30);
}

// Work that ends while the branch is decoded keeps nothing waiting.
TEST(Attribution, DecodingABranchIsNoWaiting) {
  std::vector<CommandInfo> commands = loop_commands();
  for (const size_t branch : {3, 5}) commands[branch].words = 4 * 96;  // as long as either takes
  const std::vector<Charge> charges = charges_of(commands);
  EXPECT_EQ(all_of(charges, Cause::kVpuCompute), 0U);
  EXPECT_EQ(all_of(charges, Cause::kOnChipCopy), 60U) << "of the last time, which nothing comes behind";
}

}  // namespace
}  // namespace npu::report
