// SPDX-License-Identifier: Apache-2.0
// DMA commands for boxes of any rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {

// Copies counts[0] x counts[1] x ... elements of `unit` bytes. Several commands where a box has too many dimensions.
void dma_copy(std::span<const int64_t> counts, const Placed& src, const Placed& dst, int64_t unit,
              std::vector<contract::DmaCommand>& out);

// Writes the low `unit` bytes of `value` to every element of a box.
void dma_fill(std::span<const int64_t> counts, const Placed& dst, int64_t unit, uint64_t value,
              std::vector<contract::DmaCommand>& out);

}  // namespace npu::compiler::backend
