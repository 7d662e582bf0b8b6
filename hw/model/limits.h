// SPDX-License-Identifier: Apache-2.0
// Bounds on what one command moves, so that a hostile stream is a fault and never a hang. Beyond them:
// fault_bad_command. What a tile may compute is bounded where tiles are checked (hw/engine/tile.h).
#pragma once

#include <cstdint>

namespace npu::model {

inline constexpr uint64_t kMaxBytesMoved = uint64_t{1} << 32;  // by one access of a command, repeats counted
inline constexpr uint64_t kMaxRuns = uint64_t{1} << 24;        // contiguous runs of one access

// 64-byte blocks of memory that are in more than one state of the hazard checker at a time.
inline constexpr uint32_t kMaxSplitBlocks = 1u << 20;

}  // namespace npu::model
