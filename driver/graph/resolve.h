// SPDX-License-Identifier: Apache-2.0
// The static form of a graph whose file leaves sizes open, or computes shapes.
#pragma once

#include <map>
#include <string>

#include "driver/graph/graph.h"

namespace npu::graph {

// Shapes by the name of a graph input, or by the identity of a variable.
using GivenShapes = std::map<std::string, Shape, std::less<>>;

// The same graph with every size known: those of the inputs from `given`, those of variables from `given`, from what is
// written to them, or from what the operators demand of what is read from them, and all others from the operators'
// rules. A -1 in the constant of a RESHAPE becomes what the other sizes leave; several become what other operators
// demand of them. A size that the file leaves open never broadcasts, even where it turns out to be 1. Operators that
// compute shapes become constants, and assertions that hold are left out, in blocks that may not be entered too.
// `graph` has passed validate() with Sizes::kMayBeUnknown; the result is for validate() to look at. Throws Error:
// bad_input for a name that the graph does not have, a rank or a known size that differs, a size that is not from 1 to
// 2^31 - 1, and for sizes that follow from nothing that was given; size_mismatch, with the operator and the sizes,
// where a rule of an operator does not hold for these sizes; feature_unsupported for a RESHAPE with several -1 that
// nothing decides. Where no open size is involved: what validate() throws, bad_argument for an assertion on shapes that
// does not hold, and require_failed for a shape operator that is not defined for its operands.
[[nodiscard]] Graph resolve(const Graph& graph, const GivenShapes& given);

// A graph as it runs, from one as a file has it: validated, and without operators that compute shapes. Throws what
// validate() and resolve() throw, and feature_unsupported where the file leaves sizes open.
[[nodiscard]] Graph static_form(Graph graph);

}  // namespace npu::graph
