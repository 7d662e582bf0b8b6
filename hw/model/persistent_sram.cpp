// SPDX-License-Identifier: Apache-2.0
#include "hw/model/persistent_sram.h"

#include <algorithm>

#include "hw/timing/crossbar.h"

namespace npu::model {

static_assert(Ecc::kWordBytes == timing::Crossbar::kCodeBytes);

PersistentSram::PersistentSram(const contract::Capabilities& caps)
    : port_bytes_(caps.psram_port_bytes), bytes_(caps.psram_bytes, 0), table_(bytes_, caps.var_entries, port_bytes_) {}

PersistentSram::Begun PersistentSram::begin_job(const engine::VariableTable::Job& job) {
  if (const auto wrong = read_table()) return {0, wrong};
  return {table_.forget_old_marks(job), std::nullopt};
}

void PersistentSram::clear() {
  std::fill(bytes_.begin(), bytes_.end(), uint8_t{0});
  ecc_.clear();
}

void PersistentSram::reset() {
  clear();
  ecc_.reset();
  power_ = Power::kOn;
  lost_ = powerless_ = false;
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
  return clears;
}

std::optional<uint32_t> PersistentSram::read_entries(uint64_t low, uint64_t high) {
  const auto wrong = ecc_.read(low, high);
  if (!wrong) return std::nullopt;
  return static_cast<uint32_t>(*wrong / contract::VariableEntry::kBytes);
}

std::optional<uint32_t> PersistentSram::read_table() {
  return ecc_.clean() ? std::nullopt : read_entries(0, table_.bytes());
}

std::optional<uint32_t> PersistentSram::read_row_of(uint32_t index) {
  if (ecc_.clean()) return std::nullopt;
  const uint64_t low = uint64_t{index} * contract::VariableEntry::kBytes;
  const uint64_t row = low / port_bytes_ * port_bytes_;
  const uint64_t end = std::max<uint64_t>(row + port_bytes_, low + contract::VariableEntry::kBytes);
  return read_entries(row, std::min<uint64_t>(end, table_.bytes()));
}

std::optional<uint64_t> PersistentSram::read(const ByteSet& bytes) {
  std::optional<uint64_t> wrong;
  if (ecc_.clean()) return wrong;
  bytes.for_each_run([&](uint64_t low, uint64_t high) { return !(wrong = ecc_.read(low, high)); });
  return wrong;
}

std::optional<uint64_t> PersistentSram::read_edges(const ByteSet& bytes) {
  std::optional<uint64_t> wrong;
  if (ecc_.clean()) return wrong;
  bytes.for_each_run([&](uint64_t low, uint64_t high) { return !(wrong = ecc_.read_edges(low, high)); });
  return wrong;
}

void PersistentSram::wrote(const ByteSet& bytes) {
  if (ecc_.clean()) return;
  bytes.for_each_run([&](uint64_t low, uint64_t high) {
    ecc_.wrote(low, high);
    return true;
  });
}

}  // namespace npu::model
