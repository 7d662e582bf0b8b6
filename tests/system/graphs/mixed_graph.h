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

// Convolutions or matrix products of floating point in a row, of any format. To each one's results something is added
// that is as large: what it reads, another one's results, an input, or what the VPU makes. Some sums are clamped. One
// graph in eight is larger than a small scratchpad.
[[nodiscard]] graph::Graph residual_graph(uint32_t seed);

// Of all inputs, by invocation. Floating point: whole numbers, whose sums are exact, and others; of some inputs also
// infinities, NaNs, subnormal numbers, signed zeros and what is large.
[[nodiscard]] std::vector<std::vector<graph::Value>> mixed_inputs(const graph::Graph& graph, uint32_t seed,
                                                                  int invocations);

}  // namespace npu::test
