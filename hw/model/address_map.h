// SPDX-License-Identifier: Apache-2.0
// Address translation: (region, offset) or (variable, offset) of a command to an address in one of the three memories,
// with rights and limits. Region 0 is the scratchpad after reset; regions map DRAM or scratchpad, never the persistent
// SRAM: variables are reached through their table only, those in DRAM too, so that no two of them can alias and
// contexts stay apart.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/engine/engine.h"
#include "hw/model/command.h"
#include "hw/model/persistent_sram.h"

namespace npu::model {

struct RegionEntry {
  uint64_t base = 0;
  uint32_t limit = 0;
  contract::Space space = contract::Space::kNone;
  bool readable = false, writable = false;
};
using RegionTable = std::array<RegionEntry, 16>;

class AddressMap {
 public:
  AddressMap(const contract::Capabilities& caps, const PersistentSram& persistent)
      : caps_(caps), persistent_(persistent), ahead_(caps.var_entries) {}

  // Takes over the region table and the identity of a job.
  void begin_job(const RegionTable& regions, const engine::VariableTable::Job& job);

  // What the address means for the next command of the stream. Errors: fault_bad_region (not mapped, or mapped beyond
  // its memory; a free or missing table entry), fault_access_right (rights of the region, owner of the variable),
  // fault_out_of_bounds (a variable beyond its memory), variable_undeclared.
  [[nodiscard]] Window window(const contract::Address& address, engine::Access access) const;
  // Bytes [low, high) of DRAM belong to a variable, and no region gives a right to them.
  [[nodiscard]] bool of_variable(uint64_t low, uint64_t high) const;

  // The command that completes the write of a variable was issued: what follows means what it writes. And it has
  // completed: the table says so itself now.
  void commit_issued(uint32_t index) { ahead_[index] = !ahead_[index]; }
  void commit_done(uint32_t index) { ahead_[index] = !ahead_[index]; }

  // False for a variable in DRAM that reaches beyond it. True for a missing entry.
  [[nodiscard]] bool fits_in_dram(uint32_t index) const;

 private:
  struct Range {
    uint64_t low, high;
  };

  [[nodiscard]] Window variable_window(uint32_t index, engine::Access access) const;
  // Of both places of a variable, where it has two.
  [[nodiscard]] Range extent(uint32_t index) const;

  const contract::Capabilities& caps_;
  const PersistentSram& persistent_;
  RegionTable regions_{};
  engine::VariableTable::Job job_;
  std::vector<bool> ahead_;     // by variable: an odd number of its commits was issued and is not done
  std::vector<Range> in_dram_;  // variables of all owners when the job began
};

}  // namespace npu::model
