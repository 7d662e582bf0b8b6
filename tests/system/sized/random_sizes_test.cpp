// SPDX-License-Identifier: Apache-2.0
// Random graphs with open sizes, compiled for random bounds, at random sizes on the device against the reference: on
// the machines that come with the program, on some with a small scratchpad, and on random ones.
//
// NPU_RANDOM_SIZES says how many graphs, from seed NPU_SIZED_SEED on; NPU_RANDOM_MACHINES how many random machines,
// from seed NPU_MACHINE_SEED on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "hw/presets/preset.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/system/graphs/random_machine.h"
#include "tests/system/sized/sized_trials.h"

namespace npu::test {
namespace {

struct SizedMachine {
  const char* preset;
  uint32_t scratchpad;  // bytes; 0: the preset's
  uint32_t graphs;
  Graphs kind = {};
};

presets::Preset preset_of(const SizedMachine& machine) {
  presets::Preset preset = presets::load_preset(machine.preset);
  if (machine.scratchpad != 0) preset.caps.spm_bytes = machine.scratchpad;
  return preset;
}

class RandomSizes : public testing::TestWithParam<SizedMachine> {};

TEST_P(RandomSizes, EqualTheReference) {
  const uint32_t count = number_from("NPU_RANDOM_SIZES", GetParam().graphs);
  Trials trials(preset_of(GetParam()), GetParam().kind);
  trials.run(number_from("NPU_SIZED_SEED", 1), count);
  EXPECT_GT(trials.counts.compiled, count / 2) << "too many are refused";
  EXPECT_GT(trials.counts.sizes, trials.counts.compiled * 4U);
  EXPECT_GT(trials.counts.compared, trials.counts.sizes);
}

std::string name_of(const testing::TestParamInfo<SizedMachine>& info) {
  const bool images = info.param.kind.kind == Graphs::Kind::kImages;
  return fmt::format("{}_{}{}", info.param.preset, info.param.scratchpad, images ? "_images" : "");
}

constexpr Graphs kImages{Graphs::Kind::kImages, 0, 60};

INSTANTIATE_TEST_SUITE_P(
    Machines, RandomSizes,
    testing::Values(SizedMachine{"edge", 0, 30}, SizedMachine{"nano", 0, 30},
                    SizedMachine{"server", 0, 20, {.most_dim = 24}}, SizedMachine{"edge", 16384, 20, {.most_dim = 24}},
                    SizedMachine{"nano", 16384, 20, {.most_dim = 24}}, SizedMachine{"edge", 16384, 10, kImages},
                    SizedMachine{"nano", 32768, 10, kImages}, SizedMachine{"server", 0, 10, kImages}),
    name_of);

class InterruptedRandomSizes : public testing::TestWithParam<SizedMachine> {};

TEST_P(InterruptedRandomSizes, EqualTheReference) {
  Trials trials(preset_of(GetParam()), GetParam().kind, Trials::Interrupt::kYes);
  trials.run(number_from("NPU_SIZED_SEED", 1), number_from("NPU_RANDOM_SIZES", GetParam().graphs));
  std::cout << trials.counts.interruptions << " interruptions, " << trials.counts.saved_bytes << " bytes saved\n";
  EXPECT_GT(trials.counts.interruptions, trials.counts.sizes / 4) << "this test tested little";
  EXPECT_GT(trials.counts.saved_bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(Machines, InterruptedRandomSizes,
                         testing::Values(SizedMachine{"edge", 0, 15, {.most_dim = 12}},
                                         SizedMachine{"nano", 16384, 15, {.most_dim = 12}},
                                         SizedMachine{"nano", 32768, 8, kImages}),
                         name_of);

// A process that tests a death prints no failures by itself.
void print_failures() {
  const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i) {
    if (result.GetTestPartResult(i).failed()) std::cerr << result.GetTestPartResult(i).message() << '\n';
  }
}

// A process has one simulation, so each machine gets a process of its own.
TEST(RandomSizesOfRandomMachines, EqualTheReference) {
  constexpr uint32_t kGraphs = 6;
  const uint32_t first = number_from("NPU_MACHINE_SEED", 1), machines = number_from("NPU_RANDOM_MACHINES", 12);
  for (uint32_t seed = first; seed < first + machines; ++seed) {
    const presets::Preset machine = random_machine(seed);
    SCOPED_TRACE(fmt::format("NPU_MACHINE_SEED={}\n{}", seed, presets::to_yaml(machine)));
    const auto child = [&] {
      Trials trials(machine, {.most_dim = seed % 4 == 0 ? 20 : 8});
      trials.run(seed * kGraphs, kGraphs);
      print_failures();
      std::_Exit(testing::Test::HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace npu::test
