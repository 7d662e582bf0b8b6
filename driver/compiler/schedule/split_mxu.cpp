// SPDX-License-Identifier: Apache-2.0
// Windows and matrix products that accumulate more than the scratchpad holds: the MXU makes the sums of parts of the
// reduction, and the VPU adds and scales them.
#include <algorithm>

#include "driver/compiler/schedule/plan.h"
#include "driver/compiler/schedule/step_parts.h"
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

// Bytes of the inputs of one output position, and of the weights of `columns` channels.
int64_t operand_bytes(const MxuStep& step, const Reduction& size, int64_t columns) {
  const auto reach = [](int64_t kernel, int64_t dilation, int64_t extent) {
    return std::min(extent, (kernel - 1) * dilation + 1);
  };
  const int64_t pixels =
      reach(size.rows, step.dilation_y, step.src.dims[1]) * reach(size.columns, step.dilation_x, step.src.dims[2]);
  return round_up(pixels * size.channels * element_size(step.src), kSlotAlignment) +
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

// A step with the sums of a part of the reduction.
MxuStep sums_of(const MxuStep& step, Range rows, Range columns, Range channels, const View& dst, bool first) {
  MxuStep part = step;
  part.dst = dst;
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

// Of the sum, as the MXU's output stage has it.
void rescale(const MxuStep& mxu, EwiseStep& step, StepParts& parts) {
  if (mxu.rescale == contract::Rescale::kNone) return;
  const std::vector<contract::ParameterEntry>& entries = mxu.params.entries;
  const bool per_channel = std::any_of(entries.begin(), entries.end(), [&](const contract::ParameterEntry& entry) {
    return entry.multiplier != entries[0].multiplier || entry.shift != entries[0].shift;
  });
  contract::ParameterHeader header = mxu.params.header;
  header.input_zp = header.weight_zp = 0;
  const size_t count = per_channel ? entries.size() : 1;
  std::vector<uint8_t> bytes(contract::ParameterHeader::kBytes + count * contract::ParameterEntry::kBytes);
  header.store(bytes.data());
  for (size_t i = 0; i < count; ++i) {
    contract::ParameterEntry entry = entries[i];
    entry.bias = 0;
    entry.store(bytes.data() + contract::ParameterHeader::kBytes + i * contract::ParameterEntry::kBytes);
  }
  const auto size = static_cast<int64_t>(bytes.size());
  const contract::RescaleImmediate how = {mxu.rescale, per_channel, mxu.dst.type, mxu.output_unsigned};
  step.uops.push_back({UopCode::kRescale, 0, 0, static_cast<uint32_t>(step.operands.size()), how.pack(), 0});
  step.operands.push_back({parts.constant(std::move(bytes), {size}, contract::Element::kI8), true, false});
  step.innermost_fixed = per_channel;
}

// Output channels of the smallest tile.
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

// Output channels whose weights lie in the scratchpad together.
int64_t columns_at_once(const MxuStep& step, const StepParts& parts) {
  switch (step.mode) {
    case MxuMode::kDepthwise:
      return step.multiplier;
    case MxuMode::kConv:
    case MxuMode::kMatmul:
      return parts.capabilities().mxu_cols;
  }
  return 1;
}

}  // namespace

EwiseStep sum_parts(const MxuStep& step, int64_t columns, StepParts& parts) {
  const bool wide = step.src.type == contract::Element::kI16;
  const Reduction all = whole_reduction(step);
  const Reduction size = choose_part(step, columns, parts.scratchpad() / kPartShare);
  std::vector<View> sums;
  for (int64_t y = 0; y < all.rows; y += size.rows) {
    for (int64_t x = 0; x < all.columns; x += size.columns) {
      for (int64_t c = 0; c < all.channels; c += size.channels) {
        const View dst = parts.intermediate(step.dst.dims, wide ? contract::Element::kI48 : contract::Element::kI32);
        parts.add(sums_of(step, {y, std::min(size.rows, all.rows - y)}, {x, std::min(size.columns, all.columns - x)},
                          {c, std::min(size.channels, all.channels - c)}, dst, sums.empty()));
        sums.push_back(dst);
      }
    }
  }
  return join(std::move(sums), wide ? Join::kAdd48 : Join::kAdd32, parts);
}

bool split_mxu(const MxuStep& step, StepParts& parts) {
  const int64_t multiplier = least_columns(step);
  const int64_t rest =
      round_up(contract::ParameterHeader::kBytes + multiplier * contract::ParameterEntry::kBytes, kSlotAlignment) +
      round_up(multiplier * element_size(step.dst), kSlotAlignment);
  if (operand_bytes(step, whole_reduction(step), multiplier) + rest <= parts.scratchpad()) return false;
  const int64_t columns = columns_at_once(step, parts);
  EwiseStep last = sum_parts(step, columns, parts);
  rescale(step, last, parts);
  store(last, step.dst);
  if (!split_ewise(last, parts)) parts.add(std::move(last));
  return true;
}

}  // namespace npu::compiler::backend
