// SPDX-License-Identifier: Apache-2.0
// Random legal machines, each with random graphs: what compiles for a machine has the reference's bits there, and
// nothing is refused but for a size that the machine's file has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "sim/generator/run_time_operands.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/system/graphs/random_machine.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using presets::Preset;

constexpr uint32_t kGraphs = 10;

// Of the graphs' inputs. Large ones are cut into tiles by more machines, and take longer.
int most_dim(uint32_t seed) { return seed % 4 == 0 ? 24 : 8; }

// Of one machine.
struct Outcome {
  uint32_t ran = 0, unpredictable = 0, without = 0;
  int64_t compared = 0;
};

// Whether the machine's file has what is missing or too small: the sentence names its key.
bool names_a_capability(const std::string& text) {
  return std::any_of(contract::kCapabilities.begin(), contract::kCapabilities.end(),
                     [&](const auto& key) { return text.find(key.name) != std::string::npos; });
}

Outcome run_graphs(const Preset& machine, uint32_t seed) {
  runtime::Device device = open_graph_device(machine);
  std::mt19937 random(seed);
  Outcome outcome;
  for (uint32_t i = 0; i < kGraphs; ++i) {
    const uint32_t of_graph = seed * kGraphs + i;
    SCOPED_TRACE("graph " + std::to_string(of_graph));
    graph::Graph graph = compiler::testing::random_graph(of_graph, most_dim(seed));
    cosim::Random of_operands(of_graph);
    if (i % 3 == 2) static_cast<void>(generator::make_run_time_operands(graph, of_operands, 60));
    graph::validate(graph);
    try {
      ++(equals_reference(graph, device, random, outcome.compared) ? outcome.ran : outcome.unpredictable);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kTypeUnsupported) {
        EXPECT_EQ(contract::exit_status(error.code()), contract::exit_status(ErrorCode::kScratchpadFull))
            << error.what();
      }
      EXPECT_TRUE(names_a_capability(error.what())) << error.what();
      ++outcome.without;
    }
    device.cold_reset();
  }
  return outcome;
}

// NPU_RANDOM_MACHINES says how many machines, from seed NPU_MACHINE_SEED on. A process has one simulation, so each
// machine gets a process of its own.
TEST(RandomMachines, RunEveryGraphOrNameTheirLimit) {
  const uint32_t first = number_from("NPU_MACHINE_SEED", 1), machines = number_from("NPU_RANDOM_MACHINES", 100);
  ASSERT_GT(machines, 0U);
  for (uint32_t seed = first; seed < first + machines; ++seed) {
    const Preset machine = random_machine(seed);
    SCOPED_TRACE("NPU_MACHINE_SEED=" + std::to_string(seed) + "\n" + presets::to_yaml(machine));
    const auto child = [&] {
      const Outcome outcome = run_graphs(machine, seed);
      std::cout << machine.name << ": " << outcome.ran << " graphs, " << outcome.unpredictable << " unpredictable, "
                << outcome.without << " beyond the machine, " << outcome.compared << " elements compared" << std::endl;
      EXPECT_GT(outcome.ran, 0U) << "no graph ran";
      std::_Exit(testing::Test::HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace npu::test
