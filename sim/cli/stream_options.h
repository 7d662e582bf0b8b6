// SPDX-License-Identifier: Apache-2.0
// The command line of `npu stream`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/back_end_options.h"
#include "sim/cli/command.h"
#include "sim/cli/machine_options.h"
#include "sim/tool/file_places.h"

namespace npu::cli {

// A network and the files with its frames, as given.
struct StreamArgument {
  std::string network;
  std::vector<std::string> inputs;  // [NAME=]FILE.npy
};

struct StreamOptions {
  std::vector<StreamArgument> streams;
  MachineOptions machine;
  std::string check, outputs, json;
  uint64_t seed = 1;
  bool retention = false, state_in_dram = false, double_buffer = false, quiet = false;
  bool share = false;  // all networks in one context
  BackEndOptions back_ends;
  tool::FilePlaces places;  // of networks, frames and --json
};

// nullopt after printing the help. Checks that what is to be written can be, and that no file is read and written.
// Throws Error(kBadOption, kCannotWrite; kContextsFull for more networks than a device serves).
[[nodiscard]] std::optional<StreamOptions> parse_stream_options(const Arguments& arguments);

}  // namespace npu::cli
