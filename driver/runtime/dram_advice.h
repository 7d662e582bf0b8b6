// SPDX-License-Identifier: Apache-2.0
// What to do when DRAM is full.
#pragma once

#include <string>

#include "driver/compiler/dram_needs.h"
#include "driver/runtime/range_allocator.h"

namespace npu::runtime {

// A clause for a message: the smallest machine that holds `needs` beside what `dram` holds, or what to destroy.
[[nodiscard]] std::string dram_way_out(const RangeAllocator& dram, compiler::DramNeeds needs);

}  // namespace npu::runtime
