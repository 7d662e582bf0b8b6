// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rtl/verilated/module.h"

namespace npu::cosim {

// The blocks that this program can use; null: none. loaded_blocks.cpp opens the module libnpu_rtl.so; a build that
// measures the blocks' coverage links them (linked_blocks.cpp). Throws npu::Error (cannot_read) for a module that
// cannot be opened or was built from other sources.
[[nodiscard]] const rtl::BlockMakers* find_block_makers();

}  // namespace npu::cosim
