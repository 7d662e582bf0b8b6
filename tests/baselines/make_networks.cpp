// SPDX-License-Identifier: Apache-2.0
// Writes the sample networks into the folder given on the command line, for the baselines.
#include <cstdio>
#include <filesystem>

#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "sim/generator/sample_networks.h"

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    for (const npu::generator::SampleNetwork& network : npu::generator::sample_networks()) {
      npu::graph::write_tosa(folder / (network.name + ".tosa"), network.graph);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_networks: %s\n", error.what());
    return 1;
  }
  return 0;
}
