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

// Of all networks of a run together, in the order that is kept.
inline constexpr int64_t kMostFrames = 4'000'000;

// A network, the files with its frames and when it gets them, as given.
struct StreamArgument {
  std::string network;
  std::vector<std::string> inputs;     // [NAME=]FILE.npy
  size_t context = 0;                  // index in StreamOptions::contexts
  std::optional<int64_t> invocations;  // the first so many frames; nullopt: all. A network without inputs has it
  int64_t per_round = 1;               // frames that it gets in a round of its context
};

// Networks of one context share variables.
struct ContextArgument {
  std::string name;       // of --context; empty: of one network alone
  uint32_t priority = 0;  // runtime::ContextOptions::priority
};

struct StreamOptions {
  std::vector<StreamArgument> streams;
  std::vector<ContextArgument> contexts;  // in the order of their first network; each has one
  MachineOptions machine;
  std::string check, outputs, json;
  uint64_t seed = 1;
  bool retention = false, state_in_dram = false, double_buffer = false, quiet = false;
  bool resident_constants = true;
  BackEndOptions back_ends;
  tool::FilePlaces places;  // of networks, frames and --json
};

// nullopt after printing the help. Checks that what is to be written can be, and that no file is read and written.
// Throws Error(kBadOption, kCannotWrite; kContextsFull for more contexts than a device serves).
[[nodiscard]] std::optional<StreamOptions> parse_stream_options(const Arguments& arguments);

}  // namespace npu::cli
