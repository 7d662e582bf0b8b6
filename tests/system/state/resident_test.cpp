// SPDX-License-Identifier: Apache-2.0
// Constants that stay in the scratchpad: loaded once, again after whatever has overwritten them, and always the right
// ones.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <tuple>

#include "driver/graph/builder.h"
#include "hw/contract/gen/fields.h"
#include "hw/contract/stream.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using contract::Counter;
using contract::Queue;
using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

// A recurrent cell of `width` features: `width` squared bytes of weights, which `seed` chooses, and a state. With
// `steps` it is a chain of so many of them.
graph::Graph cell(int64_t width, uint32_t seed, int steps = 1) {
  std::mt19937 random(seed);
  GraphBuilder b;
  const graph::Shape shape{1, 2, 2, width};
  const TensorId state = b.variable("state", DType::kInt8, shape, {{static_cast<double>(seed)}});
  TensorId x = b.op(graph::Op::kBitwiseXor, {b.input("x", DType::kInt8, shape), b.read(state)});
  graph::Rescaling narrow;
  narrow.shift = {36};
  for (int i = 0; i < steps; ++i) {
    std::vector<int> weights(static_cast<size_t>(width * width));
    for (int& weight : weights) weight = static_cast<int>(random() % 15) - 7;
    x = b.rescale(b.conv2d(x, b.constant(DType::kInt8, {width, 1, 1, width}, weights),
                           b.constant(DType::kInt32, {1}, {static_cast<double>(seed)}), {}),
                  DType::kInt8, narrow);
  }
  b.write(state, x);
  b.output(x, "y");
  return b.build();
}

// Two intermediate results of half of `bytes` each, at the same time.
graph::Graph large(int64_t bytes) {
  GraphBuilder b;
  const TensorId x = b.op(graph::Op::kBitwiseNot, {b.input("x", DType::kInt8, {bytes / 2})});
  b.output(b.op(graph::Op::kBitwiseXor, {b.reverse(x, 0), x}), "y");
  return b.build();
}

compiler::Options keeping(bool keep = true) {
  compiler::Options options;
  options.schedule.resident_constants = keep;
  return options;
}

// A network in a context of its own, and random frames for it.
class Streamed {
 public:
  Streamed(runtime::Device& device, graph::Graph graph, const compiler::Options& options,
           const runtime::ContextOptions& context = {})
      : graph_(graph),
        both_(std::make_unique<SideBySide>(device, context)),
        id_(both_->load(std::move(graph), options)) {}

  runtime::RunResult step() {
    start();
    return end();
  }
  void start(const runtime::JobOptions& options = {}) {
    inputs_ = random_inputs(graph_, random_);
    both_->start(id_, inputs_, options);
  }
  runtime::RunResult end() {
    runtime::RunResult result = both_->wait(id_);
    both_->follow(id_, inputs_);
    both_->compare(id_);
    compared_ = both_->compared().outputs;
    EXPECT_EQ(both_->compared().differing, 0);
    return result;
  }
  [[nodiscard]] const compiler::Program& program() const { return both_->program(id_); }
  [[nodiscard]] runtime::Context& context() { return both_->context(); }
  [[nodiscard]] int64_t compared() const { return compared_; }

 private:
  graph::Graph graph_;
  std::unique_ptr<SideBySide> both_;
  size_t id_;
  std::vector<graph::Value> inputs_;
  std::mt19937 random_{1};
  int64_t compared_ = 0;
};

// What the queues of DMA have read from DRAM.
uint64_t dram_read(const runtime::RunResult& result, const contract::Capabilities& caps) {
  uint64_t bytes = 0;
  for (uint32_t channel = 0; channel < caps.dma_channels; ++channel) {
    bytes += result.counters.get(contract::dma_queue(channel), Counter::kDramRead);
  }
  return bytes;
}

class Resident : public testing::TestWithParam<std::tuple<const char*, model::Mode>> {
 protected:
  runtime::Device device_ = open_device(options(std::get<0>(GetParam()), std::get<1>(GetParam())));
  const contract::Capabilities caps_ = device_.capabilities();
  // Of a cell whose constants take more than a quarter of the scratchpad.
  const int64_t width_ = caps_.spm_bytes > 100'000 ? 544 : 160;
};

TEST_P(Resident, ConstantsAreLoadedOnce) {
  Streamed kept(device_, cell(64, 3), keeping()), loaded(device_, cell(64, 3), keeping(false));
  ASSERT_EQ(kept.program().resident_bytes, kept.program().constants.size());
  ASSERT_GT(kept.program().resident_bytes, 64U * 64U);
  ASSERT_EQ(loaded.program().resident_bytes, 0U);
  for (int frame = 0; frame < 10; ++frame) {
    const runtime::RunResult result = kept.step();
    EXPECT_EQ(result.times.loads, frame == 0 ? 1U : 0U) << "frame " << frame;
    EXPECT_EQ(dram_read(result, caps_), 4U * 64U) << "frame " << frame;  // its input
  }
  EXPECT_GT(kept.compared(), 0);
  for (int frame = 0; frame < 3; ++frame) {
    const runtime::RunResult result = loaded.step();
    EXPECT_EQ(result.times.loads, 0U);
    EXPECT_GT(dram_read(result, caps_), 64U * 64U);
  }
}

TEST_P(Resident, SeveralContextsStayBesideEachOther) {
  std::vector<Streamed> all;
  for (uint32_t seed = 1; seed <= 4; ++seed) all.emplace_back(device_, cell(48, seed), keeping());
  for (int frame = 0; frame < 5; ++frame) {
    for (Streamed& one : all) EXPECT_EQ(one.step().times.loads, frame == 0 ? 1U : 0U) << "frame " << frame;
  }
}

TEST_P(Resident, WhatOthersOverwriteIsLoadedAgain) {
  Streamed kept(device_, cell(width_, 5), keeping()), other(device_, large(caps_.spm_bytes * 7 / 8), keeping(false));
  ASSERT_GT(other.program().spm_peak_bytes + kept.program().resident_bytes, caps_.spm_bytes);
  for (int frame = 0; frame < 3; ++frame) {
    EXPECT_EQ(kept.step().times.loads, 1U);
    EXPECT_EQ(kept.step().times.loads, 0U);
    other.step();
  }
}

// More programs than there is room for: each is right, and loads what the one before has overwritten.
TEST_P(Resident, ProgramsMayShareAPlace) {
  std::vector<Streamed> all;
  for (uint32_t seed = 1; seed <= 6; ++seed) all.emplace_back(device_, cell(width_, seed), keeping());
  ASSERT_GT(all[0].program().resident_bytes, 0U);
  ASSERT_GT(6U * all[0].program().resident_bytes, caps_.spm_bytes);
  uint32_t loads = 0;
  for (int frame = 0; frame < 3; ++frame) {
    for (Streamed& one : all) loads += one.step().times.loads;
  }
  EXPECT_GT(loads, 6U);
}

TEST_P(Resident, NothingStaysWithoutPowerOrAfterAResetOrFault) {
  Streamed kept(device_, cell(64, 6), keeping());
  const auto expect_load = [&](const char* what) {
    EXPECT_EQ(kept.step().times.loads, 1U) << what;
    EXPECT_EQ(kept.step().times.loads, 0U) << what;
  };
  expect_load("first");
  device_.set_power(contract::PowerState::kSleep);
  expect_load("power");
  device_.soft_reset();
  expect_load("reset");
  if (std::get<1>(GetParam()) == model::Mode::kFunctional) return;  // no limit of cycles stops a job there
  runtime::JobOptions hurried;
  hurried.cycle_limit = 1;
  Streamed other(device_, cell(64, 7, 8), keeping(false));
  other.start(hurried);
  EXPECT_THROW(static_cast<void>(other.end()), Error);
  expect_load("fault");
}

// A program that is unloaded gives its place to the next one, which must not take its constants for its own.
TEST_P(Resident, TheNextProgramAtTheSamePlaceHasItsOwn) {
  for (uint32_t seed = 10; seed < 14; ++seed) {
    Streamed kept(device_, cell(64, seed), keeping());
    EXPECT_EQ(kept.step().times.loads, 1U);
    EXPECT_EQ(kept.step().times.loads, 0U);
  }
}

// A program that loads less than it says reads poison, and not what others have left at its place.
TEST_P(Resident, WhatIsNotLoadedIsNotWhatOthersLeft) {
  compiler::Program lazy = compiler::compile(cell(64, 20), caps_, keeping());
  size_t at = lazy.load_word, shortened = 0;
  (void)contract::for_each_command(std::span(lazy.commands).subspan(lazy.load_word, lazy.load_words),
                                   [&](const contract::Header& header, auto) {
                                     if (header.opcode == contract::Opcode::kDma) {
                                       set_field(lazy.commands[at + 12], contract::CommandField::kDmaRunBytes, 16);
                                       ++shortened;
                                     }
                                     at += header.words;
                                     return true;
                                   });
  ASSERT_GT(shortened, 0U);
  const auto output_of = [&](const compiler::Program& program) {
    runtime::Context context = device_.create_context();
    runtime::LoadedProgram loaded = context.load(program);
    runtime::Job job = loaded.create_job();
    job.set_input(0, {DType::kInt8, {1, 2, 2, 64}, std::vector<uint8_t>(256, 1)});
    job.run();
    EXPECT_EQ(job.result().times.loads, 1U);
    return job.outputs().at(0).bytes;
  };
  const std::vector<uint8_t> fresh = output_of(lazy);
  const std::vector<uint8_t> whole = output_of(compiler::compile(cell(64, 20), caps_, keeping()));
  EXPECT_NE(whole, fresh);
  EXPECT_EQ(output_of(lazy), fresh);
}

// A long job is interrupted by one that overwrites its constants, and goes on with them.
TEST_P(Resident, AnInterruptedJobGetsItsConstantsBack) {
  if (std::get<1>(GetParam()) == model::Mode::kFunctional) GTEST_SKIP() << "without time nothing is interrupted";
  compiler::Options often = keeping();
  often.schedule.segment_cycles = 256;
  Streamed low(device_, caps_.spm_bytes > 100'000 ? cell(128, 8, 16) : cell(64, 8, 6), often, {.priority = 1});
  Streamed high(device_, large(caps_.spm_bytes * 7 / 8), keeping(false), {.priority = 9});
  ASSERT_GT(low.program().resident_bytes, 0U);
  ASSERT_GT(high.program().spm_peak_bytes + low.program().resident_bytes, caps_.spm_bytes);
  high.step();
  const runtime::JobTimes alone = low.step().times;
  high.step();
  const uint64_t firmware = 600;  // what it takes to notice
  const uint64_t first = alone.started - alone.submitted - firmware, span = alone.ended - alone.started + firmware;
  uint32_t interrupted = 0, loads = 0;
  for (uint64_t delay = 0; delay < 40; ++delay) {
    low.start();
    high.start({.not_before = device_.time() + first + span * delay / 40});
    const runtime::RunResult result = low.end();
    high.end();
    interrupted += result.times.preemptions;
    if (result.times.preemptions > 0 && result.times.loads > 1) loads += result.times.loads - 1;
  }
  EXPECT_GT(interrupted, 0U);
  EXPECT_GT(loads, 0U) << "no constants were overwritten under a job: this test tested nothing";
  std::cout << interrupted << " interruptions, " << loads << " times the constants were loaded again within a job\n";
}

// Constants that leave too little room for the steps are loaded by each job, as without the option.
TEST(ResidentConstants, ThatDoNotFitAreLoadedByEachJob) {
  runtime::Device device = open_device(options("nano", model::Mode::kFunctional));
  Streamed network(device, cell(300, 9), keeping());
  EXPECT_EQ(network.program().resident_bytes, 0U);
  EXPECT_EQ(network.step().times.loads, 0U);
}

TEST(ResidentConstants, NeedTheFirmware) {
  platform::PlatformOptions machine = options("edge", model::Mode::kFunctional);
  machine.control_cpu = false;
  runtime::Device device = open_device(machine);
  std::string text;
  EXPECT_EQ(code_of([&] { Streamed(device, cell(64, 9), keeping()); }, &text), contract::ErrorCode::kBadOption);
  EXPECT_NE(text.find("compile it without resident constants"), std::string::npos) << text;
}

// Only the stream that loads them may write them.
TEST(ResidentConstants, AreNotForJobsToWrite) {
  runtime::Device device = open_device(options("edge", model::Mode::kFunctional));
  runtime::Context context = device.create_context();
  compiler::Program program = compiler::compile(cell(64, 9), device.capabilities(), keeping());
  size_t at = 0, changed = 0;
  (void)contract::for_each_command(std::span(program.commands).first(program.main_words),
                                   [&](const contract::Header& header, auto) {
                                     if (header.opcode == contract::Opcode::kMxu) {
                                       set_field(program.commands[at + 12], contract::CommandField::kMxuDstRegion,
                                                 static_cast<uint32_t>(contract::Region::kResident));
                                       ++changed;
                                     }
                                     at += header.words;
                                     return true;
                                   });
  ASSERT_GT(changed, 0U);
  runtime::LoadedProgram loaded = context.load(program);
  runtime::Job job = loaded.create_job();
  job.set_input(0, {DType::kInt8, {1, 2, 2, 64}, std::vector<uint8_t>(256)});
  EXPECT_EQ(code_of([&] { job.run(); }), contract::ErrorCode::kFaultAccessRight);
}

INSTANTIATE_TEST_SUITE_P(Machines, Resident,
                         testing::Combine(testing::Values("nano", "edge"),
                                          testing::Values(model::Mode::kTimed, model::Mode::kFunctional)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == model::Mode::kTimed ? "Timed" : "Functional");
                         });

}  // namespace
}  // namespace npu::test
