// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/variable_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::VariableEntry;
using contract::VariableFlag;

// What one check code of the persistent SRAM protects.
constexpr size_t kWordBytes = 8;

}  // namespace

bool is_torn(uint8_t flags) {
  return has(flags, VariableFlag::kTorn) ||
         (has(flags, VariableFlag::kWriting) && !has(flags, VariableFlag::kDoubleBuffered));
}

std::vector<VariableEntry> VariableValues::read_entries(std::span<const uint32_t> indices) {
  if (indices.empty()) return {};
  try {
    return table_.read_entries(indices);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kFaultEcc) throw;
  }
  std::vector<VariableEntry> entries;
  std::string names;
  for (const uint32_t index : indices) {
    try {
      entries.push_back(table_.read_entries({&index, 1}).front());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kFaultEcc) throw;
      places_.slot(index).damaged = true;
      suspect(index);
      names += (names.empty() ? "" : ", ") + graph::in_quotes(places_.slot(index).identity);
    }
  }
  if (names.empty()) return entries;
  throw Error(ErrorCode::kFaultEcc,
              fmt::format("the table entry of variable {} has two wrong bits in a word, so its contents are unknown; "
                          "clear it.",
                          names));
}

VariableEntries::Write VariableValues::entry(uint32_t index, uint8_t flags) const {
  const VariableSlot& slot = places_.slot(index);
  VariableEntries::Write write{index, {}};
  write.entry.base = static_cast<uint32_t>(slot.place.address / (slot.place.in_dram ? contract::kVariableDramUnit : 1));
  write.entry.length = slot.bytes;
  write.entry.owner = slot.owner;
  write.entry.hash = slot.hash;
  for (const VariableFlag flag : {VariableFlag::kInDram, VariableFlag::kDoubleBuffered, VariableFlag::kSeenValid}) {
    flags = without(flags, flag);
  }
  if (slot.place.in_dram) flags = with(flags, VariableFlag::kInDram);
  if (slot.place.double_buffered) flags = with(flags, VariableFlag::kDoubleBuffered);
  write.entry.flags = flags;
  return write;
}

void VariableValues::write_entries(std::span<const VariableEntries::Write> writes) {
  if (writes.empty()) return;
  table_.write_entries(writes);
  for (const VariableEntries::Write& write : writes) {
    doubtful_.erase(write.index);
    suspects_.erase(write.index);
  }
}

void VariableValues::write_entry(uint32_t index, uint8_t flags) {
  const VariableEntries::Write write = entry(index, flags);
  write_entries({&write, 1});
}

void VariableValues::settle() {
  if (doubtful_.empty()) return;
  std::vector<VariableEntries::Write> writes;
  for (const uint32_t index : doubtful_) writes.push_back({index, VariableEntry{}});
  table_.write_entries(writes);
  doubtful_.clear();
}

void VariableValues::mend_entries(const std::function<bool(uint16_t owner)>& is_quiet) {
  for (const uint32_t index : std::set<uint32_t>(suspects_)) {
    if (!places_.taken(index) || (is_quiet(places_.slot(index).owner) && entry_readable(index))) {
      suspects_.erase(index);
    } else if (is_quiet(places_.slot(index).owner)) {
      const uint8_t declared = with(static_cast<uint8_t>(VariableFlag::kIsWritten), VariableFlag::kDeclared);
      write_entry(index, with(declared, VariableFlag::kTorn));
      places_.slot(index).entry_lost = true;
    }
  }
}

bool VariableValues::entry_readable(uint32_t index) {
  try {
    static_cast<void>(table_.read_entries({&index, 1}));
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kFaultEcc) throw;
    return false;
  }
}

uint64_t VariableValues::address(uint32_t index, bool second) const {
  const VariableSlot& slot = places_.slot(index);
  return slot.place.address + (second ? places_.distance(slot.bytes, slot.place.in_dram) : 0);
}

uint32_t VariableValues::uncorrectable() { return hal_.read_register(contract::reg::kEccUncorrectable); }

// A host port has no better word for two wrong bits than its bus, which has other reasons, too.
bool VariableValues::is_memory_fault(const Error& error, uint32_t uncorrectable_before) {
  if (error.code() == ErrorCode::kFaultEcc) return true;
  return error.code() == ErrorCode::kFaultBus && uncorrectable() != uncorrectable_before;
}

std::vector<uint8_t> VariableValues::read(uint32_t index, uint8_t flags) {
  return read_place(index, places_.slot(index).place.double_buffered && has(flags, VariableFlag::kSecond));
}

void VariableValues::check_readable(uint32_t index) {
  static_cast<void>(read_entry(index));
  static_cast<void>(read_place(index, false));
  if (places_.slot(index).place.double_buffered) static_cast<void>(read_place(index, true));
}

std::vector<uint8_t> VariableValues::read_place(uint32_t index, bool second) {
  VariableSlot& slot = places_.slot(index);
  std::vector<uint8_t> bytes(slot.bytes);
  if (slot.place.in_dram) {
    hal_.read_memory(address(index, second), bytes);
    return bytes;
  }
  const uint32_t before = uncorrectable();
  try {
    hal_.read_window(Window::kPersistent, static_cast<uint32_t>(address(index, second)), bytes);
  } catch (const Error& error) {
    if (!is_memory_fault(error, before)) throw;
    slot.damaged = true;
    throw Error(
        ErrorCode::kFaultEcc,
        fmt::format("variable {} has a word with two wrong bits, so it cannot be read ({}); write it, clear it, "
                    "or restore a snapshot.",
                    graph::in_quotes(slot.identity), error.what()));
  }
  return bytes;
}

void VariableValues::write_at(const VariableSlot& slot, uint64_t address, std::span<const uint8_t> bytes) {
  if (slot.place.in_dram) {
    hal_.write_memory(address, bytes);
    return;
  }
  const auto offset = static_cast<uint32_t>(address);
  const bool whole_words = bytes.size() % kWordBytes == 0;
  if (whole_words || !slot.damaged) {
    const uint32_t before = uncorrectable();
    try {
      hal_.write_window(Window::kPersistent, offset, bytes);
      return;
    } catch (const Error& error) {
      if (whole_words || !is_memory_fault(error, before)) throw;
    }
  }
  // A word with two wrong bits can only be written whole. The bytes behind the last one are unused.
  std::vector<uint8_t> words(bytes.begin(), bytes.end());
  words.resize((bytes.size() + kWordBytes - 1) / kWordBytes * kWordBytes);
  hal_.write_window(Window::kPersistent, offset, words);
}

void VariableValues::write(uint32_t index, uint8_t flags, std::span<const uint8_t> bytes) {
  VariableSlot& slot = places_.slot(index);
  NPU_CHECK(bytes.size() == slot.bytes);
  bool second = has(flags, VariableFlag::kSecond);
  if (slot.place.double_buffered) second = !second;
  write_at(slot, address(index, slot.place.double_buffered && second), bytes);
  for (const VariableFlag flag : {VariableFlag::kWriting, VariableFlag::kTorn, VariableFlag::kSecond}) {
    flags = without(flags, flag);
  }
  flags = with(flags, VariableFlag::kIsWritten);
  write_entry(index, slot.place.double_buffered && second ? with(flags, VariableFlag::kSecond) : flags);
  if (slot.place.double_buffered && !slot.place.in_dram) mend_other(slot, address(index, !second));
  slot.damaged = slot.entry_lost = false;
}

// The place that is not current any more: what was wrong there would stop a later write of a part of a word.
void VariableValues::mend_other(VariableSlot& slot, uint64_t address) {
  const uint32_t count = uncorrectable();
  if (!slot.damaged && count == slot.uncorrectable) return;
  const std::vector<uint8_t> zeros(places_.distance(slot.bytes, false));
  hal_.write_window(Window::kPersistent, static_cast<uint32_t>(address), zeros);
  slot.uncorrectable = count;
}

void VariableValues::place(uint32_t index, std::span<const uint8_t> bytes) {
  VariableSlot& slot = places_.slot(index);
  if (slot.place.in_dram) {
    const uint64_t rest = places_.piece_bytes(slot.room, slot.place) - bytes.size();
    if (!bytes.empty()) hal_.write_memory(slot.place.address, bytes);
    if (rest > 0) hal_.fill_memory(slot.place.address + bytes.size(), rest, 0);
    return;
  }
  std::vector<uint8_t> piece(bytes.begin(), bytes.end());
  piece.resize(places_.sram().rounded(places_.piece_bytes(slot.room, slot.place)));
  hal_.write_window(Window::kPersistent, static_cast<uint32_t>(slot.place.address), piece);
  slot.damaged = false;
  if (slot.place.double_buffered) slot.uncorrectable = uncorrectable();
}

void VariableValues::mend(uint32_t index) {
  VariableSlot& slot = places_.slot(index);
  if (slot.damaged) place(index, {});
  slot.damaged = false;
}

}  // namespace npu::runtime
