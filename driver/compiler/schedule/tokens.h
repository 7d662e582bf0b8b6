// SPDX-License-Identifier: Apache-2.0
// Dependency tokens: which earlier commands of other queues a command must wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/footprint.h"

namespace npu::compiler::backend {

// Sets the tokens of every command so that any two that touch the same byte, one of them writing, run in stream order.
// The set is sufficient and minimal: a token is set only where the order of the queues and all other tokens do not
// imply it.
void set_tokens(std::vector<Command>& commands, const std::vector<std::vector<ByteSet>>& footprints);

}  // namespace npu::compiler::backend
