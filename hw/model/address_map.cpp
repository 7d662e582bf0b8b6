// SPDX-License-Identifier: Apache-2.0
#include "hw/model/address_map.h"

#include <algorithm>

namespace npu::model {

using contract::ErrorCode;
using contract::Space;
using contract::VariableFlag;
using engine::Access;
using Use = engine::VariableTable::Use;

void AddressMap::begin_job(const RegionTable& regions, const engine::VariableTable::Job& job) {
  regions_ = regions;
  job_ = job;
  ahead_.assign(ahead_.size(), false);
  in_dram_.clear();
  const engine::VariableTable& table = persistent_.table();
  for (uint32_t index = 0; index < table.entries(); ++index) {
    if (table.entry(index).length > 0 && table.has(index, VariableFlag::kInDram)) in_dram_.push_back(extent(index));
  }
}

AddressMap::Range AddressMap::extent(uint32_t index) const {
  const engine::VariablePlace one = persistent_.table().place(index, Use::kRead);
  const engine::VariablePlace other = persistent_.table().place(index, Use::kWrite);
  return {std::min(one.base, other.base), std::max(one.base, other.base) + one.length};
}

bool AddressMap::of_variable(uint64_t low, uint64_t high) const {
  return std::any_of(in_dram_.begin(), in_dram_.end(),
                     [&](const Range& range) { return low < range.high && range.low < high; });
}

// The table itself knows nothing of DRAM's size.
bool AddressMap::fits_in_dram(uint32_t index) const {
  if (index >= persistent_.table().entries() || !persistent_.table().has(index, VariableFlag::kInDram)) return true;
  return extent(index).high <= uint64_t{caps_.dram_mib} << 20;
}

Window AddressMap::variable_window(uint32_t index, Access access) const {
  ErrorCode error = persistent_.table().check_use(index, job_, access == Access::kRead ? Use::kRead : Use::kWrite);
  if (error == ErrorCode::kOk && !fits_in_dram(index)) error = ErrorCode::kFaultOutOfBounds;
  if (error != ErrorCode::kOk) return {error, Space::kNone, 0, 0};
  // Of two places, a write that was issued and is not done has swapped the roles.
  const bool written = (access == Access::kWrite) != ahead_[index];
  const engine::VariablePlace place = persistent_.table().place(index, written ? Use::kWrite : Use::kRead);
  return {ErrorCode::kOk, place.in_dram ? Space::kDram : Space::kPersistent, place.base, place.length};
}

Window AddressMap::window(const contract::Address& address, Access access) const {
  if (address.region == contract::Region::kVariable) return variable_window(address.variable, access);
  const auto index = static_cast<uint32_t>(address.region);
  if (index >= regions_.size()) return {ErrorCode::kFaultBadRegion, Space::kNone, 0, 0};
  const RegionEntry& region = regions_[index];
  uint64_t memory_bytes = 0;
  if (region.space == Space::kDram) memory_bytes = uint64_t{caps_.dram_mib} << 20;
  if (region.space == Space::kScratchpad) memory_bytes = caps_.spm_bytes;
  if (memory_bytes == 0 || region.base > memory_bytes || region.limit > memory_bytes - region.base) {
    return {ErrorCode::kFaultBadRegion, Space::kNone, 0, 0};
  }
  const bool allowed = access == Access::kRead ? region.readable : region.writable;
  return {allowed ? ErrorCode::kOk : ErrorCode::kFaultAccessRight, region.space, region.base, region.limit};
}

}  // namespace npu::model
