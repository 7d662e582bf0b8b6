// SPDX-License-Identifier: Apache-2.0
// What to change in a machine's file when something does not fit. All messages of class `resource` that have such a
// way out word it here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/contract/gen/capabilities.h"

namespace npu::contract {

// Panics for a name that is none.
[[nodiscard]] const CapabilityInfo& find_capability(std::string_view name);

// So much of a capability is needed, at least.
struct Need {
  std::string_view capability;
  uint64_t amount;
};

// "psram_bytes: 4096 and var_entries: 64 is the smallest machine that holds `what`", with values that a machine's file
// takes; when there are none: "no machine holds `what`: ...".
[[nodiscard]] std::string smallest_machine(const std::vector<Need>& needs, std::string_view what);

}  // namespace npu::contract
