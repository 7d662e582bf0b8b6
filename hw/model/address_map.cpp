#include "hw/model/address_map.h"

namespace npu::model {

using contract::ErrorCode;
using contract::Space;
using contract::VariableEntry;

Window AddressMap::window(const contract::Address& address, engine::Access access) const {
  if (address.region == contract::Region::kVariable) {
    Window window = variable_window(address.variable);
    if (window.error == ErrorCode::kOk && !persistent_.seen(persistent_.entry(address.variable), epoch_)) {
      window.error = ErrorCode::kVariableUndeclared;
    }
    return window;
  }
  const auto index = static_cast<uint32_t>(address.region);
  if (index >= regions_.size()) return {ErrorCode::kFaultBadRegion, Space::kNone, 0, 0};
  const RegionEntry& region = regions_[index];
  uint64_t memory_bytes = 0;
  if (region.space == Space::kDram) memory_bytes = uint64_t{caps_.dram_mib} << 20;
  if (region.space == Space::kScratchpad) memory_bytes = caps_.spm_bytes;
  if (memory_bytes == 0 || region.base > memory_bytes || region.limit > memory_bytes - region.base) {
    return {ErrorCode::kFaultBadRegion, Space::kNone, 0, 0};
  }
  const bool allowed = access == engine::Access::kRead ? region.readable : region.writable;
  return {allowed ? ErrorCode::kOk : ErrorCode::kFaultAccessRight, region.space, region.base, region.limit};
}

Window AddressMap::variable_window(uint32_t index) const {
  if (index >= caps_.var_entries) return {ErrorCode::kFaultBadRegion, Space::kNone, 0, 0};
  const VariableEntry entry = persistent_.entry(index);
  if (entry.length == 0) return {ErrorCode::kFaultBadRegion, Space::kNone, 0, 0};
  if (entry.owner != owner_) return {ErrorCode::kFaultAccessRight, Space::kNone, 0, 0};
  if (entry.base < persistent_.table_bytes() || uint64_t{entry.base} + entry.length > caps_.psram_bytes) {
    return {ErrorCode::kFaultOutOfBounds, Space::kNone, 0, 0};
  }
  return {ErrorCode::kOk, Space::kPersistent, entry.base, entry.length};
}

ErrorCode AddressMap::check_declaration(uint32_t index, uint32_t hash) const {
  const Window window = variable_window(index);
  if (window.error != ErrorCode::kOk) return window.error;
  const VariableEntry entry = persistent_.entry(index);
  if (entry.hash != hash) return ErrorCode::kVariableMismatch;
  if (persistent_.seen(entry, epoch_)) return ErrorCode::kVariableRedeclared;
  for (uint32_t other = 0; other < caps_.var_entries; ++other) {
    const VariableEntry neighbour = persistent_.entry(other);
    if (other == index || neighbour.length == 0) continue;
    if (neighbour.base < window.base + window.limit && window.base < uint64_t{neighbour.base} + neighbour.length) {
      return ErrorCode::kFaultAccessRight;
    }
  }
  return ErrorCode::kOk;
}

}  // namespace npu::model
