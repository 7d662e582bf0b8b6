// SPDX-License-Identifier: Apache-2.0
// What a device can run of a graph, operator by operator, before anything is compiled.
#pragma once

#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

struct SupportRow {
  size_t index = 0;  // operator's position in the block that runs first
  std::string name;  // "CONV2D"
  std::string type;  // of its first operand and result: "INT8 -> INT32"
  bool ok = true;
  std::string engine;   // "mxu", "vpu", "dma"; "sequencer" is control flow, "view" moves nothing, "folded" is computed
                        // at compile time, "unused" never runs
  std::string reason;   // why not; empty when ok
  std::string way_out;  // what to do about it; empty when ok
};

// One row for each operator but constants. The graph must be valid.
[[nodiscard]] std::vector<SupportRow> support(const graph::Graph& graph, const contract::Capabilities& capabilities);

}  // namespace npu::compiler
