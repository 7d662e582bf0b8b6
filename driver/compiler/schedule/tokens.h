// SPDX-License-Identifier: Apache-2.0
// Dependency tokens: which earlier commands of other queues a command must wait for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/footprint.h"
#include "driver/compiler/schedule/history.h"

namespace npu::compiler::backend {

// For each command how many of each other queue must have completed before it, so that any two that touch the same
// byte, one of them writing, run in stream order. It stays true as long as these two, and those of one queue, stay in
// their order.
[[nodiscard]] std::vector<QueueCounts> find_needs(const std::vector<Command>& commands,
                                                  const std::vector<std::vector<ByteSet>>& footprints);

// Sets the tokens of every command so that each waits for what it needs.
// The set is sufficient and minimal: a token is set only where the order of the queues and all other tokens do not
// imply it.
void set_tokens(std::vector<Command>& commands, std::span<const QueueCounts> needs);

}  // namespace npu::compiler::backend
