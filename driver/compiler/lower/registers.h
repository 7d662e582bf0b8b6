// SPDX-License-Identifier: Apache-2.0
// Registers of an element-wise micro-program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::compiler {

// Replaces value numbers (each assigned once, counted from 0) by registers that are reused after a value's last use.
// Returns how many registers that takes, which may be more than a machine has. A result replaces what was loaded just
// before it, if nothing else reads that: then both may share a pass (hw/timing/vpu_program.h).
uint32_t allocate_registers(std::vector<contract::Uop>& uops);
// Moves each load, of a program of value numbers, to the first micro-operation that reads it, but never over a store,
// and numbers the values anew.
void loads_before_use(std::vector<contract::Uop>& uops);
// The other way round: replaces registers by value numbers, counted in the order of the program.
void number_values(std::vector<contract::Uop>& uops);

struct MicroProgram {
  std::vector<contract::Uop> uops;
  uint32_t register_count = 0;
};

// The program, whose registers are allocated, with the loads of the operands that `early` selects in front of the first
// store to an operand that `late` selects; nothing else changes its place. Nullopt: it takes more than `registers`
// registers.
[[nodiscard]] std::optional<MicroProgram> loads_before_stores(const MicroProgram& program,
                                                              const std::function<bool(uint32_t)>& early,
                                                              const std::function<bool(uint32_t)>& late,
                                                              uint32_t registers);

}  // namespace npu::compiler
