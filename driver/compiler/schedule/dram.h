// SPDX-License-Identifier: Apache-2.0
// Bounds of what a program takes: DRAM, and commands.
#pragma once

#include <cstdint>
#include <string>

#include "driver/compiler/schedule/layout.h"

namespace npu::compiler::backend {

// Before a single command is made. Throws Error(dram_full) for regions that no device holds, and where this one does
// not hold inputs and outputs and it would take long to find out what is needed beside them; NoRoom for commands.
void check_layout(const Layout& layout, const contract::Capabilities& machine);

// Throws Error(dram_full) for more bytes than offsets in commands reach.
void check_region(const std::string& what, uint64_t bytes);

// Throws NoRoom.
void check_command_count(uint64_t commands);

}  // namespace npu::compiler::backend
