// Times a network on the simulated device, in process: system_bench NETWORK.tosa INPUT.npy MODE REPEATS [sequence]
//
// Prints one JSON object: seconds for reading, compiling and loading, and for one pass over the input the minimum over
// REPEATS (with `sequence`, a pass is all rows of the input's first axis), with simulated cycles and MACs of a pass.
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "driver/compiler/compile.h"
#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/platform/platform.h"

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int bench(int argc, char** argv) {
  using namespace npu;
  if (argc < 5) {
    std::cerr << "usage: system_bench NETWORK.tosa INPUT.npy functional|timed REPEATS [sequence]\n";
    return 64;
  }
  const std::string mode = argv[3];
  const int repeats = std::atoi(argv[4]);
  const bool sequence = argc > 5 && std::string(argv[5]) == "sequence";

  Clock::time_point start = Clock::now();
  const graph::Graph network = graph::read_tosa(argv[1]);
  graph::validate(network);
  const double read_seconds = since(start);

  platform::PlatformOptions options;
  options.preset = presets::load_preset("edge");
  options.mode = mode == "functional" ? model::Mode::kFunctional : model::Mode::kTimed;
  start = Clock::now();
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(options));
  const double open_seconds = since(start);

  start = Clock::now();
  compiler::Program compiled = compiler::compile(network, device.capabilities());
  const double compile_seconds = since(start);
  int64_t macs = 0;
  for (const compiler::Layer& layer : compiled.layers) macs += layer.macs;

  start = Clock::now();
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(std::move(compiled));
  const double load_seconds = since(start);

  const graph::Block& block = network.main();
  const graph::Tensor& port = block.tensors[block.inputs.at(0)];
  const graph::NpyArray array = graph::read_npy(argv[2]);
  std::vector<graph::Value> inputs;
  for (int64_t i = 0; i < (sequence ? array.shape.at(0) : 1); ++i) {
    inputs.push_back(graph::to_value(sequence ? graph::slice_axis0(array, i) : array, port.type, &port.shape, true));
  }

  runtime::Job job = program.create_job();
  double best = std::numeric_limits<double>::max();
  uint64_t cycles = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    context.clear();
    cycles = 0;
    start = Clock::now();
    for (const graph::Value& input : inputs) {
      job.set_input(0, input);
      cycles += job.run().cycles;
    }
    best = std::min(best, since(start));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << nlohmann::json{{"read_seconds", read_seconds},
                              {"open_seconds", open_seconds},
                              {"compile_seconds", compile_seconds},
                              {"load_seconds", load_seconds},
                              {"run_seconds", best},
                              {"invocations", inputs.size()},
                              {"cycles", cycles},
                              {"macs", macs * static_cast<int64_t>(inputs.size())},
                              {"peak_bytes", usage.ru_maxrss * 1024}}
                   .dump()
            << "\n";
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
