// SPDX-License-Identifier: Apache-2.0
// Bounds of what a program takes: DRAM, and commands.
#pragma once

#include <cstdint>

#include "driver/compiler/schedule/layout.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Bytes of DRAM.
struct DramNeeds {
  uint64_t constants = 0, workspace = 0, input = 0, output = 0, save = 0, commands = 0;
};

// Throws Error(dram_full) when it is more than the device has or than a command can address. `least`: it may be more.
void check_dram(const DramNeeds& needs, bool least, const contract::Capabilities& capabilities);

// The same before a single command is made, for what is known by then.
void check_layout(const Layout& layout, const contract::Capabilities& capabilities);

// Throws Error(dram_full) for more commands than a program may have.
void check_command_count(uint64_t commands);

}  // namespace npu::compiler::backend
