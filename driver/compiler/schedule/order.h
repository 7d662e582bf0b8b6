// SPDX-License-Identifier: Apache-2.0
// The order in which commands are issued: loads move ahead of work that does not concern them.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/footprint.h"

namespace npu::compiler::backend {

// Moves every load as far ahead as bytes in common with other commands allow, and at most `lookahead` loads of its
// queue ahead of the first command that needs them: the sequencer issues in order and stands still while a FIFO is
// full. `footprints` follows `commands`.
void hoist_loads(std::vector<Command>& commands, std::vector<std::vector<ByteSet>>& footprints, uint32_t lookahead);

}  // namespace npu::compiler::backend
