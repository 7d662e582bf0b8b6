// SPDX-License-Identifier: Apache-2.0
// Changes of graphs that leave many of them legal, so that fuzzing reaches the code behind the reader.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"

namespace npu::fuzz {

// Changes one to four things of a graph that parse_tosa() gave: shapes, types, data, attributes, operands, operators,
// interfaces, regions. In most cases what follows from the change is adapted (shapes of results, lengths of constants),
// in the others it is left contradicting. The same seed makes the same changes.
void mutate(graph::Graph& graph, uint64_t seed);

}  // namespace npu::fuzz
