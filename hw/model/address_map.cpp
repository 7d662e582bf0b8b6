#include "hw/model/address_map.h"

namespace npu::model {

using contract::ErrorCode;
using contract::Space;

Window AddressMap::window(const contract::Address& address, engine::Access access) const {
  if (address.region == contract::Region::kVariable) {
    const ErrorCode error = persistent_.table().check_use(address.variable, job_);
    if (error != ErrorCode::kOk) return {error, Space::kNone, 0, 0};
    const contract::VariableEntry entry = persistent_.table().entry(address.variable);
    return {ErrorCode::kOk, Space::kPersistent, entry.base, entry.length};
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

}  // namespace npu::model
