// SPDX-License-Identifier: Apache-2.0
// Small graphs that the tests of this folder share.
#pragma once

#include <string>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/graph.h"

namespace npu::graph::samples {

// A legal graph whose subject is one operator: its last one but for VARIABLE, with integer types where it has them.
[[nodiscard]] Graph of(Op op);
// All operators of the table that run, and all that compute shapes, without kUnknown.
[[nodiscard]] std::vector<Op> all_operators();
[[nodiscard]] std::vector<Op> shape_operators();
// An operator that computes shapes; its result, or the first operand of ASSERT_EQUAL_SHAPE.
TensorId on_shapes(GraphBuilder& builder, Op op, const std::vector<TensorId>& operands,
                   const Attributes& attributes = {});

// A streaming network of a dozen operators with two variables: convolutions, RESCALE, CLAMP, pooling, TABLE, layout.
[[nodiscard]] Graph network();

// WHILE_LOOP whose body holds a COND_IF.
[[nodiscard]] Graph nested_control_flow();

// The first operator of that kind in the main block.
[[nodiscard]] Operator& find(Graph& graph, Op op);
[[nodiscard]] Tensor& input(Graph& graph, Op op, size_t i);
[[nodiscard]] Tensor& output(Graph& graph, Op op, size_t i);
// Gives a constant another value.
void set_constant(Graph& graph, Tensor& tensor, const std::vector<double>& values);

// Whether two graphs are the same: names, types, data, operators, attributes; not the order of tensors.
// Empty, or the first difference in words.
[[nodiscard]] std::string difference(const Graph& a, const Graph& b);

}  // namespace npu::graph::samples
