// SPDX-License-Identifier: Apache-2.0
// The compiler: a TOSA graph becomes a program for one device.
#pragma once

#include "driver/compiler/program.h"
#include "driver/compiler/room.h"
#include "driver/compiler/schedule.h"
#include "driver/graph/graph.h"
#include "driver/graph/level.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

struct Options {
  ScheduleOptions schedule;
  // The device has a control CPU, with whose firmware the driver shares DRAM (runtime::Device::has_firmware).
  bool firmware = true;
  // A loop of a WHILE_LOOP that takes more iterations is a fault of the job: loop_limit. Of a loop in a loop, each time
  // that it is reached.
  uint32_t most_iterations = graph::kMostIterations;
  // Products of floating-point formats that the MXU lacks are computed in FP32 (promote.h).
  bool promote_to_fp32 = false;
};

// The graph must be valid (graph/validate.h). Throws Error: what lower() and schedule() throw; what require_room()
// throws where a device that holds nothing else has no room for the program. `explanation`, if any, is filled.
[[nodiscard]] Program compile(const graph::Graph& graph, const contract::Capabilities& capabilities,
                              const Options& options = {}, Explanation* explanation = nullptr);

// The same, but checks the scratchpad only; throws NoRoom for it.
[[nodiscard]] Program compile_unchecked(const graph::Graph& graph, const contract::Capabilities& capabilities,
                                        const Options& options = {}, Explanation* explanation = nullptr);

}  // namespace npu::compiler
