// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/advice.h"

#include <algorithm>
#include <bit>

#include "hw/contract/error.h"

namespace npu::contract {

const CapabilityInfo& find_capability(std::string_view name) {
  const auto* info = std::find_if(kCapabilities.begin(), kCapabilities.end(),
                                  [&](const CapabilityInfo& one) { return one.name == name; });
  NPU_CHECK(info != kCapabilities.end());
  return *info;
}

std::string smallest_machine(const std::vector<Need>& needs, std::string_view what) {
  std::string keys;
  for (const Need& need : needs) {
    const CapabilityInfo& info = find_capability(need.capability);
    if (need.amount > info.max) {
      return "no machine holds " + std::string(what) + ": that takes " + std::to_string(need.amount) + " of " +
             std::string(info.name) + ", which is at most " + std::to_string(info.max);
    }
    const uint64_t least = std::max<uint64_t>(need.amount, info.min);
    keys += (keys.empty() ? "" : " and ") + std::string(info.name) + ": " +
            std::to_string(info.power_of_two ? std::bit_ceil(least) : least);
  }
  return keys + " is the smallest machine that holds " + std::string(what);
}

}  // namespace npu::contract
