#include "hw/engine/variable_table.h"

namespace npu::engine {

using contract::ErrorCode;
using contract::VariableEntry;

namespace {

// Bits of VariableEntry::flags.
constexpr uint8_t kWritten = 1;
constexpr uint8_t kSeenValid = 2;

bool seen(const VariableEntry& entry, uint8_t epoch) {
  return (entry.flags & kSeenValid) != 0 && entry.seen_epoch == epoch;
}

}  // namespace

VariableEntry VariableTable::entry(uint32_t index) const {
  return VariableEntry::load(memory_.data() + uint64_t{index} * VariableEntry::kBytes);
}

void VariableTable::store(uint32_t index, const VariableEntry& entry) {
  entry.store(memory_.data() + uint64_t{index} * VariableEntry::kBytes);
}

bool VariableTable::written(uint32_t index) const { return (entry(index).flags & kWritten) != 0; }

void VariableTable::mark_seen(uint32_t index, uint8_t epoch) {
  VariableEntry entry = this->entry(index);
  entry.flags |= kSeenValid;
  entry.seen_epoch = epoch;
  store(index, entry);
}

void VariableTable::mark_written(uint32_t index) {
  VariableEntry entry = this->entry(index);
  entry.flags |= kWritten;
  store(index, entry);
}

void VariableTable::forget_old_marks(const Job& job) {
  for (uint32_t index = 0; index < entries_; ++index) {
    VariableEntry entry = this->entry(index);
    const auto age = static_cast<uint8_t>(job.epoch - entry.seen_epoch);
    if (entry.length == 0 || entry.owner != job.owner || (entry.flags & kSeenValid) == 0 || age < 128) continue;
    entry.flags &= static_cast<uint8_t>(~kSeenValid);
    store(index, entry);
  }
}

ErrorCode VariableTable::check_place(uint32_t index, uint16_t owner) const {
  if (index >= entries_) return ErrorCode::kFaultBadRegion;
  const VariableEntry entry = this->entry(index);
  if (entry.length == 0) return ErrorCode::kFaultBadRegion;
  if (entry.owner != owner) return ErrorCode::kFaultAccessRight;
  if (entry.base < bytes() || uint64_t{entry.base} + entry.length > memory_.size()) return ErrorCode::kFaultOutOfBounds;
  return ErrorCode::kOk;
}

ErrorCode VariableTable::check_use(uint32_t index, const Job& job) const {
  const ErrorCode error = check_place(index, job.owner);
  if (error != ErrorCode::kOk) return error;
  return seen(entry(index), job.epoch) ? ErrorCode::kOk : ErrorCode::kVariableUndeclared;
}

ErrorCode VariableTable::check_entry(uint32_t index, uint32_t hash, const Job& job) const {
  const ErrorCode error = check_place(index, job.owner);
  if (error != ErrorCode::kOk) return error;
  const VariableEntry entry = this->entry(index);
  if (entry.hash != hash) return ErrorCode::kVariableMismatch;
  return seen(entry, job.epoch) ? ErrorCode::kVariableRedeclared : ErrorCode::kOk;
}

std::optional<uint32_t> VariableTable::overlapping(uint32_t index) const {
  const VariableEntry entry = this->entry(index);
  for (uint32_t other = 0; other < entries_; ++other) {
    const VariableEntry neighbour = this->entry(other);
    if (other == index || neighbour.length == 0) continue;
    if (neighbour.base < uint64_t{entry.base} + entry.length &&
        entry.base < uint64_t{neighbour.base} + neighbour.length) {
      return other;
    }
  }
  return std::nullopt;
}

ErrorCode VariableTable::check_declaration(uint32_t index, uint32_t hash, const Job& job) const {
  const ErrorCode error = check_entry(index, hash, job);
  if (error != ErrorCode::kOk) return error;
  return overlapping(index) ? ErrorCode::kFaultAccessRight : ErrorCode::kOk;
}

}  // namespace npu::engine
