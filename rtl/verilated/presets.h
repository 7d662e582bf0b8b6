// Presets whose RTL was built.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hw/contract/error.h"

namespace npu::rtl {

[[noreturn]] inline void no_such_preset(std::string_view preset) {
  throw Error(contract::ErrorCode::kBadPreset, "the RTL of preset '" + std::string(preset) +
                                                   "' was not built; there is RTL for nano and edge (NPU_RTL_PRESETS "
                                                   "in cmake/verilated.cmake)");
}

}  // namespace npu::rtl
