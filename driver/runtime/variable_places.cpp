// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/variable_places.h"

#include <algorithm>
#include <utility>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/program.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"

namespace npu::runtime {

void set_sizes(VariableSizes sizes, VariableSlot& slot) {
  const auto bytes_of = [&](const graph::Shape& shape) {
    return static_cast<uint32_t>(*graph::element_count(shape) * graph::machine_width(slot.type));
  };
  const graph::Shape shape = filled(sizes);
  slot.bytes = bytes_of(shape);
  slot.room = bytes_of(sizes.largest);
  slot.hash = compiler::variable_hash(slot.type, shape);
  slot.sizes = std::move(sizes);
}

// A variable starts at a multiple of the port's width, so that it takes as few beats as its size allows.
VariablePlaces::VariablePlaces(const contract::Capabilities& caps, RangeAllocator& dram)
    : sram_begin_(uint64_t{caps.var_entries} * contract::VariableEntry::kBytes),
      port_bytes_(caps.psram_port_bytes),
      sram_(sram_begin_, caps.psram_bytes, caps.psram_port_bytes),
      dram_(dram),
      slots_(caps.var_entries) {
  for (uint32_t index = 0; index < caps.var_entries; ++index) free_.insert(free_.end(), index);
}

std::optional<uint32_t> VariablePlaces::find(uint16_t owner, std::string_view identity) const {
  const auto variables = by_owner_.find(owner);
  if (variables == by_owner_.end()) return std::nullopt;
  const auto found = variables->second.find(identity);
  return found == variables->second.end() ? std::nullopt : std::optional(found->second);
}

std::vector<uint32_t> VariablePlaces::of_owner(uint16_t owner) const {
  std::vector<uint32_t> indices;
  const auto variables = by_owner_.find(owner);
  if (variables == by_owner_.end()) return indices;
  for (const auto& [identity, index] : variables->second) indices.push_back(index);
  std::sort(indices.begin(), indices.end());
  return indices;
}

std::vector<uint16_t> VariablePlaces::owners() const {
  std::vector<uint16_t> owners;
  for (const auto& [owner, variables] : by_owner_) owners.push_back(owner);
  return owners;
}

// Those without a place at the moment (lift()) among them.
std::vector<std::string> VariablePlaces::identities_of(uint16_t owner) const {
  std::vector<std::string> identities;
  const auto variables = by_owner_.find(owner);
  if (variables == by_owner_.end()) return identities;
  for (const auto& [identity, index] : variables->second) identities.push_back(identity);
  return identities;
}

uint32_t VariablePlaces::insert(VariableSlot slot) {
  NPU_CHECK(!free_.empty());
  const uint32_t index = *free_.begin();
  free_.erase(free_.begin());
  by_owner_[slot.owner].emplace(slot.identity, index);
  slots_[index] = std::move(slot);
  return index;
}

void VariablePlaces::erase(uint32_t index) {
  const VariableSlot slot = *std::exchange(slots_[index], std::nullopt);
  release(slot.room, slot.place);
  free_.insert(index);
  const auto variables = by_owner_.find(slot.owner);
  variables->second.erase(slot.identity);
  if (variables->second.empty()) by_owner_.erase(variables);
}

void VariablePlaces::erase_all() {
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index]) erase(index);
  }
}

uint64_t VariablePlaces::distance(uint32_t bytes, bool in_dram) const {
  if (in_dram) return compiler::variable_dram_distance(bytes);
  return (uint64_t{bytes} + port_bytes_ - 1) / port_bytes_ * port_bytes_;
}

uint64_t VariablePlaces::piece_bytes(uint32_t bytes, const VariableStorage& place) const {
  return bytes + (place.double_buffered ? distance(bytes, place.in_dram) : 0);
}

bool VariablePlaces::allocate(uint32_t bytes, VariableStorage& place) {
  RangeAllocator& memory = place.in_dram ? dram_ : sram_;
  const uint64_t before = memory.used();
  const std::optional<uint64_t> address = memory.allocate(piece_bytes(bytes, place));
  if (!address) return false;
  place.address = *address;
  if (place.in_dram) dram_used_ += memory.used() - before;
  return true;
}

void VariablePlaces::release(uint32_t bytes, const VariableStorage& place) {
  (place.in_dram ? dram_ : sram_).release(place.address);
  if (place.in_dram) dram_used_ -= dram_.rounded(piece_bytes(bytes, place));
}

bool VariablePlaces::take(uint32_t bytes, const VariableStorage& place) {
  if (!(place.in_dram ? dram_ : sram_).take(place.address, piece_bytes(bytes, place))) return false;
  if (place.in_dram) dram_used_ += dram_.rounded(piece_bytes(bytes, place));
  return true;
}

VariableSlot VariablePlaces::lift(uint32_t index) {
  VariableSlot slot = *std::exchange(slots_[index], std::nullopt);
  release(slot.room, slot.place);
  return slot;
}

void VariablePlaces::put(uint32_t index, VariableSlot slot) {
  NPU_CHECK(!slots_[index]);
  slots_[index] = std::move(slot);
}

std::optional<std::vector<VariableMove>> VariablePlaces::make_room(
    uint64_t bytes, const std::function<bool(const VariableSlot&)>& may_move) const {
  std::vector<uint32_t> movable, fixed;
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    if (!slots_[index] || slots_[index]->place.in_dram) continue;
    (may_move(*slots_[index]) ? movable : fixed).push_back(index);
  }
  const auto size = [this](uint32_t index) { return piece_bytes(slots_[index]->room, slots_[index]->place); };
  const auto address = [this](uint32_t index) { return slots_[index]->place.address; };
  // Where they would go in the order of `movable`; among what cannot move, another order may fit where one does not.
  const auto attempt = [&](bool room_first) -> std::optional<std::vector<VariableMove>> {
    RangeAllocator trial(sram_.begin(), sram_.end(), sram_.alignment());
    for (const uint32_t index : fixed) NPU_CHECK(trial.take(address(index), size(index)));
    if (room_first && !trial.allocate(bytes)) return std::nullopt;
    std::vector<VariableMove> moves;
    for (const uint32_t index : movable) {
      const std::optional<uint64_t> to = trial.allocate(size(index));
      if (!to) return std::nullopt;
      if (*to != address(index)) moves.push_back({index, *to});
    }
    if (!room_first && !trial.allocate(bytes)) return std::nullopt;
    return moves;
  };
  std::sort(movable.begin(), movable.end(), [&](uint32_t a, uint32_t b) { return address(a) < address(b); });
  std::optional<std::vector<VariableMove>> moves = attempt(false);
  if (moves) return moves;
  std::stable_sort(movable.begin(), movable.end(), [&](uint32_t a, uint32_t b) { return size(a) > size(b); });
  moves = attempt(false);
  return moves ? moves : attempt(true);
}

void VariablePlaces::move(const std::vector<VariableMove>& moves) {
  for (const VariableMove& move : moves) sram_.release(slots_[move.index]->place.address);
  for (const VariableMove& move : moves) {
    VariableSlot& slot = *slots_[move.index];
    slot.place.address = move.address;
    NPU_CHECK(sram_.take(move.address, piece_bytes(slot.room, slot.place)));
  }
}

}  // namespace npu::runtime
