// SPDX-License-Identifier: Apache-2.0
// Cycles of the VPU: vpu_lanes 32-bit lanes that take one vector (vpu_lanes elements) a pass. The elements of a tile
// fill vectors densely, whatever its dimensions; every pass takes one cycle.
#pragma once

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/cycles.h"

namespace npu::timing {

// Passes that a vector spends in one micro-operation that shares none (vpu_program.h). `type` is the element type of
// the operand of load and store.
[[nodiscard]] uint64_t uop_passes(const contract::Uop& uop, contract::Element type, const contract::Capabilities& caps);

// The table memory has rows of four bytes a lane: how many, and how many of them a table or parameter block of so many
// bytes takes, and all of a command.
[[nodiscard]] uint64_t table_rows(const contract::Capabilities& caps);
[[nodiscard]] uint64_t table_rows_of(uint64_t bytes, const contract::Capabilities& caps);
[[nodiscard]] uint64_t table_rows_of(const contract::VpuEwiseCommand& command, const contract::Capabilities& caps);

// Passes of an average besides those of its window: the reciprocal of its count, a bit a pass, while the window's sum
// comes in; then count times zero point off the sum, and the reciprocal's rescale.
inline constexpr uint64_t kReciprocalPasses = 32, kAveragePasses = 5;
// Passes of a reduction for an element, and for a level of the tree: argmax compares, then selects value and index.
[[nodiscard]] constexpr uint64_t reduce_passes(contract::ReduceOp op) {
  return op == contract::ReduceOp::kArgmax ? 2 : 1;
}

// Whether a reduction folds all lanes of a vector in one pass, and stores as many results at once as there are lanes:
// with `vpu_tree`, across the lanes, what needs no multipliers and no indices.
[[nodiscard]] bool reduces_at_once(const contract::VpuReduceCommand& command, const contract::Capabilities& caps);

// An element-wise tile: ceil(elements / lanes) vectors times the passes of the program. Tables and parameter blocks are
// read once, before the start, at four bytes a lane and cycle.
[[nodiscard]] Cycles vpu_cycles(const contract::VpuEwiseCommand& command, const contract::Capabilities& caps);

// A pooling tile: a pass for every position of the window, padding included, but for averages no less than the division
// for the reciprocal of the count takes; then the result.
[[nodiscard]] Cycles vpu_cycles(const contract::VpuPoolCommand& command, const contract::Capabilities& caps);

// A reduction: along the axis when there are inner elements to fill the lanes, else across the lanes with a tree, a
// level a pass or all of it in one.
[[nodiscard]] Cycles vpu_cycles(const contract::VpuReduceCommand& command, const contract::Capabilities& caps);

}  // namespace npu::timing
