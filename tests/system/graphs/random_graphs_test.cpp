// SPDX-License-Identifier: Apache-2.0
// Random graphs through compiler, driver and device, against the reference: function, tiling, placement and order of
// everything together. Jitter changes the timing, so that a missing order shows as a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "driver/compiler/compile.h"
#include "driver/graph/validate.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/error.h"
#include "sim/platform/platform.h"
#include "sim/reference/reference.h"
#include "tests/unit/bins/graph_bins.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::test {
namespace {

struct Machine {
  const char* preset;
  int max_dim;  // of the graphs' inputs
  uint32_t graphs;
  bool bins;  // hits every bin: with fewer or larger graphs some are too rare
};

class RandomGraphs : public testing::TestWithParam<Machine> {};

// Runs one graph twice; false where the reference calls it unpredictable.
bool compare(const graph::Graph& graph, runtime::Device& device, std::mt19937& random, int64_t& compared) {
  runtime::Context context = device.create_context();
  runtime::LoadedProgram program = context.load(compiler::compile(graph, device.capabilities()));
  runtime::Job job = program.create_job();
  reference::Context state;
  for (int invocation = 0; invocation < 2; ++invocation) {
    std::vector<graph::Value> inputs, want;
    for (graph::TensorId id : graph.main().inputs) {
      const graph::Tensor& tensor = graph.main().tensors[id];
      inputs.push_back(compiler::testing::random_value(tensor.type, tensor.shape, random));
    }
    try {
      want = reference::run(graph, inputs, state);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kRequireFailed) << error.what();
      return false;
    }
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    static_cast<void>(job.run());
    const std::vector<graph::Value> got = job.outputs();
    for (size_t i = 0; i < want.size(); ++i) {
      const graph::Difference difference = graph::compare(got.at(i), want[i]);
      EXPECT_EQ(difference.differing, 0) << "output " << i << ", first at " << difference.first;
      compared += difference.compared;
    }
  }
  return true;
}

TEST_P(RandomGraphs, EqualTheReference) {
  platform::PlatformOptions options;
  options.preset = presets::load_preset(GetParam().preset);
  options.jitter_seed = 17;
  options.jitter_max_cycles = 50;
  runtime::DeviceOptions driver;
  driver.bypass_firmware = !options.control_cpu;
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(options), driver);
  std::mt19937 random(1);
  uint32_t predictable = 0;
  int64_t compared = 0;
  GraphBins bins;
  for (uint32_t seed = 1; seed <= GetParam().graphs && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const graph::Graph graph = compiler::testing::random_graph(seed, GetParam().max_dim);
    graph::validate(graph);
    try {
      if (compare(graph, device, random, compared)) {
        ++predictable;
        bins.add(graph);
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    device.cold_reset();
  }
  if (HasFailure()) return;
  EXPECT_GT(predictable, GetParam().graphs / 2);
  std::cout << predictable << " of " << GetParam().graphs << " graphs, " << compared << " elements compared\n";
  bins.print(std::cout);
  if (GetParam().bins) {
    EXPECT_THAT(bins.missed(), testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomGraphs,
                         testing::Values(Machine{"edge", 4, 1200, true}, Machine{"nano", 4, 1000, true},
                                         Machine{"nano", 24, 150, false}),
                         [](const auto& info) {
                           return std::string(info.param.preset).append("_").append(std::to_string(info.param.max_dim));
                         });

}  // namespace
}  // namespace npu::test
