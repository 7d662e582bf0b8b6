// SPDX-License-Identifier: Apache-2.0
// Random graphs of integers, with sizes that they leave open.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"
#include "sim/cosim/random.h"

namespace npu::graph::samples {

// The same for the same arguments, and legal: operators of every family, alone or one behind the other, or control
// flow. Dimensions of inputs are at most `most_dim`, but for those of some operators.
[[nodiscard]] Graph random_static_graph(uint64_t seed, int most_dim = 6);

enum class OpenVariables : bool { kNo, kYes };
// Leaves open most sizes above 1, and parts of the constants of RESHAPE. The sizes that it had still fit the graph.
void open_sizes(Graph& graph, cosim::Random& random, OpenVariables variables = OpenVariables::kYes);

}  // namespace npu::graph::samples
