// SPDX-License-Identifier: Apache-2.0
// Random graphs with control flow in control flow and variables in it, on the device, against the reference: on the
// machines that come with the program, and on some whose scratchpad is so small that everything is cut into tiles.
//
// NPU_RANDOM_CONTROL says how many graphs, from seed NPU_CONTROL_SEED on, and NPU_CONTROL_OPERATORS how many operators
// are drawn for each. A graph that fails is drawn again with fewer operators, until it is as small as it can be.
#include "sim/generator/random_control.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/system/control/least_failing.h"
#include "tests/system/graphs/graph_bench.h"

namespace npu::test {
namespace {

struct ControlMachine {
  const char* preset;
  uint32_t scratchpad;  // bytes; 0: the preset's
  uint32_t graphs;
  graph::Shape shape = {1, 6};  // of their values
  int operators = 6;            // at most that are drawn for the main block
  bool two_places = false;
};

presets::Preset preset_of(const ControlMachine& machine) {
  presets::Preset preset = presets::load_preset(machine.preset);
  if (machine.scratchpad != 0) preset.caps.spm_bytes = machine.scratchpad;
  return preset;
}

// Operators of all blocks, without constants.
size_t operators_of(const graph::Graph& graph) {
  size_t count = 0;
  for (const graph::Region& region : graph.regions) {
    for (const graph::Operator& op : region.blocks.front().operators) {
      count += op.op != graph::Op::kConst && op.op != graph::Op::kConstShape ? 1 : 0;
    }
  }
  return count;
}

class RandomControl : public testing::TestWithParam<ControlMachine> {
 protected:
  [[nodiscard]] graph::Graph graph_of(uint32_t seed, int operators) const {
    return generator::random_control(seed, {GetParam().shape, operators});
  }

  // What is wrong with a graph; empty: nothing. The data are a function of the seed, too.
  std::string problem_of(uint32_t seed, int operators) {
    std::string problem;
    try {
      const graph::Graph graph = graph_of(seed, operators);
      graph::validate(graph);
      std::mt19937 random(seed);
      runtime::ContextOptions context;
      context.double_buffer = GetParam().two_places;
      const Trial trial = try_graph(graph, device_, random, context);
      problem = trial.predictable ? trial.difference : "the reference calls it unpredictable";
      compared_ += trial.compared;
    } catch (const Error& error) {
      problem = error.what();
    }
    device_.cold_reset();
    return problem;
  }

  void report(uint32_t seed, int operators, const std::string& problem) {
    const int least = least_failing(operators, [&](int size) { return !problem_of(seed, size).empty(); });
    ADD_FAILURE() << fmt::format(
        "seed {}, {} operators drawn: {}\nas small as it can be, with {}: {}\nrun that alone with "
        "NPU_CONTROL_SEED={} NPU_RANDOM_CONTROL=1 NPU_CONTROL_OPERATORS={} and --gtest_filter={}.{}",
        seed, operators, problem, least, problem_of(seed, least), seed, least,
        testing::UnitTest::GetInstance()->current_test_suite()->name(),
        testing::UnitTest::GetInstance()->current_test_info()->name());
  }

  runtime::Device device_ = open_graph_device(preset_of(GetParam()));
  int64_t compared_ = 0;
};

TEST_P(RandomControl, EqualsTheReference) {
  const uint32_t first = number_from("NPU_CONTROL_SEED", 1),
                 count = number_from("NPU_RANDOM_CONTROL", GetParam().graphs);
  ASSERT_GT(count, 0U);
  std::cout << "seeds " << first << " to " << first + count - 1 << " (NPU_CONTROL_SEED, NPU_RANDOM_CONTROL)"
            << std::endl;
  size_t operators = 0, most = 0;
  for (uint32_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    // All sizes in any order.
    const auto usual = 6 + seed * 37 % static_cast<uint32_t>(GetParam().operators - 5);
    const auto drawn = static_cast<int>(number_from("NPU_CONTROL_OPERATORS", usual));
    const size_t size = operators_of(graph_of(seed, drawn));
    operators += size;
    most = std::max(most, size);
    const std::string problem = problem_of(seed, drawn);
    if (!problem.empty()) report(seed, drawn, problem);
  }
  std::cout << count << " graphs of " << operators / count << " operators on average and " << most << " at most, "
            << compared_ << " elements compared\n";
  EXPECT_GT(compared_, 0);
}

std::string name_of(const testing::TestParamInfo<ControlMachine>& info) {
  return fmt::format("{}_{}{}", info.param.preset, info.param.scratchpad, info.param.two_places ? "_two_places" : "");
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomControl,
                         testing::Values(ControlMachine{"edge", 0, 200}, ControlMachine{"nano", 0, 150},
                                         ControlMachine{"edge", 16384, 60, {1, 1500}},
                                         ControlMachine{"nano", 16384, 60, {1, 3000}},
                                         ControlMachine{"nano", 0, 100, {1, 6}, 6, true}),
                         name_of);
// Of up to a thousand operators.
INSTANTIATE_TEST_SUITE_P(Large, RandomControl,
                         testing::Values(ControlMachine{"edge", 0, 60, {2, 3, 4}, 60},
                                         ControlMachine{"nano", 0, 60, {1, 6}, 60},
                                         ControlMachine{"server", 0, 60, {4, 40}, 60},
                                         ControlMachine{"edge", 16384, 60, {1, 600}, 60},
                                         ControlMachine{"nano", 16384, 60, {2, 900}, 60}),
                         name_of);

TEST(LeastFailing, IsTheSmallestOfAll) {
  EXPECT_EQ(least_failing(9, [](int size) { return size >= 4; }), 4);
  EXPECT_EQ(least_failing(9, [](int size) { return size == 3 || size == 9; }), 3);
  EXPECT_EQ(least_failing(9, [](int) { return false; }), 9) << "a failure that does not come again";
  EXPECT_EQ(least_failing(0, [](int) { return true; }), 0);
}

}  // namespace
}  // namespace npu::test
