// SPDX-License-Identifier: Apache-2.0
// Which RTL is that of a machine: what was built of one with the same sizes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "hw/contract/error.h"
#include "rtl/verilated/machines.h"
#include "sim/cosim/blocks.h"

namespace npu::cosim {

// The name of the machine whose blocks have the sizes that `fits` looks at; empty: none was built. Throws npu::Error
// (feature_unsupported) when there is no RTL at all.
template <class Fits>
[[nodiscard]] std::string_view fitting_machine(Fits fits) {
  const Blocks& blocks = required_blocks();
  for (const std::string_view machine : blocks.built_machines()) {
    if (fits(blocks.sizes_of(machine))) return machine;
  }
  return {};
}

// The name of the machine whose blocks have the sizes that `fits` looks at; `what` describes those of this machine.
// Throws npu::Error: feature_unsupported when there is no RTL at all, bad_preset when there is none of these sizes.
template <class Fits>
[[nodiscard]] std::string_view rtl_machine(Fits fits, const std::string& what) {
  const std::string_view machine = fitting_machine(fits);
  if (!machine.empty()) return machine;
  throw Error(contract::ErrorCode::kBadPreset,
              fmt::format("no RTL was built of {} as this machine has; there is RTL of {}; {}", what,
                          fmt::join(required_blocks().built_machines(), ", "), rtl::kWayToRtl));
}

}  // namespace npu::cosim
