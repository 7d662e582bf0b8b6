// SPDX-License-Identifier: Apache-2.0
// Windows and matrix products that accumulate more than the scratchpad holds: the MXU makes the sums of parts of the
// reduction, and the VPU adds and scales them. Steps whose parameter block comes at run time have few enough output
// channels for one tile.
#include <algorithm>

#include "driver/compiler/parameter_block.h"
#include "driver/compiler/schedule/parameter_parts.h"
#include "driver/compiler/schedule/plan.h"
#include "driver/compiler/schedule/step_parts.h"
#include "hw/contract/elements.h"
#include "hw/contract/gen/micro_operations.h"

namespace npu::compiler::backend {
namespace {

using contract::MxuMode;
using contract::UopCode;

constexpr int64_t kFewChannels = 64;  // the window is cut before parts have less

// Sizes of a part of the reduction: rows and columns of the window, and channels.
struct Reduction {
  int64_t rows = 1, columns = 1, channels = 1;
};

Reduction whole_reduction(const MxuStep& step) {
  switch (step.mode) {
    case MxuMode::kConv:
      return {step.kernel_h, step.kernel_w, step.src.dims[3]};
    case MxuMode::kDepthwise:
      return {step.kernel_h, step.kernel_w, 1};
    case MxuMode::kMatmul:
      return {1, 1, step.src.dims[3]};
  }
  return {};
}

// Output channels that belong together: those of an input channel in depthwise mode.
int64_t least_columns(const MxuStep& step) {
  switch (step.mode) {
    case MxuMode::kDepthwise:
      return step.multiplier;
    case MxuMode::kConv:
    case MxuMode::kMatmul:
      return 1;
  }
  return 1;
}

// Channels of the source that so many output channels of a part read.
int64_t source_channels(const MxuStep& step, const Reduction& size, int64_t columns) {
  switch (step.mode) {
    case MxuMode::kDepthwise:
      return columns / step.multiplier;
    case MxuMode::kConv:
    case MxuMode::kMatmul:
      return size.channels;
  }
  return size.channels;
}

// Bytes of the inputs of one output position, and of the weights of `columns` channels.
int64_t operand_bytes(const MxuStep& step, const Reduction& size, int64_t columns) {
  const auto reach = [](int64_t kernel, int64_t dilation, int64_t extent) {
    return std::min(extent, (kernel - 1) * dilation + 1);
  };
  const int64_t pixels =
      reach(size.rows, step.dilation_y, step.src.dims[1]) * reach(size.columns, step.dilation_x, step.src.dims[2]);
  return round_up(pixels * source_channels(step, size, columns) * element_size(step.src), kSlotAlignment) +
         round_up(size.rows * size.columns * size.channels * columns * element_size(step.weights), kSlotAlignment);
}

Reduction choose_part(const MxuStep& step, int64_t columns, int64_t most) {
  Reduction size = whole_reduction(step);
  while (operand_bytes(step, size, columns) > most) {
    if (size.channels > kFewChannels) {
      size.channels = ceil_div(size.channels, 2);
    } else if (size.rows > 1) {
      size.rows = ceil_div(size.rows, 2);
    } else if (size.columns > 1) {
      size.columns = ceil_div(size.columns, 2);
    } else if (size.channels > 1) {
      size.channels = ceil_div(size.channels, 2);
    } else {
      break;
    }
  }
  return size;
}

// Bytes of the parameters and the result of one output position.
int64_t rest_bytes(const MxuStep& step, int64_t columns) {
  return round_up(bytes_of_block(columns), kSlotAlignment) +
         round_up(columns * element_size(step.dst), kSlotAlignment) +
         (step.residual ? round_up(columns * element_size(step.residual->view), kSlotAlignment) : 0);
}

// A step with the sums of a part of the reduction. `no_bias`: the block of such a part, where it comes at run time.
MxuStep sums_of(const MxuStep& step, Range rows, Range columns, Range channels, const View& dst, bool first,
                const std::optional<View>& no_bias) {
  MxuStep part = step;
  part.dst = dst;
  if (!first) part.block = no_bias;
  part.rescale = contract::Rescale::kNone;
  part.output_unsigned = false;
  part.params.header = {};
  part.params.header.input_zp = step.params.header.input_zp;
  part.params.header.weight_zp = step.params.header.weight_zp;
  for (contract::ParameterEntry& entry : part.params.entries) {
    const int64_t bias = first ? entry.bias : 0;
    entry = {};
    entry.bias = bias;
  }
  part.kernel_h = rows.count;
  part.kernel_w = columns.count;
  part.pad_top -= rows.start * step.dilation_y;
  part.pad_left -= columns.start * step.dilation_x;
  const auto cut_weights = [&](size_t dim, Range range) { part.weights = StepParts::part(part.weights, dim, range); };
  const auto cut_source = [&] { part.src = StepParts::part(part.src, 3, channels); };
  switch (step.mode) {
    case MxuMode::kConv:
      cut_weights(1, rows);
      cut_weights(2, columns);
      cut_weights(3, channels);
      cut_source();
      break;
    case MxuMode::kDepthwise:  // each channel is a sum of its own
      cut_weights(0, rows);
      cut_weights(1, columns);
      break;
    case MxuMode::kMatmul:
      cut_weights(1, channels);
      cut_source();
      break;
  }
  return part;
}

// Of the sum in register 0.
void add_rescale(const MxuStep& mxu, const View& block, bool per_channel, EwiseStep& step) {
  const contract::RescaleImmediate how = {mxu.rescale, per_channel, mxu.dst.type, mxu.output_unsigned};
  step.uops.push_back({UopCode::kRescale, 0, 0, static_cast<uint32_t>(step.operands.size()), how.pack(), 0});
  step.operands.push_back({block, true, false});
  step.innermost_fixed = per_channel;
}

// Of the sum, as the MXU's output stage has it.
void rescale(const MxuStep& mxu, EwiseStep& step, StepParts& parts) {
  if (mxu.rescale == contract::Rescale::kNone) return;
  if (mxu.block) return add_rescale(mxu, block_of_sums(*mxu.block, parts), entries_of_block(*mxu.block) > 1, step);
  const std::vector<contract::ParameterEntry>& entries = mxu.params.entries;
  const bool per_channel = std::any_of(entries.begin(), entries.end(), [&](const contract::ParameterEntry& entry) {
    return entry.multiplier != entries[0].multiplier || entry.shift != entries[0].shift;
  });
  Params params = mxu.params;
  params.header.input_zp = params.header.weight_zp = 0;
  params.entries.resize(per_channel ? entries.size() : 1);
  for (contract::ParameterEntry& entry : params.entries) entry.bias = 0;
  const int64_t size = bytes_of_block(std::ssize(params.entries));
  add_rescale(mxu, parts.constant(bytes_of_params(params), {size}, contract::Element::kI8), per_channel, step);
}

// Output channels of the smallest tile.
int64_t tile_columns(const MxuStep& step) { return step.block ? step.dst.dims[3] : least_columns(step); }

// Output channels whose weights lie in the scratchpad together.
int64_t columns_at_once(const MxuStep& step, const StepParts& parts) {
  if (step.block) return tile_columns(step);
  switch (step.mode) {
    case MxuMode::kDepthwise:
      return step.multiplier;
    case MxuMode::kConv:
    case MxuMode::kMatmul:
      return parts.capabilities().mxu_cols;
  }
  return 1;
}

// The step for some of its output channels.
MxuStep columns_of(const MxuStep& step, Range columns, StepParts& parts) {
  MxuStep part = step;
  part.dst = StepParts::part(part.dst, 3, columns);
  part.block = part_of_block(*step.block, columns, parts);
  const auto first = step.params.entries.begin() + columns.start;
  part.params.entries.assign(first, first + columns.count);
  switch (step.mode) {
    case MxuMode::kConv:
      part.weights = StepParts::part(part.weights, 0, columns);
      break;
    case MxuMode::kDepthwise: {
      const Range channels{columns.start / step.multiplier, columns.count / step.multiplier};
      part.weights = StepParts::part(part.weights, 2, channels);
      part.src = StepParts::part(part.src, 3, channels);
      break;
    }
    case MxuMode::kMatmul:
      part.weights = StepParts::part(part.weights, 2, columns);
      break;
  }
  return part;
}

// A step whose block comes at run time, as several where its output channels are too many for one tile. None has fewer
// than fill the array: what is too large then is cut along the reduction.
bool split_columns(const MxuStep& step, StepParts& parts) {
  const int64_t all = step.dst.dims[3], unit = least_columns(step);
  const int64_t least = std::max<int64_t>(unit, int64_t{parts.capabilities().mxu_cols} / unit * unit);
  int64_t columns = all;
  while (columns > least && operand_bytes(step, whole_reduction(step), columns) + rest_bytes(step, columns) >
                                parts.scratchpad() / kPartShare) {
    columns = std::max(least, round_up(ceil_div(columns, 2), unit));
  }
  if (columns == all) return false;
  for (int64_t at = 0; at < all; at += columns) {
    MxuStep part = columns_of(step, {at, std::min(columns, all - at)}, parts);
    if (!split_mxu(part, parts)) parts.add(std::move(part));
  }
  return true;
}

}  // namespace

EwiseStep sum_parts(const MxuStep& step, int64_t columns, StepParts& parts) {
  const bool wide = step.src.type == contract::Element::kI16;
  const Reduction all = whole_reduction(step);
  const Reduction size = choose_part(step, columns, parts.scratchpad() / kPartShare);
  std::vector<View> sums;
  std::optional<View> no_bias;
  if (step.block) no_bias = block_without_bias(*step.block, parts);
  for (int64_t y = 0; y < all.rows; y += size.rows) {
    for (int64_t x = 0; x < all.columns; x += size.columns) {
      for (int64_t c = 0; c < all.channels; c += size.channels) {
        const View dst = parts.intermediate(step.dst.dims, wide ? contract::Element::kI48 : contract::Element::kI32);
        parts.add(sums_of(step, {y, std::min(size.rows, all.rows - y)}, {x, std::min(size.columns, all.columns - x)},
                          {c, std::min(size.channels, all.channels - c)}, dst, sums.empty(), no_bias));
        sums.push_back(dst);
      }
    }
  }
  return join(std::move(sums), wide ? Join::kAdd48 : Join::kAdd32, parts);
}

bool split_mxu(const MxuStep& step, StepParts& parts) {
  if (step.block && split_columns(step, parts)) return true;
  if (contract::is_float(step.src.type)) return false;  // parts of a sum would be rounded before they meet
  const int64_t least = tile_columns(step);
  if (operand_bytes(step, whole_reduction(step), least) + rest_bytes(step, least) <= parts.scratchpad()) return false;
  NPU_CHECK(!step.residual);  // the front end gives one to small windows only
  const int64_t columns = columns_at_once(step, parts);
  EwiseStep last = sum_parts(step, columns, parts);
  rescale(step, last, parts);
  store(last, step.dst);
  if (!split_ewise(last, parts)) parts.add(std::move(last));
  return true;
}

}  // namespace npu::compiler::backend
