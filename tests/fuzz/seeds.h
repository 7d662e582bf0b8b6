// SPDX-License-Identifier: Apache-2.0
// The files that fuzzing starts from.
#pragma once

#include <string>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::fuzz {

struct Seed {
  std::string name;
  graph::Graph graph;
};

// A legal graph for every row of the type table of every operator, one for each operator without such a table, and a
// few of several operators: a network with variables, nested control flow, operands of EXT-DYNAMIC.
[[nodiscard]] std::vector<Seed> make_seeds();

}  // namespace npu::fuzz
