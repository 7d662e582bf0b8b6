// SPDX-License-Identifier: Apache-2.0
// Moving a part of a buffer to another place in it.
#pragma once

#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler::backend {

// A copy within one buffer as copies of which none overlaps itself, in the order in which none spoils what a later one
// reads. Empty: it takes too many to be worth it, or source and destination are not the same shape in memory.
[[nodiscard]] std::vector<CopyStep> shift_pieces(const CopyStep& copy);

}  // namespace npu::compiler::backend
