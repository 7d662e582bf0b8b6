// SPDX-License-Identifier: Apache-2.0
// Random COND_IF and WHILE_LOOP that nest, with variables that branches and loops read and write.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/graph.h"
#include "sim/generator/random_network.h"

namespace npu::generator {

// How large a graph of random_control() is.
struct ControlSize {
  graph::Shape shape = {1, 6};  // of its values and variables
  int operators = 6;            // that are drawn for the main block; each becomes one to some ten, or a whole construct
  int64_t least_results = 0;    // of a COND_IF: one without results changes variables, or nothing
  // Blocks declare variables, too, wherever they are: an execution may end with variable_undeclared,
  // variable_redeclared or variable_unwritten. Outputs are then only those variables that the main block itself
  // declares or writes.
  bool declares_anywhere = false;
};

// The same graph for the same arguments. Inputs, outputs and variables are INT8, INT16 or INT32; results are defined
// for any data. Branches and loops lie in each other up to four deep; loops take at most 4 iterations, and often none.
// What variables hold at the end is among the outputs.
[[nodiscard]] graph::Graph random_control(uint64_t seed, const ControlSize& size = {});

// One construct of an input that decides, for a network of many operators; blocks are smaller than those of
// random_control(), and have one variable, or none. The results.
[[nodiscard]] std::vector<graph::TensorId> random_cond_if(RandomNetwork& net);
// Counts an input of up to five down to 0.
[[nodiscard]] std::vector<graph::TensorId> random_while_loop(RandomNetwork& net);

}  // namespace npu::generator
