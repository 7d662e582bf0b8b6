// SPDX-License-Identifier: Apache-2.0
// The order in which the sequencer gets the commands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/estimator.h"
#include "driver/compiler/schedule/tokens.h"

namespace npu::compiler::backend {

// Positions of the commands in a better order: every load as far ahead as what it needs allows, and as its queue has
// room at that time. For the sequencer issues in order and stands still while a FIFO is full. All other commands, and
// the loads of one queue, stay in their order. `needs`: find_needs(commands).
[[nodiscard]] std::vector<size_t> hoist_loads(const std::vector<Command>& commands, std::span<const QueueCounts> needs,
                                              std::span<const Variable> variables,
                                              const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
