// SPDX-License-Identifier: Apache-2.0
// Times a network on the simulated device, edge, or server for floating point, in process:
//
//   system_bench NETWORK.tosa INPUT.npy MODE REPEATS [sequence] [bypass] [lockstep] [resident]
//
// Prints one JSON object: seconds for reading, compiling and loading, of every pass over the input, and the minimum
// over these REPEATS (with `sequence`, a pass is all rows of the input's first axis), with simulated cycles and MACs of
// a pass. With `lockstep`, MXU and VPU run as model and RTL; with `resident`, constants stay in the scratchpad. Unless
// the firmware is bypassed: what the way through it costs in a pass, and a round trip from doorbell to interrupt of a
// request that asks for nothing, in device cycles and host seconds.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/graph/analyse.h"
#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/cosim/back_ends.h"
#include "sim/platform/platform.h"

namespace {

// The smallest machine that computes with the network's types.
const char* machine_for(const npu::graph::Graph& network) {
  return npu::graph::has_floats(network) ? "server" : "edge";
}

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Options {
  std::string network, input, mode;
  int repeats = 1;
  bool sequence = false, bypass = false, lockstep = false, resident = false;
};

std::optional<Options> parse(int argc, char** argv) {
  if (argc < 5) return std::nullopt;
  Options options{argv[1], argv[2], argv[3], std::atoi(argv[4])};
  for (int i = 5; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "sequence") {
      options.sequence = true;
    } else if (flag == "bypass") {
      options.bypass = true;
    } else if (flag == "lockstep") {
      options.lockstep = true;
    } else if (flag == "resident") {
      options.resident = true;
    } else {
      return std::nullopt;
    }
  }
  if (options.repeats < 1 || (options.mode != "functional" && options.mode != "timed")) return std::nullopt;
  return options;
}

npu::runtime::Device open_device(const Options& options, const npu::presets::Preset& preset,
                                 npu::cosim::BackEnds& back_ends) {
  using namespace npu;
  platform::PlatformOptions machine;
  machine.preset = preset;
  if (options.lockstep) {
    for (const cosim::Unit unit : {cosim::Unit::kMxu, cosim::Unit::kVpu}) {
      back_ends.choose(unit, cosim::BackEnd::kLockstep);
    }
    machine.make_mxu = [&] { return back_ends.make(cosim::Unit::kMxu); };
    machine.make_vpu = [&] { return back_ends.make(cosim::Unit::kVpu); };
  }
  machine.mode = options.mode == "functional" ? model::Mode::kFunctional : model::Mode::kTimed;
  machine.control_cpu = !options.bypass;
  runtime::DeviceOptions driver;
  driver.bypass_firmware = options.bypass;
  return runtime::Device::open(platform::open_tlm_device(machine), driver);
}

std::vector<npu::graph::Value> read_inputs(const Options& options, const npu::graph::Graph& network) {
  using namespace npu;
  const graph::Block& block = network.main();
  const graph::Tensor& port = block.tensors[block.inputs.at(0)];
  const graph::NpyArray array = graph::read_npy(options.input);
  std::vector<graph::Value> inputs;
  for (int64_t i = 0; i < (options.sequence ? array.shape.at(0) : 1); ++i) {
    inputs.push_back(
        graph::to_value(options.sequence ? graph::slice_axis0(array, i) : array, port.type, &port.shape, true));
  }
  return inputs;
}

// One pass over the input.
struct Pass {
  uint64_t cycles = 0, device_cycles = 0, firmware_cycles = 0;
};

Pass run_pass(npu::runtime::Job& job, const std::vector<npu::graph::Value>& inputs) {
  Pass pass;
  for (const npu::graph::Value& input : inputs) {
    job.set_input(0, input);
    const npu::runtime::RunResult result = job.run();
    pass.cycles += result.cycles;
    pass.device_cycles += result.times.completed - result.times.submitted;
    pass.firmware_cycles += result.times.firmware_cycles;
  }
  return pass;
}

// Switching on what is on: the firmware takes the request and completes it.
void add_round_trip(npu::runtime::Device& device, int repeats, nlohmann::json& result) {
  constexpr int kRoundTrips = 200;
  double best = std::numeric_limits<double>::max();
  uint64_t cycles = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const uint64_t before = device.time();
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kRoundTrips; ++i) device.set_power(npu::contract::PowerState::kActive);
    best = std::min(best, since(start));
    cycles = device.time() - before;
  }
  result["round_trip_cycles"] = static_cast<double>(cycles) / kRoundTrips;
  result["round_trip_seconds"] = best / kRoundTrips;
}

int bench(int argc, char** argv) {
  using namespace npu;
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::cerr << "usage: system_bench NETWORK.tosa INPUT.npy functional|timed REPEATS [sequence] [bypass] "
                 "[lockstep] [resident]\n";
    return 64;
  }
  Clock::time_point start = Clock::now();
  const graph::Graph network = graph::read_tosa(options->network);
  graph::validate(network);
  const double read_seconds = since(start);

  start = Clock::now();
  const presets::Preset preset = presets::load_preset(machine_for(network));
  cosim::BackEnds back_ends(preset.caps);
  runtime::Device device = open_device(*options, preset, back_ends);
  const double open_seconds = since(start);

  start = Clock::now();
  compiler::Options compiling;
  compiling.schedule.resident_constants = options->resident;
  compiler::Program compiled = compiler::compile(network, device.capabilities(), compiling);
  const double compile_seconds = since(start);
  int64_t macs = 0;
  for (const compiler::Layer& layer : compiled.layers) macs += layer.macs;

  start = Clock::now();
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(std::move(compiled));
  const double load_seconds = since(start);

  const std::vector<graph::Value> inputs = read_inputs(*options, network);
  runtime::Job job = program.create_job();
  std::vector<double> seconds;
  Pass pass;
  for (int repeat = 0; repeat < options->repeats; ++repeat) {
    context.clear();
    start = Clock::now();
    pass = run_pass(job, inputs);
    seconds.push_back(since(start));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  nlohmann::json result = {{"machine", preset.name},
                           {"read_seconds", read_seconds},
                           {"open_seconds", open_seconds},
                           {"compile_seconds", compile_seconds},
                           {"load_seconds", load_seconds},
                           {"run_seconds", *std::min_element(seconds.begin(), seconds.end())},
                           {"pass_seconds", seconds},
                           {"invocations", inputs.size()},
                           {"cycles", pass.cycles},
                           {"macs", macs * static_cast<int64_t>(inputs.size())},
                           {"peak_bytes", usage.ru_maxrss * 1024}};
  if (options->lockstep) {
    result["elements_compared"] =
        back_ends.record(cosim::Unit::kMxu).elements + back_ends.record(cosim::Unit::kVpu).elements;
  }
  if (!options->bypass) {
    result["device_cycles"] = pass.device_cycles;
    result["firmware_cycles"] = pass.firmware_cycles;
    add_round_trip(device, options->repeats, result);
  }
  std::cout << result.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return bench(argc, argv);
  } catch (const npu::Error& error) {
    std::cerr << "system_bench: " << error.what() << "\n";
    return error.exit_status();
  }
}
