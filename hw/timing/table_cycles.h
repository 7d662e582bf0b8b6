// SPDX-License-Identifier: Apache-2.0
// What operations on the variable table take, in accesses of a row of it (psram_port_bytes): rows are read one a cycle,
// and each answer is looked at when it comes. rtl/blocks/persistent_sram has the operations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/cycles.h"

namespace npu::timing {

// Cycles from an access to its answer.
inline constexpr uint64_t kPersistentAnswer = 2;

// Reads, one a cycle, and behind the answer to the last one a write of a part of a row.
struct TableRun {
  uint64_t reads = 0;  // whose answers are looked at
  uint64_t more = 0;   // rows behind them, which are asked for until then; what was granted is dropped
  bool writes = false;
};

// Its runs, one after the other: the next one begins when the answer to the last access of the one before is there.
struct TableOperation {
  TableRun first;              // without reads: there is none
  std::vector<TableRun> rest;  // where rows in between are written

  void add(const TableRun& run) {
    if (first.reads == 0) {
      first = run;
    } else {
      rest.push_back(run);
    }
  }
};

// While the memory has no other users.
[[nodiscard]] constexpr uint64_t table_cycles(const TableRun& run) {
  return run.reads == 0 ? 0 : run.reads + kPersistentAnswer + (run.writes ? 1 + kPersistentAnswer : 0);
}
// From the cycle in which the operation is taken to that of its end.
[[nodiscard]] inline uint64_t table_cycles(const TableOperation& operation) {
  uint64_t cycles = 1 + table_cycles(operation.first);
  for (const TableRun& run : operation.rest) cycles += table_cycles(run);
  return cycles;
}

// The operations that are not refused.
struct TableAccesses {
  uint64_t rows;   // of the table
  uint64_t entry;  // rows that an entry lies in

  static constexpr TableAccesses of(const contract::Capabilities& caps) {
    constexpr uint64_t kBytes = contract::VariableEntry::kBytes;
    return {ceil_div(caps.var_entries * kBytes, caps.psram_port_bytes), ceil_div(kBytes, caps.psram_port_bytes)};
  }
  // In the `cleared` rows, in their order, old marks are taken back.
  [[nodiscard]] TableOperation begin_job(std::span<const uint32_t> cleared = {}) const {
    TableOperation operation;
    uint64_t from = 0;
    for (const uint64_t row : cleared) {
      operation.add({row + 1 - from, rows - row - 1, true});
      from = row + 1;
    }
    if (from < rows) operation.add({rows - from, 0, false});
    return operation;
  }
  // `compared`: the place of the variable was compared with those of all others, and none has been written since.
  [[nodiscard]] TableOperation declare(bool compared) const { return {{compared ? entry : entry + rows, 0, true}, {}}; }
  [[nodiscard]] TableOperation check() const { return {{entry, 0, false}, {}}; }
  // Unless the mark is set already: then it is a check.
  [[nodiscard]] TableOperation begin_write() const { return {{entry, 0, true}, {}}; }
  [[nodiscard]] TableOperation commit() const { return {{entry, 0, true}, {}}; }
};

}  // namespace npu::timing
