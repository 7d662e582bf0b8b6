// Registers of an element-wise micro-program.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::compiler {

inline constexpr uint32_t kMaxRegisters = 16;

// Replaces value numbers (each assigned once, counted from 0) by registers that are reused after a value's last use.
// Returns how many registers that takes, which may be more than kMaxRegisters.
uint32_t allocate_registers(std::vector<contract::Uop>& uops);

}  // namespace npu::compiler
