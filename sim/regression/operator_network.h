// SPDX-License-Identifier: Apache-2.0
// Random legal networks of one operator, for comparing a device with the reference and its RTL.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::regression {

// Whether the machine runs one combination of types or more of the operator, without floating point.
[[nodiscard]] bool device_runs(graph::Op op, const contract::Capabilities& caps);

struct OperatorNetwork {
  graph::Graph graph;
  std::vector<graph::Value> inputs;  // stacked: their first axis counts invocations
  int64_t frames = 1;
};

// `of_each` instances of the operator, side by side, with each combination of types that the machine runs (of variables
// at most four): shapes, attributes, constants and data are random, small, and such that every result is defined. A
// function of its arguments.
[[nodiscard]] OperatorNetwork random_operator(graph::Op op, const contract::Capabilities& caps, uint64_t seed,
                                              uint32_t of_each);

}  // namespace npu::regression
