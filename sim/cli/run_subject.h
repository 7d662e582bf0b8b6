// SPDX-License-Identifier: Apache-2.0
// What `npu run` runs, and on which machine: a network that it compiles, or a program that `npu compile` left.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/compiler/promote.h"
#include "driver/program_file/program_file.h"
#include "driver/runtime/snapshot.h"
#include "hw/presets/preset.h"
#include "sim/cli/run_options.h"
#include "sim/workload/network.h"

namespace npu::cli {

// Where --resident-constants was asked for, and the compiler decided otherwise.
inline constexpr std::string_view kConstantsDoNotStay =
    "do not stay in the scratchpad: they leave too little room there, or loading them each time is faster";

struct RunSubject {
  std::filesystem::path file;              // as it was given
  std::filesystem::path network_file;      // of a compiled program: as it was called when it was compiled
  std::optional<workload::Network> graph;  // nullopt: a compiled program without --graph
  std::optional<program_file::ProgramFile> compiled;
  // Of a program for sizes within bounds of which one choice of sizes is left: as it declares them for all.
  std::vector<compiler::Variable> open_variables;
  std::vector<workload::GraphPort> inputs, outputs;  // with -1 for sizes that a compiled program leaves open
  presets::Preset preset;
  bool state_in_dram = false, double_buffer = false, resident_constants = false, promote = false;
  uint32_t most_iterations = graph::kMostIterations;  // of each loop

  // Of the network's file, as `sha256sum` prints it.
  [[nodiscard]] std::string network_sha256() const;
  // Compiled for sizes within bounds, and run in a sequence whose sizes change: else one choice of them is left.
  [[nodiscard]] bool is_sized() const { return compiled && compiled->is_sized(); }
  // What --promote changes of it.
  [[nodiscard]] std::vector<compiler::Promotion> promotions() const;
  // Of compiling it.
  [[nodiscard]] compiler::Options compiler_options(bool firmware) const;
  // Those for all sizes within bounds: of the file, or of compiling it for a device by --dim.
  [[nodiscard]] std::vector<compiler::Program> bounded_programs(const RunOptions& options,
                                                                const contract::Capabilities& device) const;
  // Of compiling it for a device, or what the file has, for the sizes of the inputs.
  [[nodiscard]] compiler::Program program(const RunOptions& options, const contract::Capabilities& device) const;
  // What --resume starts with. Throws Error: bad_snapshot for one that the graph, if it is known, does not fit;
  // variable_mismatch for one of another size than the data.
  [[nodiscard]] runtime::Snapshot start(const std::string& resume) const;
};

// Reads the file, whichever it is, the machine, and the graph of --graph. Throws Error: what reading them throws;
// bad_option for options that only compiling can follow, or that need the graph, beside a compiled program, and
// for --graph beside a network or with another one than was compiled; contract_mismatch for a program of another
// machine than --config names; what check_network() throws; of a program for sizes within bounds that runs with one
// choice of them, what specialise::fixed_program() throws for the sizes of the data.
[[nodiscard]] RunSubject load_subject(const RunOptions& options);

}  // namespace npu::cli
