// SPDX-License-Identifier: Apache-2.0
// Random COND_IF and WHILE_LOOP with blocks of a few operators, half of them with a variable that blocks read and
// write.
#pragma once

#include <vector>

#include "sim/generator/random_network.h"

namespace npu::generator {

// Either branch changes two tensors of one integer type in its own way; a branch may branch again. The results.
[[nodiscard]] std::vector<graph::TensorId> random_cond_if(RandomNetwork& net);
// Counts an input of up to five down to 0, and changes two tensors, or exchanges them, each time. The results.
[[nodiscard]] std::vector<graph::TensorId> random_while_loop(RandomNetwork& net);

}  // namespace npu::generator
