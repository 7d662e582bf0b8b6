// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/persistent_sram_contents.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace npu::cosim {

using contract::ErrorCode;
using contract::VariableEntry;
using Op = rtl::PersistentSram::Op;

namespace {

constexpr uint32_t kAllBytes = 0xff;     // of a word
constexpr uint32_t kMarkBytes = 0x0c00;  // of an entry: flags and seen_epoch

}  // namespace

void PersistentSramContents::clear() {
  std::fill(bytes_.begin(), bytes_.end(), uint8_t{0});
  std::fill(flips_.begin(), flips_.end(), Flips{});
  std::fill(compared_.begin(), compared_.end(), false);
}

void PersistentSramContents::inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t check_flips) {
  flips(row, lane).data ^= data_flips;
  flips(row, lane).check ^= check_flips;
}

uint32_t PersistentSramContents::wrong_bits(uint32_t row, uint32_t lane) const {
  const Flips& flips = flips_[uint64_t{row} * lanes() + lane];
  return static_cast<uint32_t>(std::popcount(flips.data) + std::popcount(flips.check));
}

PersistentSramContents::Result PersistentSramContents::access(const Access& access, Power power) {
  if (power != Power::kOn) return {ErrorCode::kFaultPower, {}, 0, false, 0};
  if (access.address >= sizes_.bytes) return {ErrorCode::kFaultOutOfBounds, {}, 0, false, 0};
  if (access.address < table_.bytes() && !access.privileged) return {ErrorCode::kFaultAccessRight, {}, 0, false, 0};
  const uint32_t row = access.address / sizes_.port_bytes;
  if (access.write && access.address < table_.bytes()) std::fill(compared_.begin(), compared_.end(), false);
  return access.write ? write(row, access.strobe, access.data) : read(row, access.strobe);
}

PersistentSramContents::Result PersistentSramContents::step(const Step& step, Power power) {
  if (power != Power::kOn) return {ErrorCode::kFaultPower, {}, 0, false, 0};
  return step.write ? write(step.row, step.strobe, step.data) : read(step.row, step.strobe);
}

// Words with a byte that is meant are looked at. One wrong bit is put right at once, which takes the next cycle.
PersistentSramContents::Result PersistentSramContents::read(uint32_t row, uint32_t strobe) {
  Result result;
  for (uint32_t lane = 0; lane < lanes(); ++lane) {
    if (of_word(strobe, lane) == 0) continue;
    if (wrong_bits(row, lane) == 2) result.failed |= 1u << lane;
    if (wrong_bits(row, lane) != 1) continue;
    flips(row, lane) = {};
    ++result.corrected;
  }
  result.late = result.corrected > 0;
  if (result.failed != 0) result.error = ErrorCode::kFaultEcc;
  const uint8_t* const first = bytes_.data() + uint64_t{row} * sizes_.port_bytes;
  if (result.error == ErrorCode::kOk) result.data.assign(first, first + sizes_.port_bytes);
  return result;
}

// Words that are replaced as a whole need not be right; the others are read first, and written in the next cycle. Two
// wrong bits in one of those: nothing is written.
PersistentSramContents::Result PersistentSramContents::write(uint32_t row, uint32_t strobe,
                                                             std::span<const uint8_t> data) {
  Result result;
  for (uint32_t lane = 0; lane < lanes(); ++lane) {
    if (of_word(strobe, lane) == 0 || of_word(strobe, lane) == kAllBytes) continue;
    if (wrong_bits(row, lane) == 2) result.failed |= 1u << lane;
    result.corrected += wrong_bits(row, lane);
    result.late = true;
  }
  if (result.failed != 0) return {ErrorCode::kFaultEcc, {}, 0, false, result.failed};
  for (uint32_t i = 0; i < sizes_.port_bytes; ++i) {
    if ((strobe >> i & 1) == 0) continue;
    bytes_[uint64_t{row} * sizes_.port_bytes + i] = data[i];
    flips(row, i / kWordBytes) = {};
  }
  return result;
}

uint32_t PersistentSramContents::row_of(uint32_t index) const {
  return index * static_cast<uint32_t>(VariableEntry::kBytes) / sizes_.port_bytes;
}

uint32_t PersistentSramContents::entry_of(uint32_t row, uint32_t words) const {
  return (row * lanes() + static_cast<uint32_t>(std::countr_zero(words))) * kWordBytes /
         static_cast<uint32_t>(VariableEntry::kBytes);
}

PersistentSramContents::Step PersistentSramContents::reading(uint32_t row) const {
  return {false, row, ~0u >> (32 - sizes_.port_bytes), {}};
}

std::vector<uint8_t> PersistentSramContents::table_copy() const {
  return {bytes_.begin(), bytes_.begin() + table_.bytes()};
}

PersistentSramContents::Step PersistentSramContents::marking(uint32_t row, uint32_t strobe,
                                                             const std::vector<uint8_t>& changed) const {
  const auto begin = changed.begin() + static_cast<int64_t>(row) * sizes_.port_bytes;
  return {true, row, strobe, {begin, begin + sizes_.port_bytes}};
}

// The marks of one entry, whatever they were.
PersistentSramContents::Step PersistentSramContents::marking_of(uint32_t index,
                                                                const std::vector<uint8_t>& changed) const {
  const uint32_t place = index * static_cast<uint32_t>(VariableEntry::kBytes) % sizes_.port_bytes;
  return marking(row_of(index), kMarkBytes << place, changed);
}

void PersistentSramContents::plan_begin(Plan& plan) const {
  std::vector<uint8_t> changed = table_copy();
  table_of(changed).forget_old_marks(job_);
  std::vector<uint32_t> left(table_rows());
  std::iota(left.begin(), left.end(), 0u);
  for (uint32_t row = 0; row < table_rows(); ++row) {
    uint32_t strobe = 0;
    for (uint32_t i = 0; i < sizes_.port_bytes; i += VariableEntry::kBytes) {
      const auto at = static_cast<int64_t>(row) * sizes_.port_bytes + i;
      const auto entry = changed.begin() + at;
      if (!std::equal(entry, entry + VariableEntry::kBytes, bytes_.begin() + at)) strobe |= kMarkBytes << i;
    }
    if (strobe == 0) continue;
    const size_t reads = row + 1 - left.front();
    plan.runs.push_back({left, reads, marking(row, strobe, changed)});
    left.erase(left.begin(), left.begin() + static_cast<int64_t>(reads));
    if (left.empty()) return;
  }
  plan.runs.push_back({left, left.size(), std::nullopt});
}

// The entry, then all rows for bytes that overlap, unless they were compared before, then the mark.
void PersistentSramContents::plan_declaration(const Operation& operation, Plan& plan) const {
  Run& run = plan.runs.front();
  const bool scans = !compared_[operation.index];
  for (uint32_t row = 0; scans && row < table_rows(); ++row) run.rows.push_back(row);
  plan.error = table_.check_entry(operation.index, operation.hash, job_);
  if (plan.error != ErrorCode::kOk) return;
  const std::optional<uint32_t> overlapping = scans ? table_.overlapping(operation.index) : std::nullopt;
  if (overlapping) {
    run.reads += row_of(*overlapping) + 1;
    plan.error = ErrorCode::kFaultAccessRight;
    return;
  }
  run.reads = run.rows.size();
  std::vector<uint8_t> changed = table_copy();
  table_of(changed).declare(operation.index, job_.epoch);
  plan.runs.front().write = marking_of(operation.index, changed);
}

ErrorCode PersistentSramContents::check(const Operation& operation) const {
  using Use = engine::VariableTable::Use;
  const Use use = operation.op == Op::kWriteBegin ? Use::kWrite : Use::kRead;
  const ErrorCode error = table_.check_use(operation.index, job_, use);
  if (error != ErrorCode::kOk) return error;
  const VariableEntry entry = table_.entry(operation.index);
  if (operation.low < 0 || operation.high > int64_t{entry.length}) return ErrorCode::kFaultOutOfBounds;
  return operation.op == Op::kCheckRead ? table_.check_content(operation.index, job_) : ErrorCode::kOk;
}

// The entry; a write that begins marks it unless one before has.
void PersistentSramContents::plan_check(const Operation& operation, Plan& plan) const {
  using Table = engine::VariableTable;
  plan.error = check(operation);
  if (plan.error != ErrorCode::kOk) return;
  const engine::VariablePlace place =
      table_.place(operation.index, operation.op == Op::kCheckRead ? Table::Use::kRead : Table::Use::kWrite);
  plan.place = {place.in_dram, place.base / (place.in_dram ? contract::kVariableDramUnit : 1)};
  if (operation.op != Op::kWriteBegin || table_.has(operation.index, contract::VariableFlag::kWriting)) return;
  std::vector<uint8_t> changed = table_copy();
  table_of(changed).begin_write(operation.index);
  plan.runs.front().write = marking_of(operation.index, changed);
}

void PersistentSramContents::plan_commit(const Operation& operation, Plan& plan) const {
  if (table_.entry(operation.index).length == 0) {
    plan.error = ErrorCode::kFaultBadRegion;
    return;
  }
  std::vector<uint8_t> changed = table_copy();
  table_of(changed).commit_write(operation.index);
  plan.runs.front().write = marking_of(operation.index, changed);
}

PersistentSramContents::Plan PersistentSramContents::plan(const Operation& operation, bool lost) {
  Plan plan;
  if (operation.op == Op::kBeginJob) {
    job_ = {operation.owner, operation.epoch};
    plan_begin(plan);
    return plan;
  }
  const bool declares = operation.op == Op::kDeclare;
  if (declares && lost) plan.error = ErrorCode::kPowerLost;
  if (plan.error == ErrorCode::kOk && operation.index >= sizes_.entries) plan.error = ErrorCode::kFaultBadRegion;
  if (plan.error != ErrorCode::kOk) return plan;

  plan.runs.push_back({{row_of(operation.index)}, 1, std::nullopt});
  if (declares) {
    plan_declaration(operation, plan);
  } else if (operation.op == Op::kCommit) {
    plan_commit(operation, plan);
  } else {
    plan_check(operation, plan);
  }
  return plan;
}

}  // namespace npu::cosim
