// SPDX-License-Identifier: Apache-2.0
// Random work for the persistent SRAM: few variables, owners, hashes and epochs, so that they meet.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "rtl/verilated/persistent_sram.h"

namespace npu::cosim {

// With any flags. Half of them lie close together, so that some overlap.
[[nodiscard]] contract::VariableEntry random_entry(std::mt19937_64& random, const rtl::PersistentSram::Sizes& sizes);
// Of the first `entries` variables, seldom of any.
[[nodiscard]] rtl::PersistentSram::Operation random_operation(std::mt19937_64& random, uint32_t entries);

// An access with its data.
struct PersistentSramAccess {
  rtl::PersistentSram::Access access;
  std::vector<uint8_t> data;

  // To be offered to a block.
  [[nodiscard]] rtl::PersistentSram::Access offered() const {
    rtl::PersistentSram::Access offered = access;
    offered.data = data;
    return offered;
  }
};
// Of one of `rows`, of the table, which only an access without the right to do so writes, or of what lies outside.
[[nodiscard]] PersistentSramAccess random_access(std::mt19937_64& random, const rtl::PersistentSram::Sizes& sizes,
                                                 const std::vector<uint32_t>& rows);
// Writes a row of the table, in which some of the first `entries` are taken.
[[nodiscard]] PersistentSramAccess random_table_row(std::mt19937_64& random, const rtl::PersistentSram::Sizes& sizes,
                                                    uint32_t row, uint32_t entries);
// Reads all of any row.
[[nodiscard]] PersistentSramAccess read_of_row(const rtl::PersistentSram::Sizes& sizes, uint32_t row);

}  // namespace npu::cosim
