// SPDX-License-Identifier: Apache-2.0
// Several streaming networks on one device, each in a context of its own or all in one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/graph/value.h"
#include "driver/runtime/runtime.h"
#include "sim/tool/progress.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"

namespace npu::cli {

// A network and its frames.
struct Stream {
  std::string name;  // the network's file name without its extension; no two streams have the same
  workload::Network network;
  workload::InputData frames;
  compiler::Program program;
};

using Outputs = std::vector<std::vector<graph::Value>>;  // [frame][output]

// Jobs that were in flight together.
struct Round {
  std::vector<size_t> streams;  // in the order in which they were started
  bool power_down = false;      // afterwards engines slept and the persistent SRAM went into retention
};

struct InterleavedOptions {
  bool retention = false;           // power the device down between rounds, half of the time
  bool keep_outputs = false;        // else they are none
  bool share = false;               // one context for all, whose streams get a frame each in every round, in order
  runtime::ContextOptions context;  // of every stream
};

struct Interleaved {
  std::vector<Outputs> outputs;  // by stream
  std::vector<uint64_t> cycles;  // by stream, of all of its frames
  std::vector<Round> rounds;
  uint64_t power_downs = 0;
};

// All frames of one stream, one after the other, in a new context that has the device to itself. Throws what running a
// job throws.
[[nodiscard]] Outputs run_alone(runtime::Device& device, const Stream& stream, const runtime::ContextOptions& context,
                                tool::Progress& progress);

// All frames of all streams. In each round a random choice of the streams that have frames left, in random order, gets
// its next frame, and their jobs are in flight together; in one context they run in the order of their start. What is
// random follows from the seed alone.
[[nodiscard]] Interleaved run_interleaved(runtime::Device& device, const std::vector<Stream>& streams, uint64_t seed,
                                          const InterleavedOptions& options, tool::Progress& progress);

}  // namespace npu::cli
