// SPDX-License-Identifier: Apache-2.0
// What state costs, in process:
//
//   state_bench cycles [NETWORK.tosa FRAMES.npy]...   cycles a frame with all variables in persistent SRAM, and in DRAM
//   state_bench overhead                              host microseconds of the driver for an invocation
//
// Prints one JSON array. `cycles`: on `edge`, for the networks given and for cells of our own; outputs of both runs are
// compared. `overhead`: by the number of variables, against a device that does nothing (MockHal), once for a program
// that uses all of the context's variables and once for one that uses one of them.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "driver/runtime/mock_firmware.h"
#include "driver/runtime/mock_hal.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/platform/platform.h"
#include "tests/system/state/networks.h"

namespace {

using namespace npu;
using Frames = std::vector<std::vector<graph::Value>>;

struct Stream {
  std::string name;
  graph::Graph graph;
  Frames frames;
};

Stream from_file(const std::filesystem::path& network, const std::string& frames) {
  Stream stream{network.stem().string(), graph::read_tosa(network), {}};
  const graph::Block& block = stream.graph.main();
  const graph::Tensor& port = block.tensors[block.inputs.at(0)];
  const graph::NpyArray all = graph::read_npy(frames);
  for (int64_t i = 0; i < all.shape.at(0); ++i) {
    stream.frames.push_back({graph::to_value(graph::slice_axis0(all, i), port.type, &port.shape, true, frames)});
  }
  return stream;
}

Stream random_frames(std::string name, graph::Graph graph) {
  constexpr int kFrames = 64;
  std::mt19937 random(1);
  Stream stream{std::move(name), std::move(graph), {}};
  for (int i = 0; i < kFrames; ++i) stream.frames.push_back(test::random_inputs(stream.graph, random));
  return stream;
}

struct Passed {
  uint64_t cycles = 0;
  Frames outputs;
  uint64_t state_bytes = 0;
  size_t variables = 0, in_dram = 0;
};

Passed pass(runtime::Device& device, const Stream& stream, bool state_in_dram) {
  compiler::Options options;
  options.schedule.state_in_dram = state_in_dram;
  compiler::Program program = compiler::compile(stream.graph, device.capabilities(), options);
  Passed result;
  result.variables = program.variables.size();
  for (const compiler::Variable& variable : program.variables) {
    result.state_bytes += variable.bytes;
    result.in_dram += variable.in_dram ? 1 : 0;
  }
  runtime::Context context = device.create_context();
  runtime::Job job = context.load(std::move(program)).create_job();
  for (const auto& inputs : stream.frames) {
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    result.cycles += job.run().cycles;
    result.outputs.push_back(job.outputs());
  }
  return result;
}

int64_t differing(const Frames& a, const Frames& b, int64_t& compared) {
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < a[i].size(); ++k) {
      const graph::Difference difference = graph::compare(a[i][k], b.at(i).at(k));
      count += difference.differing;
      compared += difference.compared;
    }
  }
  return count;
}

nlohmann::json cycles(const std::vector<std::string>& files) {
  std::vector<Stream> streams;
  for (size_t i = 0; i + 1 < files.size(); i += 2) streams.push_back(from_file(files[i], files[i + 1]));
  streams.push_back(random_frames("gru_int8_64", test::gru_step({32, 64}, test::Precision::kInt8, 1)));
  streams.push_back(random_frames("gru_int16x8_64", test::gru_step({32, 64}, test::Precision::kInt16x8, 1)));
  streams.push_back(random_frames("attention_64x32x1", test::attention_step({64, 32, 1}, 1)));
  streams.push_back(random_frames("attention_64x32x4", test::attention_step({64, 32, 4}, 1)));

  platform::PlatformOptions machine;
  machine.preset = presets::load_preset("edge");
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(machine));
  nlohmann::json rows = nlohmann::json::array();
  for (const Stream& stream : streams) {
    graph::validate(stream.graph);
    const Passed sram = pass(device, stream, false), dram = pass(device, stream, true);
    int64_t compared = 0;
    const int64_t different = differing(sram.outputs, dram.outputs, compared);
    const auto frames = static_cast<double>(stream.frames.size());
    rows.push_back({{"network", stream.name},
                    {"frames", stream.frames.size()},
                    {"variables", sram.variables},
                    {"variables_spilled", sram.in_dram},
                    {"state_bytes", sram.state_bytes},
                    {"sram_cycles", static_cast<double>(sram.cycles) / frames},
                    {"dram_cycles", static_cast<double>(dram.cycles) / frames},
                    {"compared", compared},
                    {"differing", different}});
  }
  return rows;
}

// A machine with room for thousands of variables.
contract::Capabilities large_machine() {
  contract::Capabilities caps = presets::load_preset("edge").caps;
  caps.var_entries = 2048;
  caps.psram_bytes = 1U << 20;
  return caps;
}

// Microseconds of an invocation: the least of several batches.
double invocation_us(runtime::Job& job, runtime::MockHal& mock) {
  constexpr int kBatches = 15, kInvocations = 40;
  double best = 1e9;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kInvocations; ++i) {
      static_cast<void>(job.run());
      mock.clear_log();
    }
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() / kInvocations);
  }
  return best;
}

double overhead(int variables, bool use_all) {
  const contract::Capabilities caps = large_machine();
  auto hal = std::make_unique<runtime::MockHal>(caps);
  runtime::MockHal& mock = *hal;
  runtime::MockFirmware firmware(mock);
  runtime::DeviceOptions options;
  options.firmware = runtime::MockFirmware::image();
  runtime::Device device = runtime::Device::open(std::move(hal), options);
  runtime::Context context = device.create_context();
  constexpr int64_t kLength = 64;
  const runtime::LoadedProgram all = context.load(compiler::compile(test::accumulators(variables, kLength), caps));
  const graph::Graph one = test::accumulators(1, kLength);
  runtime::JobOptions job_options;
  job_options.poison = false;
  job_options.events = false;
  runtime::Job job = (use_all ? all : context.load(compiler::compile(one, caps))).create_job(job_options);
  std::mt19937 random(1);
  job.set_input(0, test::random_inputs(one, random).at(0));
  return invocation_us(job, mock);
}

nlohmann::json overheads() {
  nlohmann::json rows = nlohmann::json::array();
  for (const int variables : {1, 100, 1000}) {
    rows.push_back({{"variables", variables},
                    {"use_all_us", overhead(variables, true)},
                    {"use_one_us", overhead(variables, false)}});
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() % 2 == 1 && arguments[0] == "cycles") {
      std::cout << cycles({arguments.begin() + 1, arguments.end()}).dump() << '\n';
    } else if (arguments.size() == 1 && arguments[0] == "overhead") {
      std::cout << overheads().dump() << '\n';
    } else {
      std::cerr << "usage: state_bench cycles [NETWORK.tosa FRAMES.npy]... | state_bench overhead\n";
      return 64;
    }
  } catch (const Error& error) {
    std::cerr << "state_bench: " << error.what() << '\n';
    return error.exit_status();
  }
  return 0;
}
