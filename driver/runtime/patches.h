// SPDX-License-Identifier: Apache-2.0
// The commands of a program as a device gets them: with what only the loader knows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/program.h"

namespace npu::runtime {

// Throws Error(contract_mismatch): what is wrong with the program, and the way out.
[[noreturn]] void throw_damaged(const std::string& what);

// Whether the main stream is a row of whole commands, as many as the program says, and each patch has a source and
// names a field of one of them. What the commands mean is the device's to check. Throws as throw_damaged().
void check_commands(const compiler::Program& program);

// Of a program that check_commands() accepts. `table_indices`: of its variables.
[[nodiscard]] std::vector<uint32_t> patched_commands(const compiler::Program& program,
                                                     std::span<const uint32_t> table_indices);

}  // namespace npu::runtime
