// SPDX-License-Identifier: Apache-2.0
// Networks that share state in one context.
#pragma once

#include "driver/graph/graph.h"

namespace npu::test {

// INT8[1, 32, 32, 16]: makes features of a frame with three convolutions, mixes them into the variable "talk/features",
// INT8[1, 8, 8, 64], and gives the largest of each channel.
[[nodiscard]] graph::Graph encoder();

// No inputs: makes a token of "talk/features" and of the token before, which it keeps in "talk/token", and halves the
// features that it has used.
[[nodiscard]] graph::Graph decoder();

// Declares "talk/features" as INT8[1, 2, 2, 64].
[[nodiscard]] graph::Graph other_decoder();

// INT8[1, 24000] -> INT8[1, 24000]: the larger one of its input and "much/state", which it only reads.
[[nodiscard]] graph::Graph much_reader();

}  // namespace npu::test
