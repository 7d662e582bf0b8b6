#include "driver/runtime/variable_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::VariableEntry;

// Bits of VariableEntry::flags.
constexpr uint8_t kIsWritten = 1;
constexpr uint8_t kSeenValid = 2;

std::string type_and_shape(graph::DType type, const graph::Shape& shape) {
  return fmt::format("{}{}", graph::name(type), graph::to_string(shape));
}

}  // namespace

// A variable starts at a multiple of the port's width, so that it takes as few beats as its size allows.
VariableManager::VariableManager(Hal& hal, VariableTable& table, const contract::Capabilities& caps)
    : hal_(hal),
      table_(table),
      table_bytes_(uint64_t{caps.var_entries} * VariableEntry::kBytes),
      memory_(table_bytes_, caps.psram_bytes, caps.psram_port_bytes),
      slots_(caps.var_entries) {}

std::vector<uint32_t> VariableManager::declare(uint16_t owner, std::span<const compiler::Variable> variables,
                                               bool zero_init) {
  std::vector<uint32_t> indices, fresh;
  try {
    for (const compiler::Variable& variable : variables) {
      std::optional<uint32_t> index = index_of(owner, variable.identity);
      if (!index) {
        index = allocate(owner, variable, zero_init, variables);
        fresh.push_back(*index);
      }
      const Slot& slot = *slots_[*index];
      if (slot.type != variable.type || slot.shape != variable.shape) {
        throw Error(ErrorCode::kVariableMismatch,
                    fmt::format("variable {} is declared as {}, but this context already holds it as {}; clear it "
                                "first, or use another context.",
                                graph::in_quotes(variable.identity), type_and_shape(variable.type, variable.shape),
                                type_and_shape(slot.type, slot.shape)));
      }
      indices.push_back(*index);
    }
  } catch (...) {
    try {
      release(fresh);
    } catch (const std::exception&) {
      // Their places are free all the same; the first error tells more.
    }
    throw;
  }
  return indices;
}

uint32_t VariableManager::allocate(uint16_t owner, const compiler::Variable& variable, bool zero_init,
                                   std::span<const compiler::Variable> wanted) {
  const auto free_slot = std::find(slots_.begin(), slots_.end(), std::nullopt);
  if (free_slot == slots_.end()) throw_table_full(owner, variable, wanted);
  const std::optional<uint64_t> place = memory_.allocate(variable.bytes);
  if (!place) throw_persistent_full(owner, variable, wanted);

  ++generation_;
  const auto index = static_cast<uint32_t>(free_slot - slots_.begin());
  const auto offset = static_cast<uint32_t>(*place);
  *free_slot =
      Slot{owner, variable.identity, variable.tensor_name, variable.type, variable.shape, offset, variable.bytes};
  try {
    write_initial(index, variable, zero_init);
  } catch (...) {
    memory_.release(offset);
    free_slot->reset();
    throw;
  }
  return index;
}

void VariableManager::write_initial(uint32_t index, const compiler::Variable& variable, bool zero_init) {
  const Slot& slot = *slots_[index];
  VariableEntry entry;
  entry.base = slot.offset;
  entry.length = variable.bytes;
  entry.owner = slot.owner;
  entry.hash = variable.hash;
  if (!variable.initial.empty() || zero_init) {
    std::vector<uint8_t> initial = variable.initial;
    initial.resize(variable.bytes);
    hal_.write_window(Window::kPersistent, slot.offset, initial);
    entry.flags = kIsWritten;
  }
  const VariableTable::Write write{index, entry};
  table_.write_entries({&write, 1});
}

std::vector<const compiler::Variable*> VariableManager::missing(uint16_t owner,
                                                                std::span<const compiler::Variable> wanted) const {
  std::vector<const compiler::Variable*> result;
  for (const compiler::Variable& variable : wanted) {
    if (!index_of(owner, variable.identity)) result.push_back(&variable);
  }
  return result;
}

void VariableManager::throw_persistent_full(uint16_t owner, const compiler::Variable& variable,
                                            std::span<const compiler::Variable> wanted) const {
  uint64_t needed = table_bytes_ + memory_.used();
  for (const compiler::Variable* other : missing(owner, wanted)) needed += memory_.rounded(other->bytes);
  const bool fragmented = needed <= table_bytes_ + memory_.capacity();
  throw Error(ErrorCode::kPersistentFull,
              fmt::format("variable {} needs {} bytes of persistent SRAM, but only {} of {} are free in one piece ({} "
                          "variables take {}); {}.",
                          graph::in_quotes(variable.identity), variable.bytes, memory_.largest_free(),
                          memory_.capacity(), entries_used(), memory_.used(),
                          fragmented ? std::string("clear a context that is not needed any more")
                                     : fmt::format("psram_bytes: {} is the smallest machine that holds all of them, "
                                                   "or clear a context that is not needed any more",
                                                   std::bit_ceil(needed))));
}

void VariableManager::throw_table_full(uint16_t owner, const compiler::Variable& variable,
                                       std::span<const compiler::Variable> wanted) const {
  const uint64_t needed = entries_used() + missing(owner, wanted).size();
  throw Error(ErrorCode::kVariableTableFull,
              fmt::format("variable {} needs an entry of the variable table, but all {} are taken; var_entries: {} is "
                          "the smallest machine that holds all of them, or clear a context that is not needed any "
                          "more.",
                          graph::in_quotes(variable.identity), slots_.size(), std::bit_ceil(needed)));
}

bool VariableManager::clear(uint16_t owner, std::string_view identity) {
  const std::optional<uint32_t> index = index_of(owner, identity);
  if (index) release({&*index, 1});
  return index.has_value();
}

void VariableManager::clear_all(uint16_t owner) { release(indices_of(owner)); }

void VariableManager::forget_all() {
  ++generation_;
  std::fill(slots_.begin(), slots_.end(), std::nullopt);
  memory_.release_all();
}

void VariableManager::release(std::span<const uint32_t> indices) {
  ++generation_;
  std::vector<VariableTable::Write> writes;
  for (const uint32_t index : indices) {
    memory_.release(slots_[index]->offset);
    slots_[index].reset();
    writes.push_back({index, VariableEntry{}});
  }
  if (!writes.empty()) table_.write_entries(writes);
}

std::vector<uint32_t> VariableManager::indices_of(uint16_t owner) const {
  std::vector<uint32_t> indices;
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index] && slots_[index]->owner == owner) indices.push_back(index);
  }
  return indices;
}

std::vector<VariableInfo> VariableManager::list(uint16_t owner) const {
  const std::vector<uint32_t> indices = indices_of(owner);
  if (indices.empty()) return {};
  const std::vector<VariableEntry> entries = table_.read_entries(indices);
  std::vector<VariableInfo> result;
  for (size_t i = 0; i < indices.size(); ++i) result.push_back(info(indices[i], entries[i]));
  return result;
}

std::optional<VariableInfo> VariableManager::find(uint16_t owner, std::string_view identity) const {
  const std::optional<uint32_t> index = index_of(owner, identity);
  if (!index) return std::nullopt;
  return info(*index, read_entry(*index));
}

std::string VariableManager::identity_of(uint32_t index) const {
  if (index < slots_.size() && slots_[index]) return slots_[index]->identity;
  return fmt::format("(free table entry {})", index);
}

std::vector<uint8_t> VariableManager::read(uint32_t index) const {
  std::vector<uint8_t> bytes(slots_[index]->bytes);
  hal_.read_window(Window::kPersistent, slots_[index]->offset, bytes);
  return bytes;
}

void VariableManager::write(uint32_t index, std::span<const uint8_t> bytes, std::string_view writer) {
  Slot& slot = *slots_[index];
  VariableTable::Write write{index, read_entry(index)};
  if (bytes.empty()) {
    write.entry.flags &= static_cast<uint8_t>(~kIsWritten);
  } else {
    NPU_CHECK(bytes.size() == slot.bytes);
    hal_.write_window(Window::kPersistent, slot.offset, bytes);
    write.entry.flags |= kIsWritten;
  }
  table_.write_entries({&write, 1});
  slot.last_writer = writer;
}

void VariableManager::count_invocation(std::span<const uint32_t> indices,
                                       std::span<const compiler::Variable> variables) {
  for (size_t i = 0; i < indices.size(); ++i) {
    Slot& slot = *slots_[indices[i]];
    ++slot.invocations;
    if (!variables[i].writer.empty()) slot.last_writer = variables[i].writer;
  }
}

void VariableManager::forget_seen(uint16_t owner) {
  const std::vector<uint32_t> indices = indices_of(owner);
  if (indices.empty()) return;
  const std::vector<VariableEntry> entries = table_.read_entries(indices);
  std::vector<VariableTable::Write> writes;
  for (size_t i = 0; i < indices.size(); ++i) {
    writes.push_back({indices[i], entries[i]});
    writes.back().entry.flags &= static_cast<uint8_t>(~kSeenValid);
  }
  table_.write_entries(writes);
}

uint32_t VariableManager::entries_used() const {
  return static_cast<uint32_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) { return slot.has_value(); }));
}

std::optional<uint32_t> VariableManager::index_of(uint16_t owner, std::string_view identity) const {
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    const std::optional<Slot>& slot = slots_[index];
    if (slot && slot->owner == owner && slot->identity == identity) return index;
  }
  return std::nullopt;
}

VariableInfo VariableManager::info(uint32_t index, const VariableEntry& entry) const {
  const Slot& slot = *slots_[index];
  const bool is_written = (entry.flags & kIsWritten) != 0;
  return {slot.identity, slot.tensor_name, slot.type,        slot.shape,      slot.bytes, slot.offset,
          index,         is_written,       slot.last_writer, slot.invocations};
}

VariableEntry VariableManager::read_entry(uint32_t index) const { return table_.read_entries({&index, 1}).front(); }

}  // namespace npu::runtime
