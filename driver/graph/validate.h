// SPDX-License-Identifier: Apache-2.0
// Whether a graph is legal.
#pragma once

#include "driver/graph/graph.h"

namespace npu::graph {

// Of a tensor in a legal graph, for machines that go beyond the specification's levels.
inline constexpr size_t kMostRank = 32;

// What a graph may say of the sizes of its tensors.
enum class Sizes : uint8_t {
  kKnown,
  kMayBeUnknown,  // operators that have an unknown size are checked as far as that needs none: resolve() does the rest
};

// Checks the structure (names, order, regions), and for each operator the number, kinds, types, ranks and shapes of its
// operands, its attributes and every ERROR_IF condition of the specification that does not depend on run-time values.
// Operands that must be compile-time constants may be run-time values: analyse() then asks for EXT-DYNAMIC.
// Throws Error naming operator, place, tensor and rule: bad_structure, bad_argument, bad_type, bad_shape, bad_data;
// variable_redeclared, variable_undeclared (written before its VARIABLE) and variable_mismatch for what contradicts the
// declarations whatever was run before. A read before VARIABLE is legal: it is the earlier execution's value that
// counts. Unless unknown sizes are allowed: feature_unsupported for one, and for an operator that computes shapes.
void validate(const Graph& graph, Sizes sizes = Sizes::kKnown);

}  // namespace npu::graph
