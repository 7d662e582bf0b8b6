// SPDX-License-Identifier: Apache-2.0
// Where variables live changes no bit: all in persistent SRAM, as many as fit into half of what they take, and all in
// DRAM, from one device and one run to the next.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

using Parameters = std::tuple<std::string, std::string, model::Mode>;

class StatePlaces : public testing::TestWithParam<Parameters> {};

TEST_P(StatePlaces, ChangeNoBit) {
  const auto& [name, preset, mode] = GetParam();
  const bool lstm = name.starts_with("lstm");
  const std::optional<Network> network = lstm ? zoo_network(name) : wake_word(name);
  if (!network) GTEST_SKIP() << name << " is not there";
  const std::vector<std::vector<graph::Value>> want = reference(*network);
  runtime::Device device = open_device(options(preset, mode));
  runtime::Context context = device.create_context();

  compiler::Options compile;
  uint64_t state = 0;
  for (const auto& v : compiler::compile(network->graph, device.capabilities()).variables) state += v.bytes;
  for (const uint64_t budget : {UINT64_MAX, state / 2, uint64_t{0}}) {
    compile.schedule.persistent_bytes = budget;
    const compiler::Program whole = compiler::compile(network->graph, device.capabilities(), compile);
    const auto spilled = static_cast<size_t>(
        std::count_if(whole.variables.begin(), whole.variables.end(), [](const auto& v) { return v.in_dram; }));
    EXPECT_EQ(spilled == 0, budget == UINT64_MAX);
    EXPECT_EQ(spilled == whole.variables.size(), budget == 0);
    context.clear();
    const runtime::LoadedProgram program = context.load(whole);
    runtime::Job job = program.create_job();
    const std::vector<Invocation> got = stream(job, *network);
    expect_equal(got, want,
                 fmt::format("{} on {}, {} of {} variables in DRAM", name, preset, spilled, whole.variables.size()));
    std::cout << got.back().cycles << " cycles the last invocation\n";
  }
}

std::string places_test_name(const testing::TestParamInfo<Parameters>& info) {
  return std::get<0>(info.param) + "_on_" + std::get<1>(info.param) +
         (std::get<2>(info.param) == model::Mode::kTimed ? "_timed" : "_functional");
}

constexpr auto kModes = {model::Mode::kFunctional, model::Mode::kTimed};

INSTANTIATE_TEST_SUITE_P(Imported, StatePlaces,
                         testing::Combine(testing::ValuesIn(kWakeWords), testing::Values("edge", "nano"),
                                          testing::ValuesIn(kModes)),
                         places_test_name);
INSTANTIATE_TEST_SUITE_P(Zoo, StatePlaces,
                         testing::Combine(testing::Values("lstm_step_int8", "lstm_step_int16x8"),
                                          testing::Values("edge", "nano"), testing::ValuesIn(kModes)),
                         places_test_name);

}  // namespace
}  // namespace npu::test
