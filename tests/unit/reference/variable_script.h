// SPDX-License-Identifier: Apache-2.0
// Graphs on one persistent variable from a line of text, for tables of tests.
//   D    VARIABLE                     W5   write 5 into every element
//   R    read; a result of the graph  I    write what a read gives plus 1
//   r    read as another shape        X    an operator that fails (INTDIV by 0)
//   ?(then|else)  COND_IF on the graph's input; its result: what the branch read last, or 0
//   *3(body)      WHILE_LOOP of 3 iterations; its result: their number
#pragma once

#include <optional>
#include <string>

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {

struct Script {
  std::string text;
  DType type = DType::kInt32;
  Shape shape = {1};
  std::optional<int> initial = std::nullopt;
  bool initial_in_main = true;  // else only the regions' tensors have the initial value
  std::string identity = "state";
};

// The graph has one input, BOOL [1].
[[nodiscard]] graph::Graph graph_of(const Script& script);

}  // namespace npu::reference::test
