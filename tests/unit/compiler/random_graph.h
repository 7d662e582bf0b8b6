// SPDX-License-Identifier: Apache-2.0
// Random legal graphs over every operator family that the device runs, small enough to run thousands of.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"

namespace npu::compiler::testing {

// What a graph computes with: integers, or integers and floating point of all formats, with casts both ways, and
// control flow over both.
enum class Numbers : uint8_t { kIntegers, kMixed };

// The same graph for the same arguments. Dimensions of inputs are at most `max_dim`. Sums may overflow,
// which the reference calls unpredictable. Blocks of control flow have no operator whose result is rounded as an engine
// likes: what comes out of them is defined in every bit, where it is defined.
[[nodiscard]] graph::Graph random_graph(uint32_t seed, int max_dim = 4, Numbers numbers = Numbers::kIntegers);

}  // namespace npu::compiler::testing
