// SPDX-License-Identifier: Apache-2.0
// Cycles of the MXU.
//
// The array is weight-stationary: mxu_cols dot-product columns (one an output channel), each mxu_depth int8 products
// deep. A tile is three nested loops:
//
//   for each block of output pixels            as many as fit into half of the accumulators
//     for each group of output channels        mxu_cols of them
//       for each step of the reduction         weights of the step sit in the array, one pixel enters after the other
//
// With narrow layers the array takes several pixels of a row side by side, each with a part of the columns. They go
// through the loops as one: what is said of a pixel below holds for all that are computed at once.
//
// While a step streams its pixels, the weights of the next one load into shadow registers. The output stage drains a
// pixel (mxu_cols channels) a cycle: a (block, group) from its last step on, each pixel in the cycle behind its last
// sum, unless the group's parameters come later. What is left then drains from the other half of the accumulators
// under the next (block, group).
#pragma once

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/cycles.h"

namespace npu::timing {

// Of a RESCALE in the output stage. Bias, multiply, rounding shift, zero point and clip, clamp: a register behind each.
inline constexpr uint64_t kMxuRescaleStages = 5;
// RESCALEs that the value of an accumulator passes with a residual: its own, that of one side, that of the sum.
inline constexpr uint64_t kMxuResidualRescales = 3;

// Cycles that a pixel spends in a step of the reduction: 1 int8, 2 int16 x int8, 4 int16 x int16; what the machine says
// of a floating-point format, 1 where it has none.
[[nodiscard]] uint64_t mxu_rate(contract::Element src, contract::Element weights, const contract::Capabilities& caps);

// The loops of a tile. All counts are at least 1.
struct MxuLoops {
  uint64_t side_by_side = 1;  // pixels that count as one
  uint64_t pixels = 1;        // out_h * out_w / side_by_side
  uint64_t block_pixels = 1;  // pixels of a block; the last one may be smaller
  uint64_t blocks = 1;
  uint64_t last_pixels = 1;  // pixels of the last block
  uint64_t cols = 1;         // channels of a group; the last one may be smaller
  uint64_t groups = 1;
  uint64_t last_cols = 1;   // channels of the last group
  uint64_t steps = 1;       // steps of the reduction
  uint64_t rate = 1;        // mxu_rate()
  uint64_t step_bytes = 1;  // bytes of weights that a step holds for one channel
  uint64_t port_bytes = 1;  // of weights (and of parameters) a cycle
  uint64_t pipeline = 0;    // stages from operand to accumulator
  bool residual = false;    // the output stage adds an operand
  // Stages from accumulator to result.
  [[nodiscard]] uint64_t output_stages() const { return kMxuRescaleStages * (residual ? kMxuResidualRescales : 1); }
  // Cycles to load the weights of one step for the channels of group `g`. A beat has whole channels; one that is wider
  // than the port takes several beats of its own.
  [[nodiscard]] uint64_t load(uint64_t g) const {
    const uint64_t channels = port_bytes / step_bytes;
    return channels > 0 ? ceil_div(columns(g), channels) : columns(g) * ceil_div(step_bytes, port_bytes);
  }
  // Cycles to load the parameters of group `g`, an entry a channel.
  [[nodiscard]] uint64_t parameter_beats(uint64_t g) const {
    return ceil_div(columns(g) * contract::ParameterEntry::kBytes, port_bytes);
  }
  [[nodiscard]] uint64_t columns(uint64_t g) const { return g + 1 == groups ? last_cols : cols; }
  // The sum of f(group) over the groups, of which all but the last are equal.
  template <class F>
  [[nodiscard]] uint64_t of_groups(F f) const {
    return (groups - 1) * f(0) + f(groups - 1);
  }
  // Requests for weights and for parameters that each block makes.
  [[nodiscard]] uint64_t weight_requests() const {
    return steps * of_groups([this](uint64_t g) { return load(g); });
  }
  [[nodiscard]] uint64_t parameter_requests() const {
    return of_groups([this](uint64_t g) { return parameter_beats(g); });
  }
  [[nodiscard]] uint64_t block_size(uint64_t b) const { return b + 1 == blocks ? last_pixels : block_pixels; }
};

// Kernel positions of an output; 1 for a matrix product.
[[nodiscard]] uint64_t mxu_window(const contract::MxuCommand& command);

// The command's dimensions must be at least 1.
[[nodiscard]] MxuLoops mxu_loops(const contract::MxuCommand& command, const contract::Capabilities& caps);

// Cycles of one (block, group) from its first pixel to the first pixel of the next one.
[[nodiscard]] uint64_t mxu_group_cycles(const MxuLoops& loops, uint64_t block, uint64_t group);

// Cycles of all groups of one block.
[[nodiscard]] uint64_t mxu_block_cycles(const MxuLoops& loops, uint64_t block);

// Cycles of a tile; all 0 when a dimension is 0. Takes constant time.
[[nodiscard]] Cycles mxu_cycles(const contract::MxuCommand& command, const contract::Capabilities& caps);

// Multiply-accumulates of a tile, padding counted.
[[nodiscard]] uint64_t mxu_macs(const contract::MxuCommand& command);

}  // namespace npu::timing
