// SPDX-License-Identifier: Apache-2.0
// Pooling over windows that are larger than the scratchpad. Maxima: those of parts of the window. Averages: the MXU
// makes the sums of parts, as of a depthwise convolution with weights of 1, and the VPU divides as its pooling does.
#include <algorithm>
#include <bit>

#include "driver/compiler/parameter_block.h"
#include "driver/compiler/schedule/parameter_parts.h"
#include "driver/compiler/schedule/plan.h"
#include "driver/compiler/schedule/step_parts.h"
#include "hw/contract/elements.h"
#include "hw/contract/gen/micro_operations.h"

namespace npu::compiler::backend {
namespace {

using contract::Element;
using contract::UopCode;

// Averages of more regions with a number of elements of their own make too many steps.
constexpr size_t kMostRegions = 4096;

int64_t window_bytes(const PoolStep& step, int64_t rows, int64_t columns) {
  return round_up(std::min(rows, step.src.dims[1]) * std::min(columns, step.src.dims[2]) * element_size(step.src),
                  kSlotAlignment);
}

void split_max(const PoolStep& step, StepParts& parts) {
  const int64_t most = parts.scratchpad() / kPartShare;
  int64_t rows = step.kernel_h, columns = step.kernel_w;
  while (rows > 1 && window_bytes(step, rows, columns) > most) rows = ceil_div(rows, 2);
  while (columns > 1 && window_bytes(step, rows, columns) > most) columns = ceil_div(columns, 2);
  std::vector<View> maxima;
  for (int64_t y = 0; y < step.kernel_h; y += rows) {
    for (int64_t x = 0; x < step.kernel_w; x += columns) {
      PoolStep part = step;
      part.kernel_h = std::min(rows, step.kernel_h - y);
      part.kernel_w = std::min(columns, step.kernel_w - x);
      part.pad_top -= y;
      part.pad_left -= x;
      part.dst = parts.intermediate(step.dst.dims, step.dst.type);
      maxima.push_back(part.dst);
      parts.add(std::move(part));
    }
  }
  EwiseStep last = join(std::move(maxima), Join::kMax, parts);
  store(last, step.dst);
  parts.add(std::move(last));
}

// Outputs beside each other whose windows have the same number of inputs along one dimension.
struct Run {
  Range outputs;
  int64_t inputs = 0;
};

std::vector<Run> runs(int64_t outputs, int64_t inputs, int64_t kernel, int64_t stride, int64_t pad) {
  std::vector<Run> all;
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t begin = o * stride - pad;
    const int64_t count = std::min(begin + kernel, inputs) - std::max<int64_t>(begin, 0);
    if (!all.empty() && all.back().inputs == count) {
      ++all.back().outputs.count;
    } else {
      all.push_back({{o, 1}, count});
    }
  }
  return all;
}

// RESCALE by reciprocal_scale of the specification, as the pooling of the VPU divides.
void divide(int64_t count, const PoolStep& pool, EwiseStep& step, StepParts& parts) {
  const int log = std::bit_width(static_cast<uint64_t>(count - 1));
  contract::ParameterHeader header;
  header.output_zp = pool.output_zp;
  const bool is_i8 = pool.dst.type == Element::kI8;
  header.clamp_min = is_i8 ? INT8_MIN : INT16_MIN;
  header.clamp_max = is_i8 ? INT8_MAX : INT16_MAX;
  contract::ParameterEntry entry;
  entry.multiplier = static_cast<int32_t>((((uint64_t{1} << 30) + 1) << log) / static_cast<uint64_t>(count));
  entry.shift = 30 + log;
  const Params params{header, {entry}};
  const View block = pool.block ? block_with(params, &contract::ParameterHeader::output_zp, *pool.block, parts)
                                : parts.constant(bytes_of_params(params), {bytes_of_block(1)}, Element::kI8);
  const contract::RescaleImmediate how = {contract::Rescale::kSingle32, false, pool.dst.type, false};
  step.uops.push_back({UopCode::kRescale, 0, 0, static_cast<uint32_t>(step.operands.size()), how.pack(), 0});
  step.operands.push_back({block, true, false});
}

View region(const View& view, const Run& rows, const Run& columns) {
  return StepParts::part(StepParts::part(view, 1, rows.outputs), 2, columns.outputs);
}

bool split_average(const PoolStep& step, StepParts& parts) {
  const std::vector<Run> rows = runs(step.dst.dims[1], step.src.dims[1], step.kernel_h, step.stride_y, step.pad_top);
  const std::vector<Run> columns =
      runs(step.dst.dims[2], step.src.dims[2], step.kernel_w, step.stride_x, step.pad_left);
  if (rows.size() * columns.size() > kMostRegions) return false;
  if (step.src.type == Element::kI16 && parts.capabilities().mxu_int16 == 0) return false;  // the sums are the MXU's
  const int64_t channels = step.src.dims[3];
  MxuStep sums;
  sums.mode = contract::MxuMode::kDepthwise;
  sums.src = step.src;
  sums.weights = parts.constant(std::vector<uint8_t>(static_cast<size_t>(channels), 1), {channels}, Element::kI8);
  sums.weights.dims = {step.kernel_h, step.kernel_w, channels, 1};
  sums.weights.strides = {0, 0, 1, 1};
  sums.dst = step.dst;
  sums.params.header.input_zp = step.input_zp;
  sums.params.entries.resize(static_cast<size_t>(channels));
  if (step.block) {
    sums.block = block_with(sums.params, &contract::ParameterHeader::input_zp, *step.block, parts);
  }
  sums.kernel_h = step.kernel_h;
  sums.kernel_w = step.kernel_w;
  sums.stride_y = step.stride_y;
  sums.stride_x = step.stride_x;
  sums.pad_top = step.pad_top;
  sums.pad_left = step.pad_left;
  const EwiseStep all = sum_parts(sums, 1, parts);
  for (const Run& row : rows) {
    for (const Run& column : columns) {
      EwiseStep last = all;
      for (EwiseStep::Operand& operand : last.operands) operand.view = region(operand.view, row, column);
      const View dst = region(step.dst, row, column);
      last.dims = dst.dims;
      divide(row.inputs * column.inputs, step, last, parts);
      store(last, dst);
      parts.add(std::move(last));
    }
  }
  return true;
}

}  // namespace

bool split_pool(const PoolStep& step, StepParts& parts) {
  if (contract::is_float(step.src.type)) return false;  // sums of parts would be rounded, and parts may have no element
  const int64_t rest = 2 * kSlotAlignment;              // one result, and the parameters
  if (window_bytes(step, step.kernel_h, step.kernel_w) + rest <= parts.scratchpad()) return false;
  switch (step.mode) {
    case contract::PoolMode::kAvg:
      return split_average(step, parts);
    case contract::PoolMode::kMax:
      split_max(step, parts);
      return true;
  }
  return false;
}

}  // namespace npu::compiler::backend
