// SPDX-License-Identifier: Apache-2.0
// What families share that make element-wise steps.
#pragma once

#include "driver/compiler/ir.h"

namespace npu::compiler {

// Drops and merges dimensions of the step that all of its streams walk as one.
void merge_dimensions(EwiseStep& step);

}  // namespace npu::compiler
