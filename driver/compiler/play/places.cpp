// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/play/places.h"

#include <algorithm>
#include <utility>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/schedule/table_use.h"
#include "hw/contract/gen/accesses.h"

namespace npu::compiler::play {

Places::Places(std::span<const backend::Command> commands, uint64_t stream_bytes, std::span<const Variable> variables)
    : variables_(variables) {
  std::map<Key, uint64_t> ends;
  const auto note = [&](const contract::MemoryAccess& access) {
    if (!in_dram(access.base)) return;
    uint64_t bytes = access.run + static_cast<uint64_t>(std::max<int64_t>(access.first, 0));
    for (const contract::MemoryAccess::Dim& dim : access.dims) {
      bytes += (dim.count - 1) * static_cast<uint64_t>(std::max<int64_t>(dim.stride, 0));
    }
    uint64_t& end = ends[key_of(access.base)];
    end = std::max(end, access.base.offset + bytes);
  };
  for (const backend::Command& command : commands) {
    std::visit([&](const auto& body) { contract::for_each_access(body, note); }, command.body);
  }
  uint64_t base = 0;
  const auto place = [&](uint64_t bytes) { return std::exchange(base, base + DramNeeds::in_pages(bytes)); };
  const auto region = [&](contract::Region of) {
    const auto found = ends.find({of, 0});
    if (found != ends.end()) bases_[found->first] = place(found->second);
  };
  region(contract::Region::kConstants);
  stream_ = place(stream_bytes);
  for (const contract::Region of :
       {contract::Region::kWorkspace, contract::Region::kInput, contract::Region::kOutput}) {
    region(of);
  }
  for (const auto& [key, end] : ends) {
    if (!bases_.contains(key)) bases_[key] = place(end);
  }
}

Places::Key Places::key_of(const contract::Address& address) {
  return {address.region, address.region == contract::Region::kVariable ? address.variable : uint16_t{0}};
}

bool Places::in_dram(const contract::Address& address) const { return backend::is_dram(address, variables_); }

Channel::Place Places::of(const contract::Address& address) const {
  if (!in_dram(address)) return {false, address.offset, address.region == contract::Region::kVariable};
  return {true, bases_.at(key_of(address)) + address.offset};
}

}  // namespace npu::compiler::play
