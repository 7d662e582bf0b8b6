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
  void begin_job(const RegionTable& regions, uint16_t owner, uint8_t epoch) {
    regions_ = regions;
    owner_ = owner;
    epoch_ = epoch;
  }

  // Errors: fault_bad_region (not mapped, or mapped beyond its memory; a free or missing table entry),
  // fault_access_right (rights of the region, owner of the variable), variable_undeclared.
  [[nodiscard]] Window window(const contract::Address& address, engine::Access access) const;

  // VARIABLE: checks entry, owner, hash and that it was not seen in this epoch. Errors: fault_bad_region,
  // fault_access_right (owner, or its bytes overlap another variable), fault_out_of_bounds (or they overlap the table),
  // variable_mismatch, variable_redeclared.
  [[nodiscard]] contract::ErrorCode check_declaration(uint32_t index, uint32_t hash) const;

 private:
  [[nodiscard]] Window variable_window(uint32_t index) const;

  const contract::Capabilities& caps_;
  const PersistentSram& persistent_;
  RegionTable regions_{};
  uint16_t owner_ = 0;
  uint8_t epoch_ = 0;
};

}  // namespace npu::model
