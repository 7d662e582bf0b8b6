// SPDX-License-Identifier: Apache-2.0
// A graph in its open form, where every operator's results are outputs, and each operator as a graph of its own. So an
// operator can be judged by what the device itself gave it: no difference adds up, and none decides a comparison.
#pragma once

#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"

namespace npu::test {

// With all results of the main block's operators as outputs, but constants.
[[nodiscard]] graph::Graph open_form(const graph::Graph& graph);

// The tensors of the main block, by number, in a run of the open form: inputs, constants and results. Empty: variables
// and shapes.
using Values = std::vector<graph::Value>;
[[nodiscard]] Values values_of(const graph::Graph& open, const std::vector<graph::Value>& inputs,
                               const std::vector<graph::Value>& outputs);

// The operator alone, with the blocks that it names. Its operands are inputs, each once, in their order, constants too;
// shapes stay. The bytes of constants belong to `graph`.
[[nodiscard]] graph::Graph alone(const graph::Graph& graph, const graph::Operator& op);
// Those of its operands that are inputs then, in their order.
[[nodiscard]] std::vector<graph::TensorId> operands_of(const graph::Graph& graph, const graph::Operator& op);

}  // namespace npu::test
