// SPDX-License-Identifier: Apache-2.0
// What families share that make element-wise steps.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler {

// A parameter block as it lies in memory.
[[nodiscard]] std::vector<uint8_t> bytes_of_params(const Params& params);

// Drops and merges dimensions of the step that all of its streams walk as one.
void merge_dimensions(EwiseStep& step);

}  // namespace npu::compiler
