// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/graph_bench.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

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

presets::Preset small_float_machine() {
  const contract::Capabilities floats = presets::load_preset("server").caps;
  presets::Preset machine = presets::load_preset("nano");
  for (const auto key : {&contract::Capabilities::mxu_fp8_cycles, &contract::Capabilities::mxu_fp16_cycles,
                         &contract::Capabilities::mxu_bf16_cycles, &contract::Capabilities::mxu_fp32_cycles,
                         &contract::Capabilities::vpu_float}) {
    machine.caps.*key = floats.*key;
  }
  return presets::parse_preset("small", "small", presets::to_yaml(machine));
}

Trial try_graph(const graph::Graph& graph, runtime::Device& device, std::mt19937& random,
                const runtime::ContextOptions& options) {
  Trial trial;
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
      trial.predictable = false;
      return trial;
    }
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    static_cast<void>(job.run());
    const std::vector<graph::Value> got = job.outputs();
    for (size_t i = 0; i < want.size(); ++i) {
      const graph::Difference difference = graph::compare(got.at(i), want[i]);
      trial.compared += difference.compared;
      if (difference.differing == 0 || !trial.difference.empty()) continue;
      trial.difference = fmt::format("invocation {}: {} elements of output {} differ, the first is {}", invocation,
                                     difference.differing, i, difference.first);
    }
  }
  return trial;
}

bool equals_reference(const graph::Graph& graph, runtime::Device& device, std::mt19937& random, int64_t& compared,
                      const runtime::ContextOptions& options) {
  const Trial trial = try_graph(graph, device, random, options);
  EXPECT_EQ(trial.difference, "");
  compared += trial.compared;
  return trial.predictable;
}

uint32_t number_from(const char* variable, uint32_t usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace npu::test
