// SPDX-License-Identifier: Apache-2.0
// How VariableManager moves variables: to another kind of place, or out of each other's way.
#include <exception>
#include <utility>

#include "driver/runtime/variable_manager.h"
#include "hw/contract/error.h"

namespace npu::runtime {

using contract::ErrorCode;
using contract::VariableFlag;

void VariableManager::relocate(uint32_t index, const compiler::Variable& variable, VariableStorage to,
                               const graph::Shape& largest, const Demand& demand) {
  uint8_t flags = values_.read_entry(index).flags;
  std::vector<uint8_t> bytes;
  if (has(flags, VariableFlag::kIsWritten)) bytes = values_.read(index, flags);
  // An interrupted write of the only place is one whatever the new place is like; that of another one leaves no trace.
  if (is_torn(flags)) flags = with(flags, VariableFlag::kTorn);
  for (const VariableFlag flag : {VariableFlag::kWriting, VariableFlag::kSecond}) flags = without(flags, flag);

  // The content is held here, so that the old place is room for the new one.
  VariableSlot slot = places_.lift(index);
  const VariableSlot before = slot;
  set_sizes({slot.sizes.shape, largest}, slot);
  compiler::Variable wanted = variable;
  wanted.bytes = slot.room;
  try {
    find_place(wanted, to, demand);
  } catch (...) {
    NPU_CHECK(places_.take(before.room, before.place));
    places_.put(index, before);
    throw;
  }
  ++generation_;
  slot.place = to;
  const uint32_t room = slot.room;
  places_.put(index, std::move(slot));
  try {
    values_.place(index, bytes);
    values_.write_entry(index, flags);
  } catch (...) {
    // A device that takes nothing any more. What moved to make room may lie in the old place.
    places_.release(room, to);
    if (places_.take(before.room, before.place)) {
      places_.slot(index) = before;
    } else {
      NPU_CHECK(places_.take(room, to));
    }
    throw;
  }
}

bool VariableManager::make_room(uint64_t bytes) {
  Contents contents;
  const std::optional<std::vector<VariableMove>> moves = plan_room(bytes, contents);
  if (!moves) return false;
  std::vector<VariableMove> back;
  for (const VariableMove& move : *moves) back.push_back({move.index, places_.slot(move.index).place.address});
  places_.move(*moves);
  try {
    write_contents(*moves, contents);
  } catch (...) {
    places_.move(back);
    try {
      write_contents(back, contents);
    } catch (const std::exception&) {
      // A device that takes nothing any more; the first error tells why.
    }
    throw;
  }
  return true;
}

std::optional<std::vector<VariableMove>> VariableManager::plan_room(uint64_t bytes, Contents& contents) {
  // What cannot be read cannot move, and is marked as damaged by reading it: so until all of a plan can be.
  for (;;) {
    std::optional<std::vector<VariableMove>> moves =
        places_.make_room(bytes, [&](const VariableSlot& slot) { return is_quiet(slot.owner) && !slot.damaged; });
    if (!moves) return std::nullopt;
    bool readable = true;
    for (const VariableMove& move : *moves) readable &= read_content(move.index, contents);
    if (readable) return moves;
  }
}

bool VariableManager::read_content(uint32_t index, Contents& contents) {
  if (contents.contains(index)) return true;
  try {
    Content content;
    content.flags = values_.read_entry(index).flags;
    if (has(content.flags, VariableFlag::kIsWritten)) content.bytes = values_.read(index, content.flags);
    contents.emplace(index, std::move(content));
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kFaultEcc) throw;
    return false;
  }
}

void VariableManager::write_contents(const std::vector<VariableMove>& moves, const Contents& contents) {
  for (const VariableMove& move : moves) values_.place(move.index, contents.at(move.index).bytes);
  std::vector<VariableEntries::Write> writes;
  for (const VariableMove& move : moves) {
    writes.push_back(values_.entry(move.index, without(contents.at(move.index).flags, VariableFlag::kSecond)));
  }
  values_.write_entries(writes);
}

}  // namespace npu::runtime
