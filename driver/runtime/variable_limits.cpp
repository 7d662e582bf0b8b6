// What VariableManager says when something is full.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "driver/graph/text.h"
#include "driver/runtime/variable_manager.h"
#include "hw/contract/error.h"

namespace npu::runtime {

using contract::ErrorCode;

std::vector<const compiler::Variable*> VariableManager::missing(uint16_t owner, Wanted wanted) const {
  std::vector<const compiler::Variable*> result;
  for (const compiler::Variable& variable : wanted) {
    if (!places_.find(owner, variable.identity)) result.push_back(&variable);
  }
  return result;
}

void VariableManager::throw_persistent_full(uint16_t owner, const compiler::Variable& variable,
                                            const VariablePlace& place, Wanted wanted) const {
  const RangeAllocator& sram = places_.sram();
  uint64_t needed = places_.table_bytes() + sram.used();
  bool counted = false;
  for (const compiler::Variable* other : missing(owner, wanted)) {
    if (other->in_dram) continue;
    VariablePlace like = place;
    like.double_buffered = place.double_buffered && other->written;
    needed += sram.rounded(places_.piece_bytes(other->bytes, like));
    counted |= other->identity == variable.identity;
  }
  const uint64_t bytes = places_.piece_bytes(variable.bytes, place);
  if (!counted) needed += sram.rounded(bytes);  // it moves, from DRAM or from a place of half the size
  // Enough is free in all, but what lies between may not move now.
  const bool in_the_way = needed <= places_.table_bytes() + sram.capacity();
  std::string way_out = "clear a context that is not needed any more";
  if (in_the_way) {
    way_out = "wait for the end of the jobs in flight, since their variables cannot move, or " + way_out;
  } else {
    way_out = fmt::format(
        "psram_bytes: {} is the smallest machine that holds all of them; or compile with less in it "
        "(npu run --state-in-dram; ScheduleOptions::state_in_dram, or two_places for a context with double_buffer), or "
        "{}",
        std::bit_ceil(needed), way_out);
  }
  throw Error(
      ErrorCode::kPersistentFull,
      fmt::format("variable {} needs {} bytes of persistent SRAM{}, but only {} of {} are free in one piece ({} "
                  "variables take {}); {}.",
                  graph::in_quotes(variable.identity), bytes, place.double_buffered ? " for its two places" : "",
                  sram.largest_free(), sram.capacity(), entries_used(), sram.used(), way_out));
}

void VariableManager::throw_table_full(uint16_t owner, const compiler::Variable& variable, Wanted wanted) const {
  const uint64_t needed = entries_used() + missing(owner, wanted).size();
  throw Error(ErrorCode::kVariableTableFull,
              fmt::format("variable {} needs an entry of the variable table, but all {} are taken; var_entries: {} is "
                          "the smallest machine that holds all of them, or clear a context that is not needed any "
                          "more.",
                          graph::in_quotes(variable.identity), entries(), std::bit_ceil(needed)));
}

}  // namespace npu::runtime
