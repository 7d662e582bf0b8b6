// SPDX-License-Identifier: Apache-2.0
// Every operator that a device may run, with random shapes, attributes and constants, added to a network.
#pragma once

#include "driver/graph/operators.h"
#include "sim/generator/random_network.h"

namespace npu::generator {

// Adds an instance of the operator with the types of the row, null where its table is empty, and makes its results
// outputs; it may be followed by what it is fused with in real networks. Whatever the data of the inputs in their
// ranges, the results are defined. False for an operator that is not among them.
[[nodiscard]] bool add_random_operator(RandomNetwork& network, graph::Op op, const graph::TypeRow* row);

}  // namespace npu::generator
