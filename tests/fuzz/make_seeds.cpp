// SPDX-License-Identifier: Apache-2.0
// make_seeds tosa|program FOLDER: writes the corpus that fuzzing starts from, one file for each seed.
#include <filesystem>
#include <iostream>
#include <string>

#include "driver/graph/file.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/fuzz/program_judge.h"
#include "tests/fuzz/seeds.h"

namespace {

size_t write_networks(const std::filesystem::path& folder) {
  const auto seeds = npu::fuzz::make_seeds();
  for (const auto& seed : seeds) npu::graph::write_tosa(folder / (seed.name + ".tosa"), seed.graph);
  return seeds.size();
}

size_t write_programs(const std::filesystem::path& folder) {
  const auto seeds = npu::fuzz::program_seeds();
  for (const auto& seed : seeds) {
    npu::graph::write_file(folder / (seed.network + ".npu"), npu::program_file::serialise(seed));
  }
  return seeds.size();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 3 ? argv[1] : "";
  if (kind != "tosa" && kind != "program") {
    std::cerr << "usage: make_seeds tosa|program FOLDER\n";
    return 64;
  }
  try {
    const std::filesystem::path folder = argv[2];
    std::filesystem::create_directories(folder);
    std::cout << (kind == "tosa" ? write_networks(folder) : write_programs(folder)) << " seeds\n";
    return 0;
  } catch (const npu::Error& error) {
    std::cerr << "make_seeds: " << error.what() << "\n";
    return error.exit_status();
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << "make_seeds: " << error.what() << "\n";
    return 66;
  }
}
