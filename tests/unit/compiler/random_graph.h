// SPDX-License-Identifier: Apache-2.0
// Random legal graphs over every operator family that the device runs, small enough to run thousands of.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"

namespace npu::compiler::testing {

// The same graph for the same arguments. Dimensions of inputs are at most `max_dim`. Sums may overflow,
// which the reference calls unpredictable.
[[nodiscard]] graph::Graph random_graph(uint32_t seed, int max_dim = 4);

}  // namespace npu::compiler::testing
