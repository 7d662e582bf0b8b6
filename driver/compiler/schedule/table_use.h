// SPDX-License-Identifier: Apache-2.0
// What commands ask of memory beside their own bytes: whether it is DRAM, and what the variable table takes.
#pragma once

#include <span>

#include "driver/compiler/program.h"
#include "driver/compiler/schedule/tiled_step.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/timing/table_cycles.h"

namespace npu::compiler::backend {

// Of a program with these variables.
[[nodiscard]] bool is_dram(const contract::Address& address, std::span<const Variable> variables);

// Operations on the variable table, in cycles: the sequencer checks each access to a variable, and so does the queue,
// where writes begin and commit as well.
struct TableUse {
  uint64_t sequencer = 0, begin = 0, end = 0;
};
[[nodiscard]] TableUse table_use(const Body& body, const timing::TableAccesses& table);

}  // namespace npu::compiler::backend
