// SPDX-License-Identifier: Apache-2.0
// The smallest legal network of an operator with given types, to ask the reference and the compiler whether they take
// it.
#pragma once

#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/operators.h"
#include "driver/graph/value.h"

namespace npu::generator {

struct OperatorSample {
  graph::Graph graph;  // validated; every dimension is 1 where the operator leaves a choice
  std::vector<graph::Value> inputs;
};

// Of any operator; `row` is one of its type table, null when that is empty. Weights, biases and what has to be constant
// are constants, everything else is an input. An operator that computes shapes is a constant in the form that runs. A
// CUSTOM operator takes and gives one INT32 and is "copy" of "sample".
[[nodiscard]] OperatorSample sample_of(const graph::OperatorInfo& entry, const graph::TypeRow* row);

}  // namespace npu::generator
