// SPDX-License-Identifier: Apache-2.0
// Times a network on the software reference, in process:
//
//   reference_bench NETWORK.tosa INPUT.npy OUTPUT.npy REPEATS
//
// Writes the first output and prints one JSON object: seconds for reading and checking the file, and for each of the
// REPEATS runs.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "sim/reference/reference.h"

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int bench(int argc, char** argv) {
  using namespace npu;
  const int repeats = argc == 5 ? std::atoi(argv[4]) : 0;
  if (repeats < 1) {
    std::cerr << "usage: reference_bench NETWORK.tosa INPUT.npy OUTPUT.npy REPEATS\n";
    return 64;
  }
  Clock::time_point start = Clock::now();
  const graph::Graph network = graph::read_tosa(argv[1]);
  graph::validate(network);
  const double load_seconds = since(start);

  const graph::Block& block = network.main();
  const graph::Tensor& port = block.tensors[block.inputs.at(0)];
  const std::vector<graph::Value> inputs = {graph::to_value(graph::read_npy(argv[2]), port.type, &port.shape, true)};
  std::vector<graph::Value> outputs;
  std::vector<double> run_seconds;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    reference::Context context;
    start = Clock::now();
    outputs = reference::run(network, inputs, context);
    run_seconds.push_back(since(start));
  }
  graph::write_npy(argv[3], graph::to_npy(outputs.at(0)));
  const nlohmann::json result = {{"load_seconds", load_seconds}, {"run_seconds", run_seconds}};
  std::cout << result.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return bench(argc, argv);
  } catch (const npu::Error& error) {
    std::cerr << "reference_bench: " << error.what() << "\n";
    return error.exit_status();
  }
}
