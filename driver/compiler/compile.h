// SPDX-License-Identifier: Apache-2.0
// The compiler: a TOSA graph becomes a program for one device.
#pragma once

#include "driver/compiler/program.h"
#include "driver/compiler/schedule.h"
#include "driver/graph/graph.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

struct Options {
  ScheduleOptions schedule;
};

// The graph must be valid (graph/validate.h). Throws Error: what lower() and schedule() throw.
[[nodiscard]] Program compile(const graph::Graph& graph, const contract::Capabilities& capabilities,
                              const Options& options = {});

}  // namespace npu::compiler
