// SPDX-License-Identifier: Apache-2.0
// Programs whose commands are damaged at random, as a driver of somebody else's might make them: each ends well or with
// a fault within its time, and whatever it does, the other context's results and variables stay right. NPU_HOSTILE_RUNS
// sets how many are tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <optional>

#include "driver/graph/builder.h"
#include "sim/generator/random_control.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/fault_plan.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/seed.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using graph::DType;

// Rows by indices that constants and the network itself give.
graph::Graph rows_step() {
  graph::GraphBuilder b;
  const graph::TensorId table = b.input("table", DType::kInt8, {2, 16, 12});
  const graph::TensorId index = b.argmax(b.input("scores", DType::kInt8, {2, 5, 16}), 2);
  const graph::TensorId rows = b.gather(table, index);
  const graph::TensorId places = b.constant(DType::kInt32, {2, 5}, std::vector<double>{3, 0, 15, 7, 8, 1, 2, 9, 4, 5});
  b.output(b.scatter(table, places, rows), "y");
  return b.build();
}

constexpr uint32_t kControl = 3;  // seed of a graph with a loop in a loop

class HostileCommands : public testing::TestWithParam<std::tuple<std::string, model::Mode>> {
 protected:
  void SetUp() override {
    const auto& [machine, mode] = GetParam();
    device_.emplace(open_device(options(machine, mode)));
    victim_ = std::make_unique<SideBySide>(*device_);
    static_cast<void>(victim_->load(gru_graph_));
    context_.emplace(device_->create_context());
    graphs_ = {attention_step({16, 32, 1}, seed_), gru_step({8, 16}, Precision::kInt8, seed_),
               generator::random_control(kControl), rows_step()};
    for (const graph::Graph& graph : graphs_) {
      programs_.push_back(compiler::compile(graph, device_->capabilities()));
    }
  }

  [[nodiscard]] uint32_t below(size_t end) { return static_cast<uint32_t>(random_() % end); }

  [[nodiscard]] uint32_t damaged(uint32_t word) {
    constexpr uint32_t kExtremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
    switch (below(4)) {
      case 0:
        return word ^ 1U << below(32);
      case 1:
        return word + 1 - 2 * below(2);
      case 2:
        return kExtremes[below(std::size(kExtremes))];
      default:
        return static_cast<uint32_t>(random_());
    }
  }

  // Behind the first command, which the driver looks at before it loads a program.
  void damage(std::vector<uint32_t>& words) {
    const size_t first = contract::BeginCommand::kWords;
    const auto any = [&] { return first + below(words.size() - first); };
    for (uint32_t left = 1 + below(6); left > 0; --left) {
      const size_t at = any(), other = any();
      switch (below(8)) {
        case 0:
          words[at] = words[other];
          break;
        case 1:
          std::swap(words[at], words[other]);
          break;
        case 2:  // a piece is gone, and another one comes twice
          std::rotate(words.begin() + static_cast<std::ptrdiff_t>(std::min(at, other)),
                      words.begin() + static_cast<std::ptrdiff_t>(std::max(at, other)), words.end());
          break;
        default:
          words[at] = damaged(words[at]);
      }
    }
  }

  void once() {
    const size_t which = below(graphs_.size());
    compiler::Program program = programs_[which];
    damage(program.commands);
    const uint64_t before = device_->time();
    std::string text;
    const ErrorCode code = code_of(
        [&] {
          runtime::Job job = context_->load(std::move(program)).create_job({.cycle_limit = kCycleLimit});
          const std::vector<graph::Value> inputs = random_inputs(graphs_[which], random_);
          for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
          static_cast<void>(job.run());
        },
        &text);
    ++ended_[code];
    EXPECT_NE(code, ErrorCode::kFaultFirmware) << text;  // the firmware does not depend on what is in a stream
    EXPECT_NE(code, ErrorCode::kFaultCounters) << text;  // what a device accepts it counts right
    EXPECT_LE(device_->time() - before, kMostTime) << text;
    context_->clear();
    victim_->step(0, random_inputs(gru_graph_, random_));
  }

  uint32_t seed_ = print_seed(0);
  std::mt19937 random_{seed_};
  graph::Graph gru_graph_ = gru_step({12, 40}, Precision::kInt16x8, seed_);
  std::optional<runtime::Device> device_;
  std::unique_ptr<SideBySide> victim_;
  std::optional<runtime::Context> context_;
  std::vector<graph::Graph> graphs_;
  std::vector<compiler::Program> programs_;
  std::map<ErrorCode, int> ended_;
};

TEST_P(HostileCommands, StayInTheirContext) {
  const int count = tries("NPU_HOSTILE_RUNS", 1500);
  std::chrono::steady_clock::duration longest{};
  for (int done = 0; done < count && !HasFailure(); ++done) {
    SCOPED_TRACE("program " + std::to_string(done));
    const auto begun = std::chrono::steady_clock::now();
    once();
    longest = std::max(longest, std::chrono::steady_clock::now() - begun);
  }
  std::cout << count << " damaged programs:";
  for (const auto& [code, programs] : ended_) std::cout << ' ' << contract::name(code) << ' ' << programs << ',';
  std::cout << " longest " << std::chrono::duration_cast<std::chrono::milliseconds>(longest).count() << " ms\n";
  EXPECT_GT(ended_.size(), 5U) << "the damage has few effects";
  victim_->report("the other context");
}

INSTANTIATE_TEST_SUITE_P(Machines, HostileCommands,
                         testing::Combine(testing::Values("edge", "nano"),
                                          testing::Values(model::Mode::kTimed, model::Mode::kFunctional)),
                         [](const auto& info) {
                           return std::get<0>(info.param) +
                                  (std::get<1>(info.param) == model::Mode::kTimed ? "_timed" : "_functional");
                         });

}  // namespace
}  // namespace npu::test
