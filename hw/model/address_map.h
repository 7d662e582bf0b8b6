// Address translation: (region, offset) or (variable, offset) of a command to an address in one of the three memories,
// with rights and limits. Region 0 is the scratchpad after reset; regions map DRAM or scratchpad, never the persistent
// SRAM: that is reached through the variable table only, so that no two variables can alias and contexts stay apart.
#pragma once

#include <array>
#include <cstdint>

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
      : caps_(caps), persistent_(persistent) {}

  // Takes over the region table and the identity of a job.
  void begin_job(const RegionTable& regions, const engine::VariableTable::Job& job) {
    regions_ = regions;
    job_ = job;
  }

  // Errors: fault_bad_region (not mapped, or mapped beyond its memory; a free or missing table entry),
  // fault_access_right (rights of the region, owner of the variable), variable_undeclared.
  [[nodiscard]] Window window(const contract::Address& address, engine::Access access) const;

  // VARIABLE: errors as of VariableTable::check_declaration.
  [[nodiscard]] contract::ErrorCode check_declaration(uint32_t index, uint32_t hash) const {
    return persistent_.table().check_declaration(index, hash, job_);
  }

 private:
  const contract::Capabilities& caps_;
  const PersistentSram& persistent_;
  RegionTable regions_{};
  engine::VariableTable::Job job_;
};

}  // namespace npu::model
