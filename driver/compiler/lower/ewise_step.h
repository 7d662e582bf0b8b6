// SPDX-License-Identifier: Apache-2.0
// What families share that make element-wise steps.
#pragma once

#include "driver/compiler/ir.h"
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/ewise_program.h"

namespace npu::compiler {

// Drops and merges dimensions of the step that all of its streams walk as one.
void merge_dimensions(EwiseStep& step);

// The bytes of an operand that the VPU keeps in its table memory: kParams, kTable or kEntries.
[[nodiscard]] View block_of(Emitter& emitter, const EwiseOperand& operand);

}  // namespace npu::compiler
