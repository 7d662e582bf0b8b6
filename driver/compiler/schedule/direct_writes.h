// SPDX-License-Identifier: Apache-2.0
// Values that are written to a variable, made in the variable itself instead of in a buffer that is copied to it.
#pragma once

#include <optional>

#include "driver/compiler/ir.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// The module without the copies to variables in persistent SRAM that can be spared: the VPU or DMA makes the whole
// value, the old one is read before, and the value is not used after the variable's next write. A streaming window
// (what is left of the old value, moved, and something new) is moved within the variable, in pieces that do not overlap
// themselves. Nullopt when no copy can be spared. Variable::in_dram must be set.
[[nodiscard]] std::optional<Module> write_directly(const Module& module, const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
