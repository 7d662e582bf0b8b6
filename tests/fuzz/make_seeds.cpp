// SPDX-License-Identifier: Apache-2.0
// make_seeds FOLDER: writes the corpus that fuzzing starts from, one .tosa file for each seed.
#include <filesystem>
#include <iostream>

#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/fuzz/seeds.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_seeds FOLDER\n";
    return 64;
  }
  try {
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    const auto seeds = npu::fuzz::make_seeds();
    for (const auto& seed : seeds) {
      npu::graph::write_tosa(folder / (seed.name + ".tosa"), seed.graph);
    }
    std::cout << seeds.size() << " seeds\n";
    return 0;
  } catch (const npu::Error& error) {
    std::cerr << "make_seeds: " << error.what() << "\n";
    return error.exit_status();
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << "make_seeds: " << error.what() << "\n";
    return 66;
  }
}
