// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/graph_bench.h"

#include <gtest/gtest.h>

#include "driver/compiler/compile.h"
#include "hw/contract/error.h"
#include "sim/platform/platform.h"
#include "sim/reference/reference.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::test {

runtime::Device open_graph_device(const presets::Preset& machine) {
  platform::PlatformOptions options;
  options.preset = machine;
  options.jitter_seed = 17;
  options.jitter_max_cycles = 50;
  runtime::DeviceOptions driver;
  driver.bypass_firmware = !options.control_cpu;
  return runtime::Device::open(platform::open_tlm_device(options), driver);
}

bool equals_reference(const graph::Graph& graph, runtime::Device& device, std::mt19937& random, int64_t& compared,
                      const runtime::ContextOptions& options) {
  runtime::Context context = device.create_context(options);
  compiler::Options compiling;
  compiling.schedule.two_places = options.double_buffer;
  runtime::LoadedProgram program = context.load(compiler::compile(graph, device.capabilities(), compiling));
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

}  // namespace npu::test
