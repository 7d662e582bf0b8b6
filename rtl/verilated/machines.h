// SPDX-License-Identifier: Apache-2.0
// Machines whose RTL was built.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hw/contract/error.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::rtl {

// Their names.
[[nodiscard]] std::span<const char* const> built_machines();

// The sizes of one's blocks; all else is 0. Throws npu::Error (bad_preset) for others.
[[nodiscard]] contract::Capabilities sizes_of(std::string_view machine);

// How others get theirs, as the end of a sentence.
inline constexpr std::string_view kWayToRtl =
    "build the RTL of another machine by its file: cmake -DNPU_RTL_MACHINES=FILE.yaml, then the target npu_rtl_module";

[[noreturn]] inline void no_such_machine(std::string_view machine) {
  std::string names;
  for (const char* name : built_machines()) names += (names.empty() ? "" : ", ") + std::string(name);
  throw Error(contract::ErrorCode::kBadPreset, "the RTL of the machine '" + std::string(machine) +
                                                   "' was not built; there is RTL for " + names + "; " +
                                                   std::string(kWayToRtl));
}

}  // namespace npu::rtl
