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

VariableManager::Room VariableManager::needed_room(const compiler::Variable& variable, const VariableStorage& place,
                                                   const Demand& demand) const {
  const RangeAllocator& sram = places_.sram();
  const auto taken = [&](uint32_t bytes, const VariableStorage& of) {
    return of.in_dram ? 0 : sram.rounded(places_.piece_bytes(bytes, of));
  };
  // The one that found no place has none now.
  uint64_t bytes = sram.used() + taken(variable.bytes, place), used = entries_used();
  for (const compiler::Variable& other : demand.variables) {
    const std::optional<uint32_t> index = places_.find(demand.owner, other.identity);
    used += index ? 0 : 1;
    if (other.identity == variable.identity) continue;
    const VariableSlot* slot = index ? &places_.slot(*index) : nullptr;
    bytes += taken(other.bytes, wanted_place(other, slot, demand.options));
    if (slot != nullptr) bytes -= taken(slot->bytes, slot->place);
  }
  const uint64_t wanted = std::bit_ceil(std::max<uint64_t>(used, entries()));
  return {wanted, wanted * contract::VariableEntry::kBytes + bytes};
}

std::string VariableManager::larger_machine(const Room& room) const {
  const contract::Need table{"var_entries", room.entries}, sram{"psram_bytes", room.bytes};
  const std::string_view what = "what was asked for so far";
  if (room.entries <= entries()) return contract::smallest_machine({sram}, what);
  if (room.bytes <= places_.table_bytes() + places_.sram().capacity()) return contract::smallest_machine({table}, what);
  return contract::smallest_machine({table, sram}, what);
}

void VariableManager::throw_dram_full(const compiler::Variable& variable, const VariableStorage& place,
                                      const Demand& demand) const {
  compiler::DramNeeds needs;
  const uint64_t bytes = places_.piece_bytes(variable.bytes, place);
  needs.variables = {bytes};
  for (const compiler::Variable& other : demand.variables) {
    if (other.identity == variable.identity || places_.find(demand.owner, other.identity)) continue;
    const VariableStorage wanted = wanted_place(other, nullptr, demand.options);
    if (wanted.in_dram) needs.variables.push_back(places_.piece_bytes(other.bytes, wanted));
  }
  throw Error(
      ErrorCode::kDramFull,
      fmt::format("variable {} needs {} bytes of DRAM, but {} of {} are free; {}.", graph::in_quotes(variable.identity),
                  bytes, dram_.capacity() - dram_.used(), dram_.capacity(), dram_way_out(dram_, needs)));
}

void VariableManager::throw_persistent_full(const compiler::Variable& variable, const VariableStorage& place,
                                            const Demand& demand) const {
  const RangeAllocator& sram = places_.sram();
  const Room room = needed_room(variable, place, demand);
  std::string way_out = "clear a context that is not needed any more";
  // Enough is free in all, but what lies between may not move now.
  if (room.bytes <= places_.table_bytes() + sram.capacity()) {
    way_out = "wait for the end of the jobs in flight, since their variables cannot move, or " + way_out;
  } else {
    way_out = fmt::format(
        "{}; or compile with less in it (--state-in-dram of npu run and npu stream; ScheduleOptions::state_in_dram, or "
        "two_places for a context with double_buffer), or {}",
        larger_machine(room), way_out);
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
  const Room room = needed_room(variable, wanted_place(variable, nullptr, demand.options), demand);
  throw Error(ErrorCode::kVariableTableFull,
              fmt::format("variable {} needs an entry of the variable table, but all {} are taken; {}; or clear a "
                          "context that is not needed any more.",
                          graph::in_quotes(variable.identity), entries(), larger_machine(room)));
}

}  // namespace npu::runtime
