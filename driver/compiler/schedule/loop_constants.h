// SPDX-License-Identifier: Apache-2.0
// Constants that stay in the scratchpad through a loop, and are loaded before it.
#pragma once

#include "driver/compiler/schedule/layout.h"
#include "driver/compiler/schedule/memory_map.h"
#include "driver/compiler/schedule/residency.h"

namespace npu::compiler::backend {

// Gives constants of steps in loops slots for all of their content, in `layout.slots` and in `map`, as long as every
// step of the loop has room for its own tile buffers beside them; `layout.kept` says which. Takes the outermost loop
// where that fits. The layout must have its plans; no slots are placed yet.
void keep_loop_constants(const Residency& residency, Layout& layout, MemoryMap& map);

}  // namespace npu::compiler::backend
