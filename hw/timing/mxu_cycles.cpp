// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/mxu_cycles.h"

#include <algorithm>

#include "hw/contract/elements.h"

namespace npu::timing {

namespace {

using contract::Capabilities;
using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;

// Operand register, product register, accumulator; the adder tree's levels come on top.
constexpr uint64_t kArrayStages = 3;

// Steps of the reduction. With at least mxu_depth input channels a step takes mxu_depth channels of one kernel
// position; with fewer, the whole window is packed densely. Depthwise takes mxu_dw_taps kernel positions a step.
uint64_t reduction_steps(const MxuCommand& command, const Capabilities& caps) {
  const uint64_t taps = mxu_window(command);
  if (command.mode == MxuMode::kDepthwise) return ceil_div(taps, caps.mxu_dw_taps);
  if (command.in_c >= caps.mxu_depth) return taps * ceil_div(command.in_c, caps.mxu_depth);
  return ceil_div(taps * command.in_c, caps.mxu_depth);
}

// Pixels of the last group that the accumulators hold when all of its sums are complete. Pixels drain one a cycle from
// the last step on, but not before the group's parameters are there and the group before has left; that one can be late
// only where it has more channels.
uint64_t undrained(const MxuLoops& loops) {
  const auto left = [&](uint64_t group, uint64_t begin) {
    const uint64_t end = begin + loops.last_pixels;
    const uint64_t cycles = mxu_group_cycles(loops, loops.blocks - 1, group);
    return end > cycles + 1 ? end - cycles : 1;
  };
  const uint64_t last = loops.groups - 1;
  const uint64_t begin = last > 0 ? left(last - 1, loops.parameter_beats(last - 1)) : 0;
  return left(last, std::max(begin, loops.parameter_beats(last)));
}

bool empty(const MxuCommand& command) {
  return command.out_h == 0 || command.out_w >> command.side_by_side_log2 == 0 || command.out_c == 0 ||
         command.in_c == 0 || mxu_window(command) == 0;
}

}  // namespace

uint64_t mxu_window(const MxuCommand& command) {
  return command.mode == MxuMode::kMatmul ? 1 : uint64_t{command.kernel_h} * command.kernel_w;
}

uint64_t mxu_rate(Element src, Element weights, const Capabilities& caps) {
  if (const uint32_t cycles = contract::mxu_float_cycles(src, caps); cycles > 0) return cycles;
  return (src == Element::kI16 ? 2 : 1) * (weights == Element::kI16 ? 2 : 1);
}

MxuLoops mxu_loops(const MxuCommand& command, const Capabilities& caps) {
  const bool wide_src = command.src_type == Element::kI16;
  const uint64_t accumulator_bytes = wide_src ? 8 : 4;
  const uint64_t depth = command.mode == MxuMode::kDepthwise ? caps.mxu_dw_taps : caps.mxu_depth;
  MxuLoops loops;
  loops.side_by_side = uint64_t{1} << command.side_by_side_log2;
  loops.pixels = uint64_t{command.out_h} * (command.out_w / loops.side_by_side);
  loops.block_pixels = std::max<uint64_t>(1, caps.mxu_acc_bytes / 2 / accumulator_bytes / caps.mxu_cols);
  loops.blocks = ceil_div(loops.pixels, loops.block_pixels);
  loops.last_pixels = loops.pixels - (loops.blocks - 1) * loops.block_pixels;
  loops.cols = caps.mxu_cols;
  loops.groups = ceil_div(command.out_c, loops.cols);
  loops.last_cols = command.out_c - (loops.groups - 1) * loops.cols;
  loops.steps = reduction_steps(command, caps);
  loops.rate = mxu_rate(command.src_type, command.weight_type, caps);
  // A column's slot is written whole, the tail of the reduction as zeros.
  loops.step_bytes = depth * element_bytes(command.weight_type);
  loops.port_bytes = caps.mxu_weight_port_bytes;
  loops.residual = command.residual != contract::Residual::kNone;
  loops.pipeline = kArrayStages + tree_levels(depth);
  return loops;
}

uint64_t mxu_group_cycles(const MxuLoops& loops, uint64_t block, uint64_t group) {
  const uint64_t stream = loops.block_size(block) * loops.rate;
  const uint64_t load = loops.load(group);
  // What loads during the last step is the first step of the next group, or of the next block's first group.
  const bool last_group = group + 1 == loops.groups;
  const bool last = last_group && block + 1 == loops.blocks;
  const uint64_t next_load = last ? 0 : loops.load(last_group ? 0 : group + 1);
  uint64_t cycles = (loops.steps - 1) * std::max(stream, load) + std::max(stream, next_load);
  // The group's parameters arrive meanwhile on a port as wide as that of the weights.
  // The half of the accumulators that the next group takes has drained by then: the group before had all of its sums
  // when this one began, and at most as many pixels left as its own parameters took beats.
  return std::max(cycles, loops.parameter_beats(group));
}

uint64_t mxu_block_cycles(const MxuLoops& loops, uint64_t block) {
  // Groups differ only by what they load and what loads behind them: all but the last two are equal.
  uint64_t cycles = 0;
  uint64_t group = 0;
  if (loops.groups > 2) {
    group = loops.groups - 2;
    cycles = group * mxu_group_cycles(loops, block, 0);
  }
  for (; group < loops.groups; ++group) cycles += mxu_group_cycles(loops, block, group);
  return cycles;
}

Cycles mxu_cycles(const MxuCommand& command, const Capabilities& caps) {
  if (empty(command)) return {};
  const MxuLoops loops = mxu_loops(command, caps);
  Cycles cycles;
  // The first step's weights, then the first pixel's way through the array.
  cycles.fill = loops.load(0) + loops.pipeline;
  // All blocks but the last are equal.
  if (loops.blocks > 1) cycles.steady = (loops.blocks - 1) * mxu_block_cycles(loops, 0);
  cycles.steady += mxu_block_cycles(loops, loops.blocks - 1);
  cycles.drain = undrained(loops) + loops.output_stages();
  return cycles;
}

uint64_t mxu_macs(const MxuCommand& command) {
  const uint64_t reduction = mxu_window(command) * (command.mode == MxuMode::kDepthwise ? 1 : uint64_t{command.in_c});
  return uint64_t{command.out_h} * command.out_w * command.out_c * reduction;
}

}  // namespace npu::timing
