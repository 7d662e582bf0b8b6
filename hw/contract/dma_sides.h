// SPDX-License-Identifier: Apache-2.0
// The two sides of a DMA command as walks: the dimensions that each of them has, and which of them indices steer.
#pragma once

#include <array>
#include <cstdint>

#include "hw/contract/gen/commands.h"

namespace npu::contract {

// Dimensions from this one on are pieces of a row that an index chooses; those before it choose the row.
inline constexpr uint32_t kDmaRowDims = 3;
inline constexpr uint32_t kDmaChoices = 1;   // the dimension of the rows that an index chooses from
inline constexpr uint32_t kDmaIndexDim = 2;  // that of the indices of a batch

// `run` bytes for every index of `count`, outermost first, `stride` bytes apart. `indexed`: what the index says is
// added to the beginning of each row.
struct DmaSide {
  uint64_t run = 0;
  std::array<uint32_t, 5> count{};
  std::array<int32_t, 5> stride{};
  bool indexed = false;
};

[[nodiscard]] inline bool has_indices(const DmaCommand& command) {
  return command.mode == DmaMode::kGather || command.mode == DmaMode::kScatter;
}

// How many; 64 bits, so that fields of any value may be asked.
[[nodiscard]] inline uint64_t index_count(const DmaCommand& command) {
  return has_indices(command) ? uint64_t{command.count[0]} * command.count[kDmaIndexDim] : 0;
}

// Bytes from one row to the next of those that an index chooses from.
[[nodiscard]] inline int64_t row_stride(const DmaCommand& command) {
  const bool gathers = command.mode == DmaMode::kGather;
  return (gathers ? command.src_stride : command.dst_stride)[kDmaChoices];
}

[[nodiscard]] inline DmaSide dma_side(const DmaCommand& command, const std::array<int32_t, 5>& stride, bool indexed) {
  DmaSide side{command.run_bytes, command.count, stride, indexed};
  if (has_indices(command)) side.count[kDmaChoices] = 1;
  return side;
}
// Not of a fill.
[[nodiscard]] inline DmaSide dma_source(const DmaCommand& command) {
  return dma_side(command, command.src_stride, command.mode == DmaMode::kGather);
}
[[nodiscard]] inline DmaSide dma_destination(const DmaCommand& command) {
  return dma_side(command, command.dst_stride, command.mode == DmaMode::kScatter);
}

}  // namespace npu::contract
