// SPDX-License-Identifier: Apache-2.0
// Which RTL is that of a machine: what was built of a preset with the same sizes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "hw/contract/error.h"
#include "rtl/verilated/presets.h"

namespace npu::cosim {

// The preset whose blocks have the sizes that `fits` looks at; `what` describes those of this machine. Throws
// npu::Error (bad_preset) when there is none.
template <class Fits>
[[nodiscard]] std::string_view rtl_preset(Fits fits, const std::string& what) {
  for (const std::string_view preset : rtl::built_presets()) {
    if (fits(rtl::sizes_of(preset))) return preset;
  }
  throw Error(contract::ErrorCode::kBadPreset,
              fmt::format("no RTL was built of {} as this machine has; there is RTL of the presets {}", what,
                          fmt::join(rtl::built_presets(), " and ")));
}

}  // namespace npu::cosim
