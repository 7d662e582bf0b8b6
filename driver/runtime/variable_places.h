// SPDX-License-Identifier: Apache-2.0
// Which variable has which entry of the device's table, and which bytes of the persistent SRAM or of DRAM: books only,
// nothing here reaches the device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/runtime/range_allocator.h"
#include "driver/runtime/variable_sizes.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::runtime {

struct VariableStorage {
  bool in_dram = false;
  bool double_buffered = false;  // two places one behind the other, as flag double_buffered of the contract says
  uint64_t address = 0;          // of the first; in the persistent SRAM or DRAM
};

// An allocated variable.
struct VariableSlot {
  uint16_t owner = 0;
  std::string identity, tensor_name;
  graph::DType type = graph::DType::kUnknown;
  VariableSizes sizes;    // a size stays open until a job or the host brings it
  graph::Shape declared;  // the same without what those have brought
  uint32_t bytes = 0;     // of the shape, with the largest of open sizes
  uint32_t room = 0;      // bytes of the largest sizes, in each of its places
  uint32_t hash = 0;      // of type and shape
  VariableStorage place;
  // Its initial value (empty: none), while no job has declared it and it is not written.
  std::optional<std::vector<uint8_t>> untouched;
  // A program may declare it late (compiler::Variable::declared_late): while it is untouched, its entry says whether a
  // job has.
  bool late = false;
  bool written = false;  // by some program of the context
  bool damaged = false;  // a word of it, or its entry, has two wrong bits
  // Its entry had two wrong bits and was written anew, as torn; nothing has written the variable since.
  bool entry_lost = false;
  // With two places in the persistent SRAM: register ecc_uncorrectable when both were known to be right.
  uint32_t uncorrectable = 0;
  std::string last_writer;
  uint64_t invocations = 0;
};

// Changes them, and what follows from them.
void set_sizes(VariableSizes sizes, VariableSlot& slot);

// Another place in the persistent SRAM for a variable.
struct VariableMove {
  uint32_t index = 0;
  uint64_t address = 0;
};

class VariablePlaces {
 public:
  // `dram` is what others use too.
  VariablePlaces(const contract::Capabilities& caps, RangeAllocator& dram);

  // Entries. `index` is of an allocated variable.
  [[nodiscard]] VariableSlot& slot(uint32_t index) { return *slots_[index]; }
  [[nodiscard]] const VariableSlot& slot(uint32_t index) const { return *slots_[index]; }
  [[nodiscard]] bool taken(uint32_t index) const { return index < slots_.size() && slots_[index].has_value(); }
  [[nodiscard]] std::optional<uint32_t> find(uint16_t owner, std::string_view identity) const;
  [[nodiscard]] std::vector<uint32_t> of_owner(uint16_t owner) const;          // in order
  [[nodiscard]] std::vector<uint16_t> owners() const;                          // that have variables, in order
  [[nodiscard]] std::vector<std::string> identities_of(uint16_t owner) const;  // in order
  [[nodiscard]] uint32_t entries() const { return static_cast<uint32_t>(slots_.size()); }
  [[nodiscard]] uint32_t entries_used() const { return entries() - static_cast<uint32_t>(free_.size()); }
  [[nodiscard]] bool has_free_entry() const { return !free_.empty(); }
  // Takes the lowest free entry. The slot's place is allocated and becomes the entry's.
  uint32_t insert(VariableSlot slot);
  // Gives up entry and place.
  void erase(uint32_t index);
  void erase_all();

  // Bytes. Those between the beginnings of the two places, and of both together.
  [[nodiscard]] uint64_t distance(uint32_t bytes, bool in_dram) const;
  [[nodiscard]] uint64_t piece_bytes(uint32_t bytes, const VariableStorage& place) const;
  // Fills in the address; false when there is no such piece.
  [[nodiscard]] bool allocate(uint32_t bytes, VariableStorage& place);
  void release(uint32_t bytes, const VariableStorage& place);
  // Allocates just this; false when part of it is taken.
  [[nodiscard]] bool take(uint32_t bytes, const VariableStorage& place);
  // A variable's place becomes free and its slot has no owner, though its entry stays taken, until put() gives it back
  // with a place that is allocated.
  [[nodiscard]] VariableSlot lift(uint32_t index);
  void put(uint32_t index, VariableSlot slot);
  [[nodiscard]] const RangeAllocator& sram() const { return sram_; }
  [[nodiscard]] uint64_t table_bytes() const { return sram_begin_; }
  [[nodiscard]] uint64_t dram_used() const { return dram_used_; }

  // Where variables that may move have to go so that a piece of `bytes` becomes free in the persistent SRAM; nullopt:
  // that was not found possible. With all movable, it is found whenever as much is free in all.
  [[nodiscard]] std::optional<std::vector<VariableMove>> make_room(
      uint64_t bytes, const std::function<bool(const VariableSlot&)>& may_move) const;
  void move(const std::vector<VariableMove>& moves);

 private:
  uint64_t sram_begin_;
  uint32_t port_bytes_;
  RangeAllocator sram_;
  RangeAllocator& dram_;
  uint64_t dram_used_ = 0;
  std::vector<std::optional<VariableSlot>> slots_;  // by table index
  std::set<uint32_t> free_;
  std::map<uint16_t, std::map<std::string, uint32_t, std::less<>>> by_owner_;
};

}  // namespace npu::runtime
