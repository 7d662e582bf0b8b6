// SPDX-License-Identifier: Apache-2.0
// What VariableManager says when something is full.
#include <fmt/format.h>

#include <bit>

#include "driver/graph/text.h"
#include "driver/runtime/variable_manager.h"
#include "hw/contract/error.h"

namespace npu::runtime {

using contract::ErrorCode;

uint64_t VariableManager::needed_bytes(const compiler::Variable& variable, const VariableStorage& place,
                                       const Demand& demand) const {
  const RangeAllocator& sram = places_.sram();
  const auto taken = [&](uint32_t bytes, const VariableStorage& of) {
    return of.in_dram ? 0 : sram.rounded(places_.piece_bytes(bytes, of));
  };
  // The one that found no place has none now.
  uint64_t needed = places_.table_bytes() + sram.used() + taken(variable.bytes, place);
  for (const compiler::Variable& other : demand.variables) {
    if (other.identity == variable.identity) continue;
    const std::optional<uint32_t> index = places_.find(demand.owner, other.identity);
    const VariableSlot* slot = index ? &places_.slot(*index) : nullptr;
    needed += taken(other.bytes, wanted_place(other, slot, demand.options));
    if (slot != nullptr) needed -= taken(slot->bytes, slot->place);
  }
  return needed;
}

void VariableManager::throw_persistent_full(const compiler::Variable& variable, const VariableStorage& place,
                                            const Demand& demand) const {
  const RangeAllocator& sram = places_.sram();
  const uint64_t needed = needed_bytes(variable, place, demand);
  // Enough is free in all, but what lies between may not move now.
  const bool in_the_way = needed <= places_.table_bytes() + sram.capacity();
  std::string way_out = "clear a context that is not needed any more";
  if (in_the_way) {
    way_out = "wait for the end of the jobs in flight, since their variables cannot move, or " + way_out;
  } else {
    way_out = fmt::format(
        "psram_bytes: {} is the smallest machine that holds what was asked for so far; or compile with less in it "
        "(--state-in-dram of npu run and npu stream; ScheduleOptions::state_in_dram, or two_places for a context with "
        "double_buffer), or "
        "{}",
        std::bit_ceil(needed), way_out);
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
  uint64_t needed = entries_used();
  for (const compiler::Variable& other : demand.variables) needed += places_.find(demand.owner, other.identity) ? 0 : 1;
  throw Error(
      ErrorCode::kVariableTableFull,
      fmt::format(
          "variable {} needs an entry of the variable table, but all {} are taken; var_entries: {} is "
          "the smallest machine that holds what was asked for so far, or clear a context that is not needed any "
          "more.",
          graph::in_quotes(variable.identity), entries(), std::bit_ceil(needed)));
}

}  // namespace npu::runtime
