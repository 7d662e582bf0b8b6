// SPDX-License-Identifier: Apache-2.0
// The random networks of one operator that `npu cosim` draws, on the device against the reference: every operator and
// every combination of types that a machine runs. The bins show what these networks never draw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "driver/compiler/compile.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/error.h"
#include "sim/platform/platform.h"
#include "sim/reference/reference.h"
#include "sim/regression/operator_network.h"
#include "tests/unit/bins/graph_bins.h"
#include "tests/unit/seeds.h"

namespace npu::test {
namespace {

// Instances of each combination of types in a network; windows have many more bins than other operators.
constexpr uint32_t kOfEach = 4, kOfEachWindow = 32;

bool has_windows(graph::Op op) {
  return op == graph::Op::kConv2d || op == graph::Op::kConv3d || op == graph::Op::kDepthwiseConv2d ||
         op == graph::Op::kTransposeConv2d || op == graph::Op::kMaxPool2d || op == graph::Op::kAvgPool2d;
}

class RandomOperators : public testing::TestWithParam<const char*> {};

// The bytes of one of the stacked tensors.
graph::Value frame_of(const graph::Value& stacked, int64_t frame) {
  graph::Value value{stacked.type, {stacked.shape.begin() + 1, stacked.shape.end()}, {}};
  const auto bytes = static_cast<std::ptrdiff_t>(stacked.bytes.size()) / stacked.shape.front();
  value.bytes.assign(stacked.bytes.begin() + frame * bytes, stacked.bytes.begin() + (frame + 1) * bytes);
  return value;
}

// One seed in four searches for a good schedule. The others take the first one: operators are of interest here, and
// what a search makes of several is random_graphs_test's.
compiler::Options options_of(uint64_t seed) {
  compiler::Options options;
  if (seed % 4 != 0) options.schedule.effort = compiler::Effort::kLeast;
  return options;
}

// Elements compared. All results of these networks are defined.
int64_t compare_operator(const regression::OperatorNetwork& network, const compiler::Options& options,
                         runtime::Device& device) {
  runtime::Context context = device.create_context();
  runtime::LoadedProgram program = context.load(compiler::compile(network.graph, device.capabilities(), options));
  runtime::Job job = program.create_job();
  reference::Context state;
  int64_t compared = 0;
  for (int64_t frame = 0; frame < network.frames; ++frame) {
    std::vector<graph::Value> inputs;
    for (const graph::Value& stacked : network.inputs) inputs.push_back(frame_of(stacked, frame));
    const std::vector<graph::Value> want = reference::run(network.graph, inputs, state);
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    static_cast<void>(job.run());
    const std::vector<graph::Value> got = job.outputs();
    for (size_t i = 0; i < want.size(); ++i) {
      const graph::Difference difference = graph::compare(got.at(i), want[i]);
      EXPECT_EQ(difference.differing, 0) << "output " << i << " of frame " << frame << ", first at "
                                         << difference.first;
      compared += difference.compared;
    }
  }
  return compared;
}

TEST_P(RandomOperators, EqualTheReference) {
  platform::PlatformOptions options;
  options.preset = presets::load_preset(GetParam());
  options.mode = model::Mode::kFunctional;
  options.control_cpu = false;
  runtime::DeviceOptions driver;
  driver.bypass_firmware = true;
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(options), driver);
  int64_t compared = 0, networks = 0;
  GraphBins bins;
  const Seeds seeds = seeds_of_run({1, 30});
  for (uint32_t i = 1; i < graph::kTensorOpCount; ++i) {
    const auto op = static_cast<graph::Op>(i);
    if (!regression::device_runs(op, device.capabilities())) continue;
    const uint32_t of_each = has_windows(op) ? kOfEachWindow : kOfEach;
    for (uint64_t seed = seeds.first; seed < seeds.end() && !HasFailure(); ++seed) {
      SCOPED_TRACE(std::string(name(op)) + ", seed " + std::to_string(seed));
      try {
        const regression::OperatorNetwork network =
            regression::random_operator(op, device.capabilities(), seed, of_each);
        compared += compare_operator(network, options_of(seed), device);
        bins.add(network.graph);
        ++networks;
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      device.cold_reset();
    }
  }
  if (HasFailure()) return;
  std::cout << networks << " networks, " << compared << " elements compared\n";
  bins.print(std::cout);
  EXPECT_THAT(bins.missed(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomOperators, testing::Values("edge", "nano"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace npu::test
