// SPDX-License-Identifier: Apache-2.0
// Graphs on a device, against the reference.
#pragma once

#include <cstdint>
#include <random>

#include "driver/graph/graph.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"

namespace npu::test {

// A device of this machine whose timing changes at random, so that a missing order shows as a fault.
[[nodiscard]] runtime::Device open_graph_device(const presets::Preset& machine);

// Compiles the graph for the device and runs it twice with random inputs; adds the elements compared. False where the
// reference calls it unpredictable.
[[nodiscard]] bool equals_reference(const graph::Graph& graph, runtime::Device& device, std::mt19937& random,
                                    int64_t& compared, const runtime::ContextOptions& options = {});

}  // namespace npu::test
