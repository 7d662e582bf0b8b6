// SPDX-License-Identifier: Apache-2.0
// The variable table: who may reach which bytes, in the entries that lie in the first bytes of the persistent SRAM, and
// what the marks in them mean. docs/architecture/overview.md, "State", tells the life of a variable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"

namespace npu::engine {

// Where the bytes of a variable lie that an access means.
struct VariablePlace {
  bool in_dram = false;  // else in the persistent SRAM
  uint64_t base = 0;     // bytes
  uint32_t length = 0;
};

class VariableTable {
 public:
  enum class Use : uint8_t { kRead, kWrite };

  // The job that asks.
  struct Job {
    uint16_t owner = 0;
    uint8_t epoch = 0;  // of its execution; 8 bits, which wrap around
  };

  // `memory` is all of the persistent SRAM and outlives the table; `port_bytes` is the width of its port.
  VariableTable(std::span<uint8_t> memory, uint32_t entries, uint32_t port_bytes)
      : memory_(memory), entries_(entries), port_bytes_(port_bytes) {}

  [[nodiscard]] uint32_t entries() const { return entries_; }
  [[nodiscard]] uint32_t bytes() const { return entries_ * contract::VariableEntry::kBytes; }
  // `index` < entries(), here and below.
  [[nodiscard]] contract::VariableEntry entry(uint32_t index) const;
  [[nodiscard]] bool has(uint32_t index, contract::VariableFlag flag) const;
  [[nodiscard]] VariablePlace place(uint32_t index, Use use) const;

  // VARIABLE: declared, and seen in this execution. A write of an earlier one that never came to its end has torn the
  // variable, unless it went to a place of its own.
  void declare(uint32_t index, uint8_t epoch);
  // A command begins to write.
  void begin_write(uint32_t index);
  // The write is complete: what was written is what reads see.
  void commit_write(uint32_t index);
  // Marks of executions that can no longer be compared with this one lose their meaning, in the first `entries`
  // entries. The rows of the table in which there were such, in order.
  std::vector<uint32_t> forget_old_marks(const Job& job, uint32_t entries);
  std::vector<uint32_t> forget_old_marks(const Job& job) { return forget_old_marks(job, entries_); }

  // The checks take any index. Is there such a variable, of this owner, with bytes outside of the table and inside of
  // the persistent SRAM? (A caller that knows the size of DRAM checks those that lie there.) Errors: fault_bad_region
  // (a free or missing entry), fault_access_right, fault_out_of_bounds.
  [[nodiscard]] contract::ErrorCode check_place(uint32_t index, uint16_t owner) const;
  // And was it declared: for a write in this execution, for a read in any? Error: variable_undeclared.
  [[nodiscard]] contract::ErrorCode check_use(uint32_t index, const Job& job, Use use) const;
  // Is there something to read? For an index that check_use() has passed. A write that an earlier execution began and
  // did not end tears it, even where this one has not declared it. Errors: variable_unwritten, variable_torn.
  [[nodiscard]] contract::ErrorCode check_content(uint32_t index, const Job& job) const;
  // May it be declared, by what its entry says? Errors beside those of its place: variable_mismatch,
  // variable_redeclared.
  [[nodiscard]] contract::ErrorCode check_entry(uint32_t index, uint32_t hash, const Job& job) const;
  // The first entry whose bytes overlap those of this one.
  [[nodiscard]] std::optional<uint32_t> overlapping(uint32_t index) const;

 private:
  void store(uint32_t index, const contract::VariableEntry& entry);
  // From the first place's first byte to the other one's, and to the last byte of all.
  [[nodiscard]] uint64_t distance(const contract::VariableEntry& entry) const;
  [[nodiscard]] uint64_t extent(const contract::VariableEntry& entry) const;

  std::span<uint8_t> memory_;
  uint32_t entries_;
  uint32_t port_bytes_;
};

}  // namespace npu::engine
