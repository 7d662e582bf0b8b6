// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/variable_table.h"

#include <cstddef>

#include "hw/contract/gen/npu_contract.h"

namespace npu::engine {

using contract::ErrorCode;
using contract::VariableEntry;

using contract::VariableFlag;

namespace {

// Flags and seen_epoch lie in one row of the table, whatever the port.
constexpr uint32_t kMarks = offsetof(npu_variable_entry, flags);
static_assert(offsetof(npu_variable_entry, seen_epoch) / 8 == kMarks / 8);

bool has(const VariableEntry& entry, VariableFlag flag) { return (entry.flags & static_cast<uint8_t>(flag)) != 0; }
void set(VariableEntry& entry, VariableFlag flag) { entry.flags |= static_cast<uint8_t>(flag); }
void clear(VariableEntry& entry, VariableFlag flag) {
  entry.flags &= static_cast<uint8_t>(~static_cast<uint8_t>(flag));
}

bool seen(const VariableEntry& entry, uint8_t epoch) {
  return has(entry, VariableFlag::kSeenValid) && entry.seen_epoch == epoch;
}

// A write to the place that reads see has begun and not ended.
bool interrupted(const VariableEntry& entry) {
  return has(entry, VariableFlag::kWriting) && !has(entry, VariableFlag::kDoubleBuffered);
}

uint64_t base_of(const VariableEntry& entry) {
  return uint64_t{entry.base} * (has(entry, VariableFlag::kInDram) ? contract::kVariableDramUnit : 1);
}

}  // namespace

VariableEntry VariableTable::entry(uint32_t index) const {
  return VariableEntry::load(memory_.data() + uint64_t{index} * VariableEntry::kBytes);
}

void VariableTable::store(uint32_t index, const VariableEntry& entry) {
  entry.store(memory_.data() + uint64_t{index} * VariableEntry::kBytes);
}

bool VariableTable::has(uint32_t index, VariableFlag flag) const { return engine::has(entry(index), flag); }

uint64_t VariableTable::distance(const VariableEntry& entry) const {
  const uint64_t unit = engine::has(entry, VariableFlag::kInDram) ? contract::kVariableDramUnit : port_bytes_;
  return (entry.length + unit - 1) / unit * unit;
}

uint64_t VariableTable::extent(const VariableEntry& entry) const {
  return entry.length + (engine::has(entry, VariableFlag::kDoubleBuffered) ? distance(entry) : 0);
}

VariablePlace VariableTable::place(uint32_t index, Use use) const {
  const VariableEntry entry = this->entry(index);
  const bool current = engine::has(entry, VariableFlag::kSecond);
  const bool second = engine::has(entry, VariableFlag::kDoubleBuffered) && current == (use == Use::kRead);
  return {engine::has(entry, VariableFlag::kInDram), base_of(entry) + (second ? distance(entry) : 0), entry.length};
}

void VariableTable::declare(uint32_t index, uint8_t epoch) {
  VariableEntry entry = this->entry(index);
  if (interrupted(entry)) set(entry, VariableFlag::kTorn);
  clear(entry, VariableFlag::kWriting);
  set(entry, VariableFlag::kSeenValid);
  set(entry, VariableFlag::kDeclared);
  entry.seen_epoch = epoch;
  store(index, entry);
}

void VariableTable::begin_write(uint32_t index) {
  VariableEntry entry = this->entry(index);
  if (engine::has(entry, VariableFlag::kWriting)) return;
  set(entry, VariableFlag::kWriting);
  store(index, entry);
}

void VariableTable::commit_write(uint32_t index) {
  VariableEntry entry = this->entry(index);
  clear(entry, VariableFlag::kWriting);
  clear(entry, VariableFlag::kTorn);
  set(entry, VariableFlag::kIsWritten);
  if (engine::has(entry, VariableFlag::kDoubleBuffered)) entry.flags ^= static_cast<uint8_t>(VariableFlag::kSecond);
  store(index, entry);
}

std::vector<uint32_t> VariableTable::forget_old_marks(const Job& job, uint32_t entries) {
  std::vector<uint32_t> rows;
  for (uint32_t index = 0; index < entries; ++index) {
    VariableEntry entry = this->entry(index);
    const auto age = static_cast<uint8_t>(job.epoch - entry.seen_epoch);
    const bool marked = entry.length > 0 && entry.owner == job.owner && engine::has(entry, VariableFlag::kSeenValid);
    if (!marked || age < 128) continue;
    clear(entry, VariableFlag::kSeenValid);
    store(index, entry);
    const uint32_t here = (index * VariableEntry::kBytes + kMarks) / port_bytes_;
    if (rows.empty() || rows.back() != here) rows.push_back(here);
  }
  return rows;
}

ErrorCode VariableTable::check_place(uint32_t index, uint16_t owner) const {
  if (index >= entries_) return ErrorCode::kFaultBadRegion;
  const VariableEntry entry = this->entry(index);
  if (entry.length == 0) return ErrorCode::kFaultBadRegion;
  if (entry.owner != owner) return ErrorCode::kFaultAccessRight;
  if (engine::has(entry, VariableFlag::kInDram)) return ErrorCode::kOk;
  const bool inside = entry.base >= bytes() && entry.base + extent(entry) <= memory_.size();
  return inside ? ErrorCode::kOk : ErrorCode::kFaultOutOfBounds;
}

ErrorCode VariableTable::check_use(uint32_t index, const Job& job, Use use) const {
  const ErrorCode error = check_place(index, job.owner);
  if (error != ErrorCode::kOk) return error;
  const VariableEntry entry = this->entry(index);
  const bool declared = use == Use::kRead && engine::has(entry, VariableFlag::kDeclared);
  return declared || seen(entry, job.epoch) ? ErrorCode::kOk : ErrorCode::kVariableUndeclared;
}

ErrorCode VariableTable::check_content(uint32_t index, const Job& job) const {
  const VariableEntry entry = this->entry(index);
  if (!engine::has(entry, VariableFlag::kIsWritten)) return ErrorCode::kVariableUnwritten;
  const bool torn = engine::has(entry, VariableFlag::kTorn) || (interrupted(entry) && !seen(entry, job.epoch));
  return torn ? ErrorCode::kVariableTorn : ErrorCode::kOk;
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
    if (engine::has(neighbour, VariableFlag::kInDram) != engine::has(entry, VariableFlag::kInDram)) continue;
    if (base_of(neighbour) < base_of(entry) + extent(entry) &&
        base_of(entry) < base_of(neighbour) + extent(neighbour)) {
      return other;
    }
  }
  return std::nullopt;
}

}  // namespace npu::engine
