// SPDX-License-Identifier: Apache-2.0
// Checks of one operator against the table. Private to this folder.
#pragma once

#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/operators.h"

namespace npu::graph {

// Number and kinds of operands, lengths and values of attributes, types and ranks; then the operator's rule. Results:
// the shapes that the outputs must have. Outputs must exist with their types; their shapes are not looked at. Throws
// Error: bad_argument, bad_type, bad_shape and what the rule throws.
[[nodiscard]] std::vector<Shape> check_operator(const OperatorView& view);
// The same with sizes that stay open. Throws NotExpressible, too.
[[nodiscard]] std::vector<Dims> check_open_operator(const OperatorView& view);

// Whether a rule that an operator of open sizes breaks is a matter of these sizes, not of the graph: `open_shape` of
// one with a shape that was computed from them.
[[nodiscard]] bool is_of_sizes(contract::ErrorCode code, Op op, bool open_shape);

// As far as that needs no sizes: all but the rule, and kinds and ranks of the results. For an operator that has a
// tensor of unknown size.
void check_without_sizes(const OperatorView& view);

// Kinds and ranks of the results, and that their shapes are `shapes`. Throws Error: bad_argument, bad_shape.
void check_results(const OperatorView& view, const std::vector<Shape>& shapes);

// The row of the type table that an operator uses; null when its table is empty. Throws Error(bad_type) when none fits.
[[nodiscard]] const TypeRow* match_types(const OperatorView& view);

// The operand that input or output `i` of the operator is; a list stands for all that follow.
[[nodiscard]] const Operand& operand_of(std::span<const Operand> operands, size_t i);

}  // namespace npu::graph
