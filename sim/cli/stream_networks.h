// SPDX-License-Identifier: Apache-2.0
// The networks of `npu stream`, loaded and compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/capabilities.h"
#include "sim/cli/stream_options.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"

namespace npu::cli {

// A network and its frames.
struct Stream {
  std::string name;  // the network's file name without its extension; no two streams have the same
  workload::Network network;
  workload::InputData frames;
  size_t context = 0;     // index in StreamOptions::contexts
  int64_t per_round = 1;  // frames that it gets in a round of its context
  compiler::Program program;
};

// In the order of the command line; the first networks have the first choice of the persistent SRAM. Throws Error, with
// the network's path in front: what loading, reading frames and compiling throw; kVariableMismatch naming the networks
// of a context that declare a variable otherwise, with both types, before anything is compiled.
[[nodiscard]] std::vector<Stream> load_streams(const StreamOptions& options, const contract::Capabilities& caps);

}  // namespace npu::cli
