// SPDX-License-Identifier: Apache-2.0
// Several streaming networks on one device, in contexts of their own or in one that they share.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/value.h"
#include "driver/runtime/runtime.h"
#include "sim/cli/stream_networks.h"
#include "sim/cli/stream_schedule.h"
#include "sim/tool/progress.h"

namespace npu::cli {

using Outputs = std::vector<std::vector<graph::Value>>;  // [frame][output]

// What the frames of one stream gave and took.
struct StreamResult {
  Outputs outputs;             // none unless they were to be kept
  uint64_t cycles = 0;         // of all of its frames, and of loading constants that stay
  uint64_t loads = 0;          // how often these were loaded
  uint64_t interruptions = 0;  // how often more urgent jobs interrupted its jobs
};

// Runs a schedule in new contexts, which `contexts` describes. Streams of other contexts are left out, with no outputs.
// Throws what running a job throws.
[[nodiscard]] std::vector<StreamResult> run_schedule(runtime::Device& device, const std::vector<Stream>& streams,
                                                     const std::vector<runtime::ContextOptions>& contexts,
                                                     const Schedule& schedule, bool keep_outputs,
                                                     tool::Progress& progress);

}  // namespace npu::cli
