// Random work for the persistent SRAM: few variables, owners, hashes and epochs, so that they meet.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "rtl/verilated/persistent_sram.h"

namespace npu::cosim {

// The first entries of the table, that random operations name.
[[nodiscard]] inline uint32_t entries_in_use(const rtl::PersistentSram::Sizes& sizes) { return sizes.entries / 4; }

[[nodiscard]] contract::VariableEntry random_entry(std::mt19937_64& random, const rtl::PersistentSram::Sizes& sizes);
[[nodiscard]] rtl::PersistentSram::Operation random_operation(std::mt19937_64& random,
                                                              const rtl::PersistentSram::Sizes& sizes);

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
// Of one of `rows`, of the table (written only if `writes_table`), or of what nobody may reach.
[[nodiscard]] PersistentSramAccess random_access(std::mt19937_64& random, const rtl::PersistentSram::Sizes& sizes,
                                                 const std::vector<uint32_t>& rows, bool writes_table);
// Writes a row of the table, with random entries.
[[nodiscard]] PersistentSramAccess random_table_row(std::mt19937_64& random, const rtl::PersistentSram::Sizes& sizes,
                                                    uint32_t row);

}  // namespace npu::cosim
