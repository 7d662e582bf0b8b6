// SPDX-License-Identifier: Apache-2.0
// Graphs on a device, against the reference.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "driver/graph/graph.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"

namespace npu::test {

// A device of this machine whose timing changes at random, so that a missing order shows as a fault.
[[nodiscard]] runtime::Device open_graph_device(const presets::Preset& machine);

// nano with the floating point of server.
[[nodiscard]] presets::Preset small_float_machine();

// What came of a graph on the device.
struct Trial {
  bool predictable = true;  // the reference gives results
  int64_t compared = 0;     // elements
  std::string difference;   // of the first output that has one; empty: none
};
// Compiles the graph for the device and runs it twice, reference and device, with random inputs. Throws Error: what
// compiling and running throw.
[[nodiscard]] Trial try_graph(const graph::Graph& graph, runtime::Device& device, std::mt19937& random,
                              const runtime::ContextOptions& options = {});
// Expects no difference; adds the elements compared. False where the reference calls the graph unpredictable.
[[nodiscard]] bool equals_reference(const graph::Graph& graph, runtime::Device& device, std::mt19937& random,
                                    int64_t& compared, const runtime::ContextOptions& options = {});

// A number that an environment variable sets, such as that of graphs to try.
[[nodiscard]] uint32_t number_from(const char* variable, uint32_t usual);

}  // namespace npu::test
