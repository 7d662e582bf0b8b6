// SPDX-License-Identifier: Apache-2.0
// Cycles of the device that a report on its accuracy states.
#pragma once

#include <cstdint>

#include "hw/contract/gen/capabilities.h"

namespace npu::cosim {

// Of operations on the variable table, without competitors.
struct TableOperations {
  uint64_t rows;                                 // of the table
  uint64_t begin_least, begin_most;              // of a job: old marks are taken back in no row, in all
  uint64_t declaration_first, declaration_next;  // since the table was written
  uint64_t check, begin_write, commit;
};
[[nodiscard]] TableOperations table_operations(const contract::Capabilities& caps);

// From taking a DMA command to its first beat.
[[nodiscard]] uint64_t dma_walk_cycles();

}  // namespace npu::cosim
