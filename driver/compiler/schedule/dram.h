// SPDX-License-Identifier: Apache-2.0
// Bounds of what a program takes: DRAM, and commands.
#pragma once

#include <cstdint>
#include <exception>

#include "driver/compiler/program.h"
#include "driver/compiler/schedule/layout.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Throws Error(dram_full) when it is more than the device has. `two_places`: of the variables that are written.
void check_dram(const Program& program, bool two_places, const contract::Capabilities& capabilities);

// Before a single command is made. Throws Error(dram_full) for regions that no device holds; TooManyCommands.
void check_layout(const Layout& layout);

// A program has more commands than it may have; schedule() finds out what makes them fewer.
class TooManyCommands : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "too many commands"; }
};
// The compiler holds about a KiB a command; real networks have some 100,000.
inline constexpr uint64_t kMostCommands = 1 << 20;

// Throws TooManyCommands.
void check_command_count(uint64_t commands);

}  // namespace npu::compiler::backend
