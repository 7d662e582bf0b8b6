// SPDX-License-Identifier: Apache-2.0
// Which machines the project has RTL of. This is what formulas were compared with, whether or not the module with the
// RTL lies beside this program.
#pragma once

#include <string>
#include <vector>

#include "hw/presets/preset.h"

namespace npu::cli {

// Names of presets (NPU_RTL_PRESETS of cmake/rtl_machines.cmake).
[[nodiscard]] const std::vector<std::string>& rtl_presets();

// Whether one of them has an MXU and a VPU of the same sizes as `machine`.
[[nodiscard]] bool has_rtl_sizes(const presets::Preset& machine);

}  // namespace npu::cli
