// SPDX-License-Identifier: Apache-2.0
// The sizes of a graph whose file leaves some open, as expressions of those.
#pragma once

#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/level.h"
#include "driver/graph/open_sizes.h"
#include "driver/graph/resolve.h"

namespace npu::graph {

// Why sizes of an operator's results, or a condition of it, have no expression.
struct NoExpression {
  OperatorPlace place;
  std::string why;
};

struct Inference {
  OpenSizes open;
  // By region and tensor: of a shape, how many sizes it has.
  std::vector<std::vector<Dims>> sizes;
  std::vector<NoExpression> without_expression;
};

// For every size of every tensor a number or an expression; what is equal to what; and what else must hold. With
// Level::kNone, resolve() takes sizes if and only if they fulfil that, but for what `without_expression` names and for
// inputs that are too large by themselves; with Level::k8K, that level's bounds must hold, too. A symbol is a size that
// the file leaves open of an input or variable, `x.0`; or one that no rule gives, of the result of an operator that
// `without_expression` names, or of a RESHAPE that leaves several open. `given` has sizes of inputs and variables,
// which fit them. `graph` has passed validate() with Sizes::kMayBeUnknown. Throws Error(size_mismatch) naming operator
// and sizes where no sizes fit, Error(require_failed) where none are within the level, budget_exceeded, and what
// validate() throws for an operator whose arguments are wrong whatever the sizes are.
[[nodiscard]] Inference infer(const Graph& graph, const GivenShapes& given = {}, Level level = Level::kNone);

// Shapes of the inputs whose sizes the file leaves open, with those that the operators' rules decide; the others stay
// -1, all of them where that takes too many steps. `graph` as above. Throws what infer() throws, but budget_exceeded.
[[nodiscard]] GivenShapes decided_inputs(const Graph& graph);
[[nodiscard]] bool leave_open(const GivenShapes& shapes);  // a size is -1

}  // namespace npu::graph
