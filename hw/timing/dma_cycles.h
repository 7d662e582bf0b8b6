// SPDX-License-Identifier: Apache-2.0
// What a cost model wants to know about a DMA command. The device's DMA is timed by events, burst by burst; this is
// what it takes with ideal memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/contract/dma_sides.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/cycles.h"

namespace npu::timing {

// From taking a command to its first beat, or first request to DRAM: the command, products of counts and strides,
// pieces.
inline constexpr uint64_t kDmaWalkCycles = 3;

// From the beat of the last index to the first one of a row: an index out of the buffer, its offset.
inline constexpr uint64_t kDmaIndexCycles = 2;

// Requests to DRAM are arbitrated up to this many cycles before they are on the wires (annotated as TLM-2.0 does).
inline constexpr uint64_t kArbitrateAhead = 16;

// Of `bytes` bytes from `address` on, those of the first burst: bursts are cut at multiples of dma_burst_bytes.
[[nodiscard]] constexpr uint64_t burst_bytes(uint64_t address, uint64_t bytes, uint64_t dma_burst_bytes) {
  return std::min(bytes, dma_burst_bytes - address % dma_burst_bytes);
}

// Bytes that the command writes (and, but for a fill, reads): without those of indices.
[[nodiscard]] uint64_t dma_bytes(const contract::DmaCommand& command);

// Contiguous pieces that the command falls into, after dimensions that continue each other on both sides are merged.
[[nodiscard]] uint64_t dma_pieces(const contract::DmaCommand& command);

// Beats of one side by itself: its pieces may be larger than those of both.
[[nodiscard]] uint64_t dma_side_beats(const contract::DmaSide& side, uint32_t port_bytes);

// Beats of the indices, which come before all others; 0 where the command has none.
[[nodiscard]] uint64_t dma_index_beats(const contract::DmaCommand& command, uint32_t port_bytes);

// Each piece takes whole beats of the DRAM port; pieces follow each other without a gap. A lower bound.
[[nodiscard]] Cycles dma_cycles(const contract::DmaCommand& command, const contract::Capabilities& caps);

}  // namespace npu::timing
