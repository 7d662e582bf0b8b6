// SPDX-License-Identifier: Apache-2.0
// Random networks of images or sequences whose layers are large enough to be cut into tiles, and leave most sizes open.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"
#include "sim/cosim/random.h"

namespace npu::test {

// The same for the same seed. Windows, element-wise operators, reductions, changes of layout, a state; or attention.
// Results are defined for any data.
[[nodiscard]] graph::Graph random_images(uint64_t seed);

// Leaves open most sizes of inputs but that of channels, which is the last, and those of all results.
void open_images(graph::Graph& graph, cosim::Random& random);

}  // namespace npu::test
