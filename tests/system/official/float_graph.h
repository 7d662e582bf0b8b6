// SPDX-License-Identifier: Apache-2.0
// Random graphs of floating-point operators whose results can be compared between implementations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::test {

// How far an output may be off: at most `factor` times the element of the output `bound`, which is the same sum over
// magnitudes, or the output itself. Without `bound` the output has to be equal.
struct Tolerance {
  std::string output, bound;
  double factor = 0;
};

struct FloatGraph {
  graph::Graph graph;
  std::vector<Tolerance> tolerances;  // one for each output, in their order
};

// Only operators whose results the specification determines exactly lead to further ones, so that both sides compute
// with equal numbers; sums and functions end in an output. The same graph for the same seed.
[[nodiscard]] FloatGraph float_graph(uint32_t seed);

}  // namespace npu::test
