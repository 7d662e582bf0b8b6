// SPDX-License-Identifier: Apache-2.0
// Bounds on the work of one command, so that a hostile stream is a fault and never a hang. Beyond them:
// fault_bad_command.
#pragma once

#include <cstdint>

namespace npu::model {

inline constexpr uint64_t kMaxBytesMoved = uint64_t{1} << 32;  // by one access of a command, repeats counted
inline constexpr uint64_t kMaxRuns = uint64_t{1} << 24;        // contiguous runs of one access
inline constexpr uint64_t kMaxTileWork = uint64_t{1} << 36;    // MACs, or elements visited, of one tile

// 64-byte blocks of memory that are in more than one state of the hazard checker at a time.
inline constexpr uint32_t kMaxSplitBlocks = 1u << 20;

}  // namespace npu::model
