// SPDX-License-Identifier: Apache-2.0
// Networks whose zero points, shifts, tables and so on are known at run time only, as EXT-DYNAMIC allows.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"
#include "sim/cosim/random.h"

namespace npu::generator {

// Computes about `percent` of a hundred of the graph's operands that have to be constants without EXT-DYNAMIC, and of
// its biases, from a constant at run time; shapes stay. Their values are the same, so results are. Returns how many.
// No operator that keeps its operand's value has type INT4 or INT48: what has these types stays constant.
int64_t make_run_time_operands(graph::Graph& graph, cosim::Random& random, int percent);

}  // namespace npu::generator
