// SPDX-License-Identifier: Apache-2.0
// What to do when DRAM is full.
#pragma once

#include <string>
#include <vector>

#include "driver/compiler/dram_needs.h"
#include "driver/runtime/range_allocator.h"
#include "hw/contract/advice.h"

namespace npu::runtime {

// A clause for a message: the smallest machine that holds `needs` beside what `dram` holds, or what to destroy.
// `lacking`: what else the machine has too little of.
[[nodiscard]] std::string dram_way_out(const RangeAllocator& dram, compiler::DramNeeds needs,
                                       std::vector<contract::Need> lacking);

}  // namespace npu::runtime
