// SPDX-License-Identifier: Apache-2.0
// Which RTL is that of a machine: what was built of a preset with the same sizes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "hw/contract/error.h"
#include "sim/cosim/blocks.h"

namespace npu::cosim {

// The preset whose blocks have the sizes that `fits` looks at; `what` describes those of this machine. Throws
// npu::Error: feature_unsupported when there is no RTL at all, bad_preset when there is none of these sizes.
template <class Fits>
[[nodiscard]] std::string_view rtl_preset(Fits fits, const std::string& what) {
  const Blocks& blocks = required_blocks();
  for (const std::string_view preset : blocks.built_presets()) {
    if (fits(blocks.sizes_of(preset))) return preset;
  }
  throw Error(contract::ErrorCode::kBadPreset,
              fmt::format("no RTL was built of {} as this machine has; there is RTL of the presets {}", what,
                          fmt::join(blocks.built_presets(), " and ")));
}

}  // namespace npu::cosim
