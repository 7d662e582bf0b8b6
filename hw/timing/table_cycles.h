// SPDX-License-Identifier: Apache-2.0
// What operations on the variable table take, in accesses of a row of it (psram_port_bytes), one after the other: the
// next one is asked for when the answer to the last one has been looked at. rtl/blocks/persistent_sram has the
// operations.
#pragma once

#include <cstdint>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/cycles.h"

namespace npu::timing {

// Cycles from an access to its answer.
inline constexpr uint64_t kPersistentAnswer = 2;
// From one access of an operation to the next.
inline constexpr uint64_t kTableAccessCycles = kPersistentAnswer + 1;

// While the memory has no other users: a cycle for the operation, and its accesses.
[[nodiscard]] constexpr uint64_t table_cycles(uint64_t accesses) { return 1 + kTableAccessCycles * accesses; }

// Accesses of each operation.
struct TableAccesses {
  uint64_t rows;   // of the table
  uint64_t entry;  // rows that an entry lies in

  static constexpr TableAccesses of(const contract::Capabilities& caps) {
    constexpr uint64_t kBytes = contract::VariableEntry::kBytes;
    return {ceil_div(caps.var_entries * kBytes, caps.psram_port_bytes), ceil_div(kBytes, caps.psram_port_bytes)};
  }
  // In `cleared` rows old marks are taken back.
  [[nodiscard]] constexpr uint64_t begin_job(uint64_t cleared) const { return rows + cleared; }
  [[nodiscard]] constexpr uint64_t declare() const { return rows + entry + 1; }
  [[nodiscard]] constexpr uint64_t check() const { return entry; }
  // Unless the mark is set already: then it is a check.
  [[nodiscard]] constexpr uint64_t begin_write() const { return entry + 1; }
  [[nodiscard]] constexpr uint64_t commit() const { return entry + 1; }
};

}  // namespace npu::timing
