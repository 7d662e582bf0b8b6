// SPDX-License-Identifier: Apache-2.0
#include "hw/model/persistent_sram.h"

#include <algorithm>
#include <cstring>

#include "hw/contract/error.h"
#include "hw/timing/crossbar.h"

namespace npu::model {

using contract::ErrorCode;
using contract::VariableEntry;
using engine::TableOp;

static_assert(Ecc::kWordBytes == timing::Crossbar::kCodeBytes);

PersistentSram::PersistentSram(const contract::Capabilities& caps, std::unique_ptr<engine::PersistentBackEnd> back_end)
    : accesses_(timing::TableAccesses::of(caps)),
      port_bytes_(caps.psram_port_bytes),
      bytes_(caps.psram_bytes, 0),
      ecc_(port_bytes_),
      table_(bytes_, caps.var_entries, port_bytes_),
      compared_(caps.var_entries, false),
      back_end_(std::move(back_end)) {
  if (back_end_) back_end_->connect(bytes_);
}

// --- Power

void PersistentSram::clear() {
  std::fill(bytes_.begin(), bytes_.end(), uint8_t{0});
  ecc_.clear();
  place(0);
}

void PersistentSram::reset() {
  clear();
  ecc_.reset();
  power_ = Power::kOn;
  lost_ = powerless_ = false;
  if (back_end_) back_end_->reset();
}

bool PersistentSram::set_power(Power power) {
  power_ = power;
  if (power == Power::kOff) {
    clear();
    lost_ = powerless_ = true;
  }
  const bool clears = power == Power::kOn && powerless_;
  if (clears) {
    powerless_ = false;
    clear();  // what was done to words meanwhile is written over
  }
  if (back_end_) back_end_->set_power(power);
  look();
  return clears;
}

engine::PersistentStatus PersistentSram::status() {
  const engine::PersistentStatus own = {lost_, ecc_.corrected()};
  return back_end_ ? back_end_->status(own) : own;
}

void PersistentSram::acknowledge_loss() {
  lost_ = false;
  if (back_end_) back_end_->acknowledge_loss();
}

// --- The bytes

// A job cannot go on beside a back end that has failed.
void PersistentSram::look() {
  if (back_end_ && back_end_->failure() != ErrorCode::kOk && failed_) failed_(back_end_->failure());
}

std::optional<uint64_t> PersistentSram::read(uint64_t low, uint64_t high, bool host) {
  if (low == high) return std::nullopt;
  std::optional<uint64_t> wrong = ecc_.read(low, high);
  if (back_end_) wrong = back_end_->read(low, high, host, wrong);
  return wrong;
}

std::optional<uint64_t> PersistentSram::read(const ByteSet& bytes) {
  std::optional<uint64_t> wrong;
  if (idle()) return wrong;
  bytes.for_each_run([&](uint64_t low, uint64_t high) { return !(wrong = read(low, high, false)); });
  look();
  return wrong;
}

// The words that keep some of their bytes.
std::optional<uint64_t> PersistentSram::read_edges(uint64_t low, uint64_t high, bool host) {
  if (low == high) return std::nullopt;
  if (low % Ecc::kWordBytes != 0) {
    if (const auto wrong = read(low, low + 1, host)) return wrong;
  }
  return high % Ecc::kWordBytes != 0 ? read(high - 1, high, host) : std::nullopt;
}

std::optional<uint64_t> PersistentSram::read_edges(const ByteSet& bytes) {
  std::optional<uint64_t> wrong;
  if (idle()) return wrong;
  bytes.for_each_run([&](uint64_t low, uint64_t high) { return !(wrong = read_edges(low, high, false)); });
  look();
  return wrong;
}

void PersistentSram::place(uint64_t low) {
  if (low < table_.bytes()) std::fill(compared_.begin(), compared_.end(), false);
}

void PersistentSram::wrote(uint64_t low, uint64_t high, bool host) {
  ecc_.wrote(low, high);
  if (low != high) place(low);
  if (!back_end_ || low == high) return;
  // Bits of the first or last word may have flipped since it was looked at.
  if (ecc_.right(low, high)) {
    back_end_->write(low, high, host);
  } else {
    left(low, high);
  }
}

void PersistentSram::wrote(const ByteSet& bytes) {
  if (idle()) return;
  bytes.for_each_run([&](uint64_t low, uint64_t high) {
    wrote(low, high, false);
    return true;
  });
  look();
}

void PersistentSram::left(uint64_t low, uint64_t high) {
  if (low != high) place(low);
  if (back_end_ && low != high) back_end_->put(low, high, ecc_.wrong_words(low, high));
}

void PersistentSram::left(const ByteSet& bytes) {
  if (!back_end_) return;
  bytes.for_each_run([&](uint64_t low, uint64_t high) {
    left(low, high);
    return true;
  });
}

void PersistentSram::debug_wrote(uint64_t low, uint64_t high) {
  ecc_.wrote(low, high);
  left(low, high);
}

void PersistentSram::replace(uint64_t low, std::span<const uint8_t> value) {
  const uint64_t high = low + value.size();
  const bool right = ecc_.right(low, high);
  if (!right) ecc_.replace(low, high);
  std::memcpy(bytes_.data() + low, value.data(), value.size());
  if (right) {
    wrote(low, high, true);
  } else {
    left(low, high);
  }
}

void PersistentSram::refuse(uint64_t address) {
  if (back_end_) back_end_->refuse(address);
}

void PersistentSram::flip(uint64_t word, uint32_t bit) {
  ecc_.flip(word, bit);
  if (back_end_) back_end_->flip(word, bit);
}

void PersistentSram::scrub() {
  const uint32_t failed = ecc_.scrub();
  if (back_end_) back_end_->scrub(failed);
}

// --- The table. Row by row: what stops an operation stops it at its row.

std::optional<uint32_t> PersistentSram::read_entries(uint64_t low, uint64_t high) {
  const auto wrong = ecc_.read(low, high);
  if (!wrong) return std::nullopt;
  return static_cast<uint32_t>(*wrong / VariableEntry::kBytes);
}

std::optional<uint32_t> PersistentSram::read_row_of(uint32_t index) {
  if (ecc_.clean()) return std::nullopt;
  const uint64_t low = uint64_t{index} * VariableEntry::kBytes;
  const uint64_t row = low / port_bytes_ * port_bytes_;
  const uint64_t end = std::max<uint64_t>(row + port_bytes_, low + VariableEntry::kBytes);
  return read_entries(row, std::min<uint64_t>(end, table_.bytes()));
}

std::vector<uint32_t> PersistentSram::wrong_rows(uint32_t first, uint32_t end) const {
  std::vector<uint32_t> rows;
  if (ecc_.clean()) return rows;
  const uint64_t bytes = port_bytes_;
  for (const engine::WrongWord& word : ecc_.wrong_words(first * bytes, end * bytes)) {
    const auto row = static_cast<uint32_t>(word.word * Ecc::kWordBytes / port_bytes_);
    if (rows.empty() || rows.back() != row) rows.push_back(row);
  }
  return rows;
}

// A row that is corrected holds up the next one that is read, by a cycle; so many rows are `corrected`.
PersistentSram::Verdict PersistentSram::ask(const engine::TableRequest& request, const Verdict& own,
                                            const timing::TableOperation& operation, uint64_t corrected) {
  if (!back_end_) return own;
  const engine::TableAnswer answer =
      back_end_->operate(request, {own.error, own.entry, timing::table_cycles(operation) + corrected});
  look();
  return {answer.error, answer.entry};
}

PersistentSram::Begun PersistentSram::begin_job(const Job& job) {
  job_ = job;
  Begun begun;
  const auto last = static_cast<uint32_t>(accesses_.rows - 1);
  const std::vector<uint32_t> corrected = wrong_rows(0, last);
  const auto wrong = ecc_.clean() ? std::nullopt : read_entries(0, table_.bytes());
  const uint32_t slots = std::max<uint32_t>(1, port_bytes_ / VariableEntry::kBytes);
  begun.cleared = table_.forget_old_marks(job, wrong ? *wrong / slots * slots : table_.entries());
  if (wrong) begun.verdict = {ErrorCode::kFaultEcc, *wrong};
  const auto holds_up = [&](uint32_t row) {  // what is written next has waited for its answer
    return !std::binary_search(begun.cleared.begin(), begun.cleared.end(), row);
  };
  begun.verdict = ask({TableOp::kBeginJob, 0, 0, 0, 0, job}, begun.verdict, accesses_.begin_job(begun.cleared),
                      static_cast<uint64_t>(std::count_if(corrected.begin(), corrected.end(), holds_up)));
  static_cast<void>(status());
  look();
  return begun;
}

// Of those that it reads, all but the last one hold up the next.
uint64_t PersistentSram::corrected_by_declaration(uint32_t index) const {
  if (ecc_.clean() || compared(index) || index >= table_.entries()) return 0;
  const auto last = static_cast<uint32_t>(accesses_.rows - 1);
  const auto own = static_cast<uint32_t>(index * VariableEntry::kBytes / port_bytes_);
  return wrong_rows(0, last).size() + (own == last ? wrong_rows(last, last + 1).size() : 0);
}

PersistentSram::Verdict PersistentSram::declaration(uint32_t index, uint32_t hash) {
  if (lost_) return {ErrorCode::kPowerLost};
  if (index >= table_.entries()) return {ErrorCode::kFaultBadRegion};
  if (const auto wrong = read_row_of(index)) return {ErrorCode::kFaultEcc, *wrong};
  if (const ErrorCode error = table_.check_entry(index, hash, job_); error != ErrorCode::kOk) return {error};
  if (compared(index)) return {};
  const auto other = table_.overlapping(index);
  const uint64_t end =
      other ? (uint64_t{*other} * VariableEntry::kBytes / port_bytes_ + 1) * port_bytes_ : table_.bytes();
  if (const auto wrong = read_entries(0, std::min<uint64_t>(end, table_.bytes())))
    return {ErrorCode::kFaultEcc, *wrong};
  return {other ? ErrorCode::kFaultAccessRight : ErrorCode::kOk};
}

PersistentSram::Verdict PersistentSram::declare(uint32_t index, uint32_t hash, bool fits) {
  const timing::TableOperation operation = accesses_.declare(compared(index));
  const uint64_t corrected = corrected_by_declaration(index);
  const Verdict own = declaration(index, hash);
  if (own.ok() && !fits) return {ErrorCode::kFaultOutOfBounds};
  if (own.ok()) {
    table_.declare(index, job_.epoch);
    compared_[index] = true;
  }
  return ask({TableOp::kDeclare, index, hash, 0, 0, job_}, own, operation, corrected);
}

PersistentSram::Verdict PersistentSram::use(uint32_t index, engine::VariableTable::Use use, int64_t low,
                                            int64_t high) const {
  const ErrorCode error = table_.check_use(index, job_, use);
  if (error != ErrorCode::kOk) return {error};
  const bool inside = low >= 0 && high <= int64_t{table_.entry(index).length};
  return {inside ? ErrorCode::kOk : ErrorCode::kFaultOutOfBounds};
}

PersistentSram::Verdict PersistentSram::check(uint32_t index, int64_t low, int64_t high) {
  Verdict own;
  const auto wrong = index < table_.entries() ? read_row_of(index) : std::nullopt;
  own = wrong ? Verdict{ErrorCode::kFaultEcc, *wrong} : use(index, engine::VariableTable::Use::kRead, low, high);
  return ask({TableOp::kCheck, index, 0, low, high, job_}, own, accesses_.check());
}

PersistentSram::Verdict PersistentSram::check_read(uint32_t index, int64_t low, int64_t high) {
  const auto wrong = read_row_of(index);
  Verdict own =
      wrong ? Verdict{ErrorCode::kFaultEcc, *wrong} : use(index, engine::VariableTable::Use::kRead, low, high);
  if (own.ok()) own.error = table_.check_content(index, job_);
  return ask({TableOp::kCheckRead, index, 0, low, high, job_}, own, accesses_.check());
}

PersistentSram::Verdict PersistentSram::begin_write(uint32_t index, int64_t low, int64_t high) {
  const auto wrong = read_row_of(index);
  const Verdict own =
      wrong ? Verdict{ErrorCode::kFaultEcc, *wrong} : use(index, engine::VariableTable::Use::kWrite, low, high);
  const bool marked = table_.has(index, contract::VariableFlag::kWriting);
  if (own.ok()) table_.begin_write(index);
  return ask({TableOp::kWriteBegin, index, 0, low, high, job_}, own,
             marked ? accesses_.check() : accesses_.begin_write());
}

PersistentSram::Verdict PersistentSram::commit_write(uint32_t index) {
  const auto wrong = read_row_of(index);
  const bool free = table_.entry(index).length == 0;
  const Verdict own = wrong  ? Verdict{ErrorCode::kFaultEcc, *wrong}
                      : free ? Verdict{ErrorCode::kFaultBadRegion}
                             : Verdict{};
  if (own.ok()) table_.commit_write(index);
  return ask({TableOp::kCommit, index, 0, 0, 0, job_}, own, accesses_.commit());
}

}  // namespace npu::model
