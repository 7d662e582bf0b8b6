// The variable table: who may reach which bytes of the persistent SRAM, in the entries that lie in its first bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"

namespace npu::engine {

class VariableTable {
 public:
  // The job that asks.
  struct Job {
    uint16_t owner = 0;
    uint8_t epoch = 0;  // of its execution; 8 bits, which wrap around
  };

  // `memory` is all of the persistent SRAM and outlives the table.
  VariableTable(std::span<uint8_t> memory, uint32_t entries) : memory_(memory), entries_(entries) {}

  [[nodiscard]] uint32_t entries() const { return entries_; }
  [[nodiscard]] uint32_t bytes() const { return entries_ * contract::VariableEntry::kBytes; }
  // `index` < entries(), here and below.
  [[nodiscard]] contract::VariableEntry entry(uint32_t index) const;
  [[nodiscard]] bool written(uint32_t index) const;

  void mark_seen(uint32_t index, uint8_t epoch);
  void mark_written(uint32_t index);
  // Marks of executions that can no longer be compared with this one lose their meaning.
  void forget_old_marks(const Job& job);

  // The checks take any index. Is there such a variable, of this owner, with bytes outside of the table and inside of
  // the memory? Errors: fault_bad_region (a free or missing entry), fault_access_right, fault_out_of_bounds.
  [[nodiscard]] contract::ErrorCode check_place(uint32_t index, uint16_t owner) const;
  // And was it declared in this execution? Error: variable_undeclared.
  [[nodiscard]] contract::ErrorCode check_use(uint32_t index, const Job& job) const;
  // May it be declared, by what its entry says? Errors beside those of its place: variable_mismatch,
  // variable_redeclared.
  [[nodiscard]] contract::ErrorCode check_entry(uint32_t index, uint32_t hash, const Job& job) const;
  // The first entry whose bytes overlap those of this one.
  [[nodiscard]] std::optional<uint32_t> overlapping(uint32_t index) const;
  // check_entry, then fault_access_right for a variable whose bytes are not its own.
  [[nodiscard]] contract::ErrorCode check_declaration(uint32_t index, uint32_t hash, const Job& job) const;

 private:
  void store(uint32_t index, const contract::VariableEntry& entry);

  std::span<uint8_t> memory_;
  uint32_t entries_;
};

}  // namespace npu::engine
