// SPDX-License-Identifier: Apache-2.0
// Random legal machines, each with random graphs: what compiles for a machine has the reference's bits there, and
// nothing is refused but for a size that the machine's file has.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iostream>
#include <random>

#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "sim/generator/run_time_operands.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using presets::Preset;

constexpr uint32_t kGraphs = 10;

// Of the graphs' inputs. Large ones are cut into tiles by more machines, and take longer.
int most_dim(uint32_t seed) { return seed % 4 == 0 ? 24 : 8; }

// Sizes that a test's memory must hold. All other keys are drawn from all that they may be.
uint32_t most(const contract::CapabilityInfo& key) {
  if (key.name == "spm_bytes") return 1u << 22;
  if (key.name == "psram_bytes") return 1u << 20;
  if (key.name == "dram_mib") return 64;
  return key.max;
}

// Small and large values alike: each power of two between the bounds is as likely as the next.
uint32_t draw(const contract::CapabilityInfo& key, std::mt19937& random) {
  if (key.max == 1) return random() % 2;
  const auto low = static_cast<uint32_t>(std::bit_width(key.min) - 1);
  const auto high = static_cast<uint32_t>(std::bit_width(most(key)) - 1);
  const uint32_t power = 1u << (low + random() % (high - low + 1));
  const uint32_t value = key.power_of_two ? power : power + random() % power;
  return std::clamp(value, key.min, most(key));
}

presets::Dram random_dram(std::mt19937& random) {
  const std::vector<std::string> names = presets::preset_names();
  presets::Dram dram = presets::load_preset(names[random() % names.size()]).dram;
  if (random() % 4 > 0) return dram;
  presets::Dram fixed;
  fixed.name = "fixed latency";
  fixed.data_rate_mts = dram.data_rate_mts;
  fixed.bus_bits = dram.bus_bits;
  fixed.latency_ns = 1 + random() % 500;
  return fixed;
}

// A machine whose file is accepted. What does not fit together is drawn again.
Preset random_machine(uint32_t seed) {
  std::mt19937 random(seed);
  for (;;) {
    Preset machine;
    for (const contract::CapabilityInfo& key : contract::kCapabilities) machine.caps.*key.member = draw(key, random);
    machine.dram = random_dram(random);
    try {
      return presets::parse_preset("machine " + std::to_string(seed), "random", presets::to_yaml(machine));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadPreset) throw;
    }
  }
}

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
  const uint32_t first = number_from("NPU_MACHINE_SEED", 1), machines = number_from("NPU_RANDOM_MACHINES", 200);
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
