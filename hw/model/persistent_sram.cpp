#include "hw/model/persistent_sram.h"

#include <algorithm>

namespace npu::model {

using contract::VariableEntry;

namespace {

// Bits of VariableEntry::flags.
constexpr uint8_t kWritten = 1;
constexpr uint8_t kSeenValid = 2;

}  // namespace

PersistentSram::PersistentSram(const contract::Capabilities& caps)
    : entries_(caps.var_entries), port_bytes_(caps.psram_port_bytes), bytes_(caps.psram_bytes, 0), port_(1) {}

void PersistentSram::begin_job(uint16_t owner, uint8_t epoch) {
  port_.begin_job();
  for (uint32_t index = 0; index < entries_; ++index) {
    VariableEntry entry = this->entry(index);
    const auto age = static_cast<uint8_t>(epoch - entry.seen_epoch);
    if (entry.length == 0 || entry.owner != owner || (entry.flags & kSeenValid) == 0 || age < 128) continue;
    entry.flags &= static_cast<uint8_t>(~kSeenValid);
    store(index, entry);
  }
}

void PersistentSram::clear() { std::fill(bytes_.begin(), bytes_.end(), uint8_t{0}); }

VariableEntry PersistentSram::entry(uint32_t index) const {
  return VariableEntry::load(bytes_.data() + uint64_t{index} * VariableEntry::kBytes);
}

void PersistentSram::store(uint32_t index, const VariableEntry& entry) {
  entry.store(bytes_.data() + uint64_t{index} * VariableEntry::kBytes);
}

bool PersistentSram::seen(const VariableEntry& entry, uint8_t epoch) const {
  return (entry.flags & kSeenValid) != 0 && entry.seen_epoch == epoch;
}

bool PersistentSram::written(uint32_t index) const { return (entry(index).flags & kWritten) != 0; }

void PersistentSram::mark_seen(uint32_t index, uint8_t epoch) {
  VariableEntry entry = this->entry(index);
  entry.flags |= kSeenValid;
  entry.seen_epoch = epoch;
  store(index, entry);
}

void PersistentSram::mark_written(uint32_t index) {
  VariableEntry entry = this->entry(index);
  entry.flags |= kWritten;
  store(index, entry);
}

uint64_t PersistentSram::book(uint64_t start, uint64_t length, uint32_t port_cycles) {
  return port_.book(start, length, std::span(&port_cycles, 1));
}

}  // namespace npu::model
