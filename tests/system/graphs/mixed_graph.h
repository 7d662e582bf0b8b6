// SPDX-License-Identifier: Apache-2.0
// Random graphs of integers and floating point, and random data for them.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"

namespace npu::test {

// Dimensions are small, but for one graph in ten.
[[nodiscard]] graph::Graph mixed_graph(uint32_t seed);

// Of all inputs, by invocation. Floating point: whole numbers, whose sums are exact, and others; of some inputs also
// infinities, NaNs, subnormal numbers, signed zeros and what is large.
[[nodiscard]] std::vector<std::vector<graph::Value>> mixed_inputs(const graph::Graph& graph, uint32_t seed,
                                                                  int invocations);

}  // namespace npu::test
