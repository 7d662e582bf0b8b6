// SPDX-License-Identifier: Apache-2.0
// What variables hold, and what their entries of the device's table say. A variable is named where its memory cannot be
// read.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/runtime/link.h"
#include "driver/runtime/variable_places.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"

namespace npu::runtime {

[[nodiscard]] inline bool has(uint8_t flags, contract::VariableFlag flag) {
  return (flags & static_cast<uint8_t>(flag)) != 0;
}
[[nodiscard]] inline uint8_t with(uint8_t flags, contract::VariableFlag flag) {
  return static_cast<uint8_t>(flags | static_cast<uint8_t>(flag));
}
[[nodiscard]] inline uint8_t without(uint8_t flags, contract::VariableFlag flag) {
  return static_cast<uint8_t>(flags & ~static_cast<uint8_t>(flag));
}

// Was a write of it interrupted, so that its content is neither old nor new? With no job of its context in flight.
[[nodiscard]] bool is_torn(uint8_t flags);

class VariableValues {
 public:
  VariableValues(Hal& hal, VariableEntries& table, VariablePlaces& places)
      : hal_(hal), table_(table), places_(places) {}

  // Entries of allocated variables. Throws Error(kFaultEcc) naming those with two wrong bits.
  [[nodiscard]] std::vector<contract::VariableEntry> read_entries(std::span<const uint32_t> indices);
  [[nodiscard]] contract::VariableEntry read_entry(uint32_t index) { return read_entries({&index, 1}).front(); }
  // What the entry of a variable is with these flags; those that tell its place are added. It counts as not declared in
  // any execution that runs, so no job of its context is in flight.
  [[nodiscard]] VariableEntries::Write entry(uint32_t index, uint8_t flags) const;
  void write_entries(std::span<const VariableEntries::Write> writes);
  void write_entry(uint32_t index, uint8_t flags);
  // The entry is free, but the device does not know that, or what it holds is damaged: until settle() writes it.
  void doubt(uint32_t index) { doubtful_.insert(index); }
  void forget_doubts() {
    doubtful_.clear();
    suspects_.clear();
  }
  void settle();
  // The entry of a variable may have two wrong bits: until mend_entries() has looked.
  void suspect(uint32_t index) { suspects_.insert(index); }
  // Every job of every context reads all entries, so that one with two wrong bits stops them all. Such an entry is
  // written anew, from the books; what only it knew of the content is gone, so the variable is torn. Waits with
  // variables of contexts that are not quiet.
  void mend_entries(const std::function<bool(uint16_t owner)>& is_quiet);

  // What the variable holds, by its entry. Throws Error(kFaultEcc) naming the variable.
  [[nodiscard]] std::vector<uint8_t> read(uint32_t index, uint8_t flags);
  // A content and an entry that says that it is written, in this order. With double_buffered what it had stays until
  // the entry is written.
  void write(uint32_t index, uint8_t flags, std::span<const uint8_t> bytes);
  // To its first place, which was free; the entry is not written. All of its memory is written, the rest with
  // zeros: a context must not see what others had there, and it is unknown which words of free memory are wrong.
  void place(uint32_t index, std::span<const uint8_t> bytes);
  // Throws Error(kFaultEcc) naming the variable when its entry, or one of its places, cannot be read.
  void check_readable(uint32_t index);
  // Makes all of its memory readable again.
  void mend(uint32_t index);

 private:
  [[nodiscard]] uint64_t address(uint32_t index, bool second) const;
  // Words that the device found with two wrong bits, since a cold reset.
  [[nodiscard]] uint32_t uncorrectable();
  // Does the error of an access say that two bits of a word are wrong?
  [[nodiscard]] bool is_memory_fault(const Error& error, uint32_t uncorrectable_before);
  [[nodiscard]] std::vector<uint8_t> read_place(uint32_t index, bool second);
  [[nodiscard]] bool entry_readable(uint32_t index);
  void mend_other(VariableSlot& slot, uint64_t address);
  void write_at(const VariableSlot& slot, uint64_t address, std::span<const uint8_t> bytes);

  Hal& hal_;
  VariableEntries& table_;
  VariablePlaces& places_;
  std::set<uint32_t> doubtful_, suspects_;
};

}  // namespace npu::runtime
