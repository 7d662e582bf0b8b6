// SPDX-License-Identifier: Apache-2.0
// Random graphs whose control flow nests, with variables that branches and loops read and write.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"

namespace npu::compiler::testing {

// The same graph for the same arguments. Values are INT32 [1,width] that stay small, so that no sum overflows; loops
// take at most 4 iterations, and often none. Some operators are convolutions, tables and reductions in narrower types.
[[nodiscard]] graph::Graph random_control(uint32_t seed, int64_t width = 6);

}  // namespace npu::compiler::testing
