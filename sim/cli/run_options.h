// SPDX-License-Identifier: Apache-2.0
// The command line of `npu run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/runtime/runtime.h"
#include "sim/cli/back_end_options.h"
#include "sim/cli/command.h"
#include "sim/cli/data_options.h"
#include "sim/cli/machine_options.h"
#include "sim/platform/faults.h"

namespace npu::cli {

// Which bit of the program's constants to flip.
struct Injection {
  uint64_t offset = 0;
  uint32_t bit = 0;
};

struct RunOptions {
  DataOptions data;
  MachineOptions machine;
  bool machine_given = false;               // --config: a compiled program holds its machine
  std::string file;                         // a network, or a program that npu compile left
  std::string graph;                        // network of a compiled program; empty: none
  std::string json, csv, trace;             // files; empty: none
  std::optional<uint64_t> random_inputs;    // seed of the inputs without a file; nullopt: each has one
  std::optional<uint32_t> most_iterations;  // of each loop
  std::vector<compiler::SizeBounds> dims;   // of a program for sizes within bounds; empty: none
  std::optional<uint64_t> specialise;       // bytes of the programs of a sequence that changes size
  bool check = false;
  bool roofline = false;
  std::string firmware;  // image; empty: the built-in one
  bool state_in_dram = false, double_buffer = false, resident_constants = false, promote = false;
  bool firmware_log = false, bypass_firmware = false;
  uint16_t gdb_port = 0;                                // 0: no debugger, 1: any free port
  std::optional<std::pair<uint64_t, uint32_t>> jitter;  // seed, most cycles
  std::vector<Injection> injections;
  std::vector<platform::FaultClause> faults;
  BackEndOptions back_ends;
};

// nullopt after printing the help. Checks that what is to be written can be, and that no file is read and written or
// written twice, as far as that is known before the network is. Throws Error(kBadOption, kCannotWrite).
[[nodiscard]] std::optional<RunOptions> parse_run_options(const Arguments& arguments);

}  // namespace npu::cli
