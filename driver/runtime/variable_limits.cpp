// SPDX-License-Identifier: Apache-2.0
// What VariableManager says when something is full.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "driver/graph/text.h"
#include "driver/runtime/dram_advice.h"
#include "driver/runtime/variable_manager.h"
#include "hw/contract/advice.h"
#include "hw/contract/error.h"

namespace npu::runtime {

using contract::ErrorCode;

VariableManager::Room VariableManager::needed_room(const compiler::Variable* variable, const VariableStorage& place,
                                                   const Demand& demand) const {
  const RangeAllocator& sram = places_.sram();
  uint64_t bytes = sram.used(), elsewhere = 0, used = entries_used();
  const auto add = [&](uint32_t size, const VariableStorage& of) {
    VariableStorage kept = of;
    kept.in_dram = false;
    (of.in_dram ? elsewhere : bytes) += sram.rounded(places_.piece_bytes(size, kept));
  };
  // The one that found no place has none now.
  if (variable != nullptr) add(variable->bytes, place);
  for (const compiler::Variable& other : demand.variables) {
    const std::optional<uint32_t> index = places_.find(demand.owner, other.identity);
    used += index ? 0 : 1;
    if (variable != nullptr && other.identity == variable->identity) continue;
    const VariableSlot* slot = index ? &places_.slot(*index) : nullptr;
    add(std::max(other.bytes, slot == nullptr ? 0 : slot->room), wanted_place(other, slot, demand.options));
    if (slot == nullptr) continue;
    if (!slot->place.in_dram) bytes -= sram.rounded(places_.piece_bytes(slot->room, slot->place));
  }
  const uint64_t wanted = std::bit_ceil(std::max<uint64_t>(used, entries()));
  const uint64_t table = sram.rounded(wanted * contract::VariableEntry::kBytes);
  if (table + bytes <= places_.table_bytes() + sram.capacity()) return {wanted, table + bytes};
  // Programs that are compiled for more persistent SRAM may keep state there that is in DRAM now.
  for (const uint16_t owner : places_.owners()) {
    for (const uint32_t index : places_.of_owner(owner)) {
      const VariableSlot& slot = places_.slot(index);
      const auto same = [&](const compiler::Variable& variable) { return variable.identity == slot.identity; };
      const bool counted = owner == demand.owner && std::any_of(demand.variables.begin(), demand.variables.end(), same);
      if (slot.place.in_dram && !counted) add(slot.room, slot.place);
    }
  }
  return {wanted, table + bytes + elsewhere};
}

std::vector<contract::Need> VariableManager::lacking(const Room& room) const {
  std::vector<contract::Need> needs;
  if (room.entries > entries()) needs.push_back({"var_entries", room.entries});
  if (room.bytes > places_.table_bytes() + places_.sram().capacity()) needs.push_back({"psram_bytes", room.bytes});
  return needs;
}

std::vector<contract::Need> VariableManager::lacking(uint16_t owner, std::span<const compiler::Variable> variables,
                                                     const ContextOptions& options) const {
  return lacking(needed_room(nullptr, {}, {owner, variables, options}));
}

compiler::DramNeeds VariableManager::dram_needs(const compiler::Variable& variable, const Demand& demand) const {
  compiler::DramNeeds needs;
  needs.program = false;
  for (const compiler::Variable& other : demand.variables) {
    if (other.identity == variable.identity || places_.find(demand.owner, other.identity)) continue;
    const VariableStorage wanted = wanted_place(other, nullptr, demand.options);
    if (wanted.in_dram) needs.variables.push_back(places_.piece_bytes(other.bytes, wanted));
  }
  return needs;
}

std::string VariableManager::larger_machine(const Room& room, const compiler::Variable& variable,
                                            const Demand& demand) const {
  std::vector<contract::Need> needs = lacking(room);
  compiler::DramNeeds dram = dram_needs(variable, demand);
  const bool firmware = dram_.reserved() > 0;
  if (const uint64_t others = dram_.used() - dram_.reserved(); others > 0) dram.others = {others};
  if (!compiler::fits_into(dram, dram_.capacity(), firmware)) {
    needs.push_back({"dram_mib", compiler::least_dram_mib(dram, firmware)});
  }
  return contract::smallest_machine(needs, "what was asked for so far");
}

void VariableManager::throw_dram_full(const compiler::Variable& variable, const VariableStorage& place,
                                      const Demand& demand) const {
  compiler::DramNeeds needs = dram_needs(variable, demand);
  const uint64_t bytes = places_.piece_bytes(variable.bytes, place);
  needs.variables.push_back(bytes);
  throw Error(ErrorCode::kDramFull,
              fmt::format("variable {} needs {} bytes of DRAM, but {} of {} are free; {}.",
                          graph::in_quotes(variable.identity), bytes, dram_.capacity() - dram_.used(), dram_.capacity(),
                          dram_way_out(dram_, needs, lacking(needed_room(&variable, place, demand)))));
}

void VariableManager::throw_persistent_full(const compiler::Variable& variable, const VariableStorage& place,
                                            const Demand& demand) const {
  const RangeAllocator& sram = places_.sram();
  const Room room = needed_room(&variable, place, demand);
  std::string way_out = "clear a context that is not needed any more";
  // Enough is free in all, but what lies between may not move now.
  if (room.bytes <= places_.table_bytes() + sram.capacity()) {
    way_out = "wait for the end of the jobs in flight, since their variables cannot move, or " + way_out;
  } else {
    way_out = fmt::format(
        "{}; or compile with less in it (--state-in-dram of npu run and npu stream; ScheduleOptions::state_in_dram, or "
        "two_places for a context with double_buffer), or {}",
        larger_machine(room, variable, demand), way_out);
  }
  throw Error(
      ErrorCode::kPersistentFull,
      fmt::format("variable {} needs {} bytes of persistent SRAM{}, but only {} of {} are free in one piece ({} "
                  "variables take {}); {}.",
                  graph::in_quotes(variable.identity), places_.piece_bytes(variable.bytes, place),
                  place.double_buffered ? " for its two places" : "", sram.largest_free(), sram.capacity(),
                  entries_used(), sram.used(), way_out));
}

void VariableManager::throw_table_full(const compiler::Variable& variable, const Demand& demand) const {
  const Room room = needed_room(&variable, wanted_place(variable, nullptr, demand.options), demand);
  throw Error(ErrorCode::kVariableTableFull,
              fmt::format("variable {} needs an entry of the variable table, but all {} are taken; {}; or clear a "
                          "context that is not needed any more.",
                          graph::in_quotes(variable.identity), entries(), larger_machine(room, variable, demand)));
}

}  // namespace npu::runtime
