// SPDX-License-Identifier: Apache-2.0
// What follows from the change of a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::fuzz {

// Makes constants as long as their shapes say, up to some kilobytes, and gives results the shapes that their operators
// give them, as far as the graph is legal.
void adapt(graph::Graph& graph);

// Gives a tensor of the graph constant data.
void set_data(graph::Graph& graph, graph::Tensor& tensor, std::vector<uint8_t> bytes);

}  // namespace npu::fuzz
