// SPDX-License-Identifier: Apache-2.0
#include "tests/system/device/bench.h"

#include <gtest/gtest.h>

#include <iostream>

#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "hw/presets/preset.h"
#include "sim/reference/reference.h"

namespace npu::test {
namespace {

namespace fs = std::filesystem;

graph::Graph read_valid(const fs::path& path) {
  graph::Graph graph = graph::read_tosa(path);
  graph::validate(graph);
  return graph;
}

// Rows of a stacked .npy as values for one port.
std::vector<graph::Value> rows(const fs::path& path, const graph::Tensor& port) {
  const graph::NpyArray all = graph::read_npy(path);
  std::vector<graph::Value> values;
  for (int64_t i = 0; i < all.shape.at(0); ++i) {
    values.push_back(graph::to_value(graph::slice_axis0(all, i), port.type, &port.shape, true, path.string()));
  }
  return values;
}

std::vector<std::vector<graph::Value>> one_input_each(std::vector<graph::Value> values) {
  std::vector<std::vector<graph::Value>> frames;
  for (graph::Value& value : values) frames.push_back({std::move(value)});
  return frames;
}

}  // namespace

std::optional<Network> wake_word(const std::string& name) {
  const fs::path file = fs::path(NPU_NETWORK_DIR) / (name + ".tosa");
  if (!fs::exists(file)) return std::nullopt;
  Network network{name, read_valid(file), {}, std::nullopt};
  const graph::Block& block = network.graph.main();
  const std::string phrase = name == "hey_jarvis" ? "hey_jarvis" : "okay_nabu";
  network.frames = one_input_each(
      rows(fs::path(NPU_SOURCE_DIR) / "sim/demo/data" / (phrase + "_frames.npy"), block.tensors[block.inputs.at(0)]));
  return network;
}

std::optional<Network> zoo_network([[maybe_unused]] const std::string& name) {
#ifdef NPU_ZOO_DIR
  const fs::path folder = fs::path(NPU_ZOO_DIR) / name;
  Network network{name, read_valid(folder / (name + ".tosa")), {}, std::nullopt};
  const graph::Block& block = network.graph.main();
  const graph::Tensor& input = block.tensors[block.inputs.at(0)];
  const graph::Tensor& output = block.tensors[block.outputs.at(0)];
  if (fs::exists(folder / "frames.npy")) {
    network.frames = one_input_each(rows(folder / "frames.npy", input));
    network.golden = rows(folder / "golden_tosa.npy", output);
  } else {
    const auto value = [&](const char* file, const graph::Tensor& port) {
      return graph::to_value(graph::read_npy(folder / file), port.type, &port.shape, true, file);
    };
    network.frames = {{value("input0.npy", input)}};
    network.golden = std::vector<graph::Value>{value("golden_out0.npy", output)};
  }
  return network;
#else
  return std::nullopt;
#endif
}

bool Invocation::operator==(const Invocation& other) const {
  if (cycles != other.cycles || outputs.size() != other.outputs.size()) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (graph::compare(outputs[i], other.outputs[i]).differing != 0) return false;
  }
  return true;
}

std::function<void(platform::PlatformOptions&)>& options_hook() {
  static std::function<void(platform::PlatformOptions&)> hook;
  return hook;
}

platform::PlatformOptions options(const std::string& preset, model::Mode mode) {
  platform::PlatformOptions options;
  options.preset = presets::load_preset(preset);
  options.mode = mode;
  if (options_hook()) options_hook()(options);
  return options;
}

runtime::Device open_device(const platform::PlatformOptions& options) {
  runtime::DeviceOptions driver;
  driver.bypass_firmware = !options.control_cpu;
  return runtime::Device::open(platform::open_tlm_device(options), driver);
}

std::vector<Invocation> stream(runtime::Job& job, const Network& network) {
  std::vector<Invocation> invocations;
  for (const auto& inputs : network.frames) {
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    const uint64_t cycles = job.run().cycles;
    invocations.push_back({job.outputs(), cycles});
  }
  return invocations;
}

std::vector<std::vector<graph::Value>> reference(const Network& network) {
  reference::Context context;
  std::vector<std::vector<graph::Value>> outputs;
  for (const auto& inputs : network.frames) outputs.push_back(reference::run(network.graph, inputs, context));
  return outputs;
}

int64_t differing(const std::vector<Invocation>& got, const std::vector<std::vector<graph::Value>>& want) {
  int64_t count = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    for (size_t k = 0; k < want[i].size(); ++k) {
      count += graph::compare(got.at(i).outputs.at(k), want[i][k]).differing;
    }
  }
  return count;
}

void expect_equal(const std::vector<Invocation>& got, const std::vector<std::vector<graph::Value>>& want,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  int64_t compared = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_GE(got[i].outputs.size(), want[i].size()) << what;
    for (size_t k = 0; k < want[i].size(); ++k) {
      const graph::Difference difference = graph::compare(got[i].outputs[k], want[i][k]);
      compared += difference.compared;
      EXPECT_EQ(difference.differing, 0) << what << ": invocation " << i << ", output " << k << ", first at element "
                                         << difference.first;
    }
  }
  EXPECT_GT(compared, 0) << what;
  std::cout << what << ": " << differing(got, want) << " of " << compared << " elements differ\n";
}

}  // namespace npu::test
