// SPDX-License-Identifier: Apache-2.0
// What a validated graph needs and costs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/operators.h"

namespace npu::graph {

struct Needs {
  std::set<std::string> profiles;    // "PRO-INT", "PRO-FP"
  std::set<std::string> extensions;  // "EXT-DOUBLEROUND", ...; "PROPOSAL-VARIABLE" is not of the specification
  std::string level;                 // the smallest level that allows its sizes: "8K" or "none"
  std::vector<std::string> notes;    // in words: what goes beyond the specification or the level, and where
};

// Profiles and extensions that allow every operator with its types, and the level. Where several profiles allow the
// same, one that is needed anyway is taken, else PRO-INT. The graph must be validated.
[[nodiscard]] Needs analyse(const Graph& graph);

// The row of the type table that an operator of a validated graph uses; null when its table is empty.
[[nodiscard]] const TypeRow* type_row(const Graph& graph, const Block& block, const Operator& op);

// Multiplications of an operator: CONV2D, CONV3D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D and MATMUL count every product of
// their result, padding included but not the zeros that TRANSPOSE_CONV2D inserts; all others 0. The operator must be
// valid.
[[nodiscard]] int64_t macs(const Block& block, const Operator& op);
// Sum over the graph; bodies of control flow count once.
[[nodiscard]] int64_t macs(const Graph& graph);

// Whether a tensor of the block that runs first is of floating point.
[[nodiscard]] bool has_floats(const Graph& graph);

}  // namespace npu::graph
