// SPDX-License-Identifier: Apache-2.0
// Control flow through the compiler: steps and commands of random graphs with branches and loops, run one by one on the
// host, give what the reference gives; and so they do when the job stops at each yield that it passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "driver/compiler/lower.h"
#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/flow.h"
#include "driver/compiler/schedule/liveness.h"
#include "driver/graph/builder.h"
#include "hw/contract/stream.h"
#include "sim/generator/random_control.h"
#include "sim/reference/reference.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/compiler/byte_sets.h"
#include "tests/unit/compiler/command_interpreter.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/compiler/front_run.h"
#include "tests/unit/seeds.h"

namespace npu::compiler::testing {
namespace {

std::vector<graph::Value> random_inputs_of(const graph::Graph& graph, std::mt19937& random) {
  std::vector<graph::Value> inputs;
  for (const graph::TensorId id : graph.main().inputs) {
    const graph::Tensor& tensor = graph.main().tensors[id];
    inputs.push_back(random_value(tensor.type, tensor.shape, random));
  }
  return inputs;
}

TEST(Control, StepsGiveWhatTheReferenceGives) {
  std::mt19937 random(1);
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const graph::Graph graph = generator::random_control(seed);
    FrontRun steps(graph);
    reference::Context state;
    for (int invocation = 0; invocation < 2; ++invocation) {
      const std::vector<graph::Value> inputs = random_inputs_of(graph, random);
      const std::vector<graph::Value> want = reference::run(graph, inputs, state), got = steps.run(inputs);
      for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got.at(i).bytes, want[i].bytes) << "output " << i;
    }
  }
}

// Noise takes the scratchpad at each yield, but for what the segment says is live.
TEST(Control, CommandsLoseNothingWhereTheyStop) {
  contract::Capabilities tiny = nano_capabilities();
  tiny.spm_bytes = 8 << 10;
  std::mt19937 random(2);
  constexpr uint32_t kSeeds = test::seeds_for(150);
  size_t stops = 0, loops = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const graph::Graph graph = generator::random_control(seed, {.shape = {1, seed % 3 == 0 ? 600 : 6}});
    const contract::Capabilities& machine = seed % 2 == 0 ? tiny : nano_capabilities();
    SCOPED_TRACE("seed " + std::to_string(seed));
    ScheduleOptions options;
    options.segment_cycles = seed % 5 == 0 ? 2048 : 64;
    const Program program = schedule(lower(graph, machine), machine, options);
    const std::vector<graph::Value> inputs = random_inputs_of(graph, random);
    reference::Context state;
    const std::vector<graph::Value> want = reference::run(graph, inputs, state);
    for (const bool stopped : {false, true}) {
      CommandInterpreter device(program, machine);
      for (size_t i = 0; i < inputs.size(); ++i) device.set_input(i, inputs[i].bytes);
      for (size_t i = 0; i < program.variables.size(); ++i) device.variable(i) = program.variables[i].initial;
      device.run([&](size_t segment) {
        if (stopped) device.preempt(segment, seed + static_cast<uint32_t>(++stops));
      });
      ASSERT_THAT(device.complaints, ::testing::ElementsAre());
      for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(device.output(i), want[i].bytes) << "output " << i;
      for (size_t i = 0; i < program.variables.size(); ++i) {
        ASSERT_EQ(device.variable(i), state.variables.at(program.variables[i].identity).value.bytes);
      }
    }
    for (const Step& step : lower(graph, machine).steps) {
      const auto* branch = std::get_if<BranchStep>(&step.work);
      loops += branch != nullptr && branch->mode == contract::BranchMode::kRepeat ? 1 : 0;
    }
  }
  std::cout << loops << " loops, stopped " << stops << " times\n";
  EXPECT_GT(loops, kSeeds / 3);
  EXPECT_GT(stops, kSeeds * 20 / 3);
}

// A loop at the end whose body changes nothing: it runs never, or for ever.
graph::Graph loop_of_nothing() {
  using graph::DType;
  graph::GraphBuilder more("more"), body("body"), b;
  for (graph::GraphBuilder* region : {&more, &body}) {
    region->input({}, DType::kBool, {1});
    region->input({}, DType::kInt32, {4});
  }
  more.output(0);
  body.output(0);
  body.output(1);
  b.add_region(std::move(more));
  b.add_region(std::move(body));
  const graph::TensorId goes_on = b.input("goes_on", DType::kBool, {1}), value = b.input("x", DType::kInt32, {4});
  const graph::TensorId flag = b.op(graph::Op::kLogicalNot, {goes_on});
  b.output(b.add(value, value));
  static_cast<void>(b.while_loop({flag, value}, "more", "body"));
  return b.build();
}

// A loop may end with an error alone: its job must be stopped before.
TEST(Control, EveryLoopHasAYieldBehindItsFirstLabel) {
  std::vector<graph::Graph> graphs = {loop_of_nothing()};
  constexpr uint32_t kSeeds = test::seeds_for(60);
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) graphs.push_back(generator::random_control(seed));
  size_t loops = 0;
  for (const graph::Graph& graph : graphs) {
    const Program program = schedule(lower(graph, nano_capabilities()), nano_capabilities());
    const auto opcode_at = [&](size_t word) {
      return contract::Header::decode(std::span(program.commands).subspan(word)).opcode;
    };
    const bool whole = contract::for_each_command(std::span(program.commands).first(program.main_words),
                                                  [&](const contract::Header& header, std::span<const uint32_t> words) {
                                                    if (header.opcode != contract::Opcode::kBranch) return true;
                                                    const auto branch = contract::BranchCommand::decode(words);
                                                    if (branch.mode != contract::BranchMode::kRepeat) return true;
                                                    ++loops;
                                                    EXPECT_EQ(opcode_at(branch.target), contract::Opcode::kLabel);
                                                    EXPECT_EQ(opcode_at(branch.target + contract::LabelCommand::kWords),
                                                              contract::Opcode::kYield);
                                                    return true;
                                                  });
    EXPECT_TRUE(whole);
  }
  EXPECT_GT(loops, kSeeds / 3);
}

Step label_step(uint32_t label) { return {0, LabelStep{label}, false}; }
Step branch_step(contract::BranchMode mode, uint32_t label) {
  BranchStep branch;
  branch.mode = mode;
  branch.label = label;
  return {0, std::move(branch), false};
}

TEST(Flow, FindsBlocksLoopsAndConstructs) {
  using contract::BranchMode;
  const Step work{0, DeclareStep{0}, false};
  // 0 work, 1 [outer label, 2 work, 3 branch out, 4 [inner label, 5 branch out, 6 work, 7 back], 8 label, 9 back],
  // 10 label, 11 work
  const std::vector<Step> steps = {work,          label_step(0),
                                   work,          branch_step(BranchMode::kIfFalse, 1),
                                   label_step(2), branch_step(BranchMode::kIfFalse, 3),
                                   work,          branch_step(BranchMode::kRepeat, 2),
                                   label_step(3), branch_step(BranchMode::kRepeat, 0),
                                   label_step(1), work};
  const backend::Flow flow(steps);
  EXPECT_FALSE(flow.straight());
  ASSERT_EQ(flow.loops().size(), 2U);
  EXPECT_EQ(flow.loops()[0].first, 4U);
  EXPECT_EQ(flow.loops()[0].last, 7U);
  EXPECT_EQ(flow.loops()[1].first, 1U);
  EXPECT_EQ(flow.loops()[1].last, 9U);
  EXPECT_EQ(flow.construct_of(0), nullptr);
  EXPECT_EQ(flow.construct_of(11), nullptr);
  ASSERT_NE(flow.construct_of(6), nullptr);
  EXPECT_EQ(flow.construct_of(6)->first, 1U);
  EXPECT_EQ(flow.construct_of(6)->last, 10U);
  EXPECT_TRUE(flow.same_block(6, 6));
  EXPECT_FALSE(flow.same_block(2, 6));
  EXPECT_FALSE(flow.same_block(3, 3)) << "a control step is in no block";
  EXPECT_EQ(flow.block_begin(6), 6U);
  EXPECT_EQ(flow.block_begin(0), 0U);
  EXPECT_TRUE(backend::Flow(std::vector<Step>{work, work}).straight());
}

TEST(LivenessOfLoops, WhatTheNextIterationReadsIsLiveAtTheEndOfThisOne) {
  // Writes 0-16 and 16-32; label; reads 0-8; branch to the end; reads 16-32 and writes 0-8; back; label; reads 20-24.
  const std::vector<std::vector<backend::ByteSet>> footprints = {
      {scratchpad_bytes(0, 32, true)},
      {},
      {scratchpad_bytes(0, 8, false)},
      {},
      {scratchpad_bytes(16, 16, false), scratchpad_bytes(0, 8, true)},
      {},
      {},
      {scratchpad_bytes(20, 4, false)}};
  const std::vector<backend::Jump> jumps = {{3, 6, false}, {5, 1, true}};
  const backend::Liveness liveness(footprints, jumps);
  EXPECT_THAT(liveness.bytes(), ::testing::ElementsAre(0, 24, 24, 16, 16, 24, 4, 4, 0));
  const std::vector<size_t> places = {5};
  EXPECT_EQ(liveness.spans(places)[0], (std::vector<backend::ByteSpan>{{0, 8}, {16, 32}}));
}

}  // namespace
}  // namespace npu::compiler::testing
