// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/split.h"

#include <algorithm>
#include <variant>

#include "driver/compiler/schedule/parameter_parts.h"
#include "driver/compiler/schedule/plan.h"
#include "driver/compiler/schedule/step_parts.h"
#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/micro_operations.h"
#include "hw/contract/overloaded.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler::backend {
namespace {

bool split(const Step& step, StepParts& parts) {
  // Variables in persistent SRAM and DRAM are loaded or stored by copies; a step that commits one is one of those.
  if (step.commit) return false;
  return std::visit(Overloaded{[&](const MxuStep& mxu) { return split_mxu(mxu, parts); },
                               [&](const EwiseStep& ewise) { return split_ewise(ewise, parts); },
                               [&](const PoolStep& pool) { return split_pool(pool, parts); },
                               [&](const ReduceStep& reduce) { return split_reduce(reduce, parts); },
                               [](const CopyStep&) { return false; }, [](const GatherStep&) { return false; },
                               [](const DeclareStep&) { return false; }, [](const LabelStep&) { return false; },
                               [](const BranchStep&) { return false; }},
                    step.work);
}

// Reduces every `count` positions of the axis to one of `partial` [outer, chunks, inner].
void reduce_chunks(contract::ReduceOp op, const ReduceStep& step, const View& partial, int64_t count,
                   StepParts& parts) {
  const View& src = step.src;
  const int64_t outer = src.dims[0], axis = src.dims[1], chunks = partial.dims[1], full = axis / count;
  const auto row = [](const View& view, int64_t o, Range chunk) {
    View row = StepParts::part(StepParts::part(view, 0, {o, 1}), 1, chunk);
    row.dims.erase(row.dims.begin());
    row.strides.erase(row.strides.begin());
    return row;  // [chunk, inner]
  };
  if (outer * 2 <= chunks) {  // a step for the chunks of a row that are full, and one for the last
    for (int64_t o = 0; o < outer; ++o) {
      View from = row(src, o, {0, full * count});
      from.dims = {full, count, from.dims[1]};
      from.strides = {count * src.strides[1], src.strides[1], src.strides[2]};
      parts.add(ReduceStep{op, from, row(partial, o, {0, full}), step.ignore_nan});
      if (full == chunks) continue;
      View last = row(src, o, {full * count, axis - full * count});
      last.dims.insert(last.dims.begin(), 1);
      last.strides.insert(last.strides.begin(), 0);
      parts.add(ReduceStep{op, last, row(partial, o, {full, 1}), step.ignore_nan});
    }
    return;
  }
  for (int64_t c = 0; c < chunks; ++c) {
    View to = StepParts::part(partial, 1, {c, 1});
    to.dims.erase(to.dims.begin() + 1);
    to.strides.erase(to.strides.begin() + 1);
    parts.add(
        ReduceStep{op, StepParts::part(src, 1, {c * count, std::min(count, axis - c * count)}), to, step.ignore_nan});
  }
}

View flat(View view) {  // [outer, 1, inner] as [outer, inner]
  view.dims.erase(view.dims.begin() + 1);
  view.strides.erase(view.strides.begin() + 1);
  return view;
}

void reduce(const ReduceStep& step, StepParts& parts) {
  if (!split_reduce(step, parts)) parts.add(step);
}

// The first chunk whose maximum is that of all has the first maximum. Of floating point patterns are compared: where
// zeros have two signs the first one is the maximum of all, and any NaN has one pattern.
void reduce_argmax(const ReduceStep& step, int64_t count, int64_t chunks, StepParts& parts) {
  using contract::Element;
  using contract::UopCode;
  const int64_t outer = step.src.dims[0], inner = step.src.dims[2];
  const View maxima = parts.intermediate({outer, chunks, inner}, step.src.type);
  const View local = parts.intermediate({outer, chunks, inner}, Element::kI32);
  const View candidates = parts.intermediate({outer, chunks, inner}, Element::kI32);
  const View best = parts.intermediate({outer, 1, inner}, step.src.type);
  reduce_chunks(contract::ReduceOp::kMax, step, maxima, count, parts);
  reduce_chunks(contract::ReduceOp::kArgmax, step, local, count, parts);
  reduce({contract::ReduceOp::kMax, maxima, flat(best), step.ignore_nan}, parts);

  std::vector<uint8_t> starts;
  for (int64_t c = 0; c < chunks; ++c) {
    for (int byte = 0; byte < 4; ++byte) starts.push_back(static_cast<uint8_t>(c * count >> 8 * byte));
  }
  View start = parts.constant(std::move(starts), {chunks}, Element::kI32);
  start.dims = {outer, chunks, inner};
  start.strides = {0, 4, 0};
  View repeated = best;
  repeated.dims[1] = chunks;
  repeated.strides[1] = 0;
  EwiseStep choose;
  choose.dims = {outer, chunks, inner};
  choose.operands = {{maxima}, {repeated}, {local}, {start}, {candidates, false, true}};
  choose.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                 {UopCode::kLoad, 1, 1, 0, 0, 0},
                 {UopCode::kEq, 0, 0, 1, 0, 0},
                 {UopCode::kLoad, 1, 2, 0, 0, 0},
                 {UopCode::kLoad, 2, 3, 0, 0, 0},
                 {UopCode::kAdd, 1, 1, 2, 0, 0},
                 {UopCode::kClamp, 2, 2, 0, INT32_MAX, INT32_MAX},
                 {UopCode::kSelect, 1, 1, 2, 0, 0},
                 {UopCode::kStore, 0, 1, 4, 0, 0}};
  choose.register_count = 3;
  parts.add(std::move(choose));
  reduce({contract::ReduceOp::kMin, candidates, step.dst}, parts);
}

// How many of a step's channels find room in the VPU's table memory with their parameters.
int64_t channels_in_tables(const EwiseStep& step, const std::vector<bool>& per_channel,
                           const contract::Capabilities& machine) {
  const auto all = static_cast<int64_t>(timing::table_rows(machine));
  int64_t rows = 0, fixed = 0, growing = 0;  // of all blocks; of those that stay as they are; blocks that do not
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const View& view = step.operands[i].view;
    if (!step.operands[i].blob) continue;
    const auto bytes = static_cast<uint64_t>(elements(view.dims) * element_size(view));
    const auto taken = static_cast<int64_t>(timing::table_rows_of(bytes, machine));
    rows += taken;
    (per_channel[i] ? growing : fixed) += per_channel[i] ? 1 : taken;
  }
  if (rows <= all) return step.dims.back();
  NPU_CHECK(growing > 0 && all > fixed);
  const int64_t bytes = (all - fixed) / growing * (machine.vpu_table_bytes / all);
  NPU_CHECK(bytes >= contract::ParameterHeader::kBytes + contract::ParameterEntry::kBytes);
  return (bytes - contract::ParameterHeader::kBytes) / contract::ParameterEntry::kBytes;
}

bool is_per_channel(const contract::Uop& uop) {
  return uop.op == contract::UopCode::kRescale && contract::RescaleImmediate::unpack(uop.imm0).per_channel;
}

}  // namespace

std::optional<std::span<const uint8_t>> StepParts::data(const View& view) const {
  const Buffer& buffer = module_.buffers[view.buffer];
  if (buffer.kind != BufferKind::kConstant) return std::nullopt;
  return std::span(buffer.data).subspan(static_cast<size_t>(view.offset));
}

void StepParts::copy(const View& src, const View& dst) {
  NPU_CHECK(src.dims == dst.dims && src.type == dst.type);
  CopyStep step;
  step.src = src;
  step.dst = dst;
  add(std::move(step));
}

void StepParts::fill(const View& dst, uint64_t value) {
  CopyStep step;
  step.src = step.dst = dst;
  step.fill = true;
  step.fill_value = value;
  add(std::move(step));
}

BufferId StepParts::add_buffer(Buffer&& buffer) {
  module_.buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(module_.buffers.size() - 1);
}

View StepParts::intermediate(std::vector<int64_t> dims, contract::Element type) {
  View view{0, 0, type, std::move(dims), {}};
  view.strides.resize(view.dims.size());
  int64_t stride = element_size(view);
  for (size_t d = view.dims.size(); d-- > 0;) {
    view.strides[d] = stride;
    stride *= view.dims[d];
  }
  Buffer buffer;
  buffer.name = "part of " + (layer_ < module_.layers.size() ? module_.layers[layer_].name : "?");
  buffer.bytes = static_cast<uint64_t>(stride);
  view.buffer = add_buffer(std::move(buffer));
  return view;
}

View StepParts::constant(std::vector<uint8_t> bytes, std::vector<int64_t> dims, contract::Element type) {
  View view = intermediate(std::move(dims), type);
  Buffer& buffer = module_.buffers[view.buffer];
  NPU_CHECK(buffer.bytes == bytes.size());
  buffer.kind = BufferKind::kConstant;
  buffer.data = std::move(bytes);
  return view;
}

View StepParts::part(View view, size_t dim, Range range) {
  view.offset += range.start * view.strides[dim];
  view.dims[dim] = range.count;
  return view;
}

bool split_reduce(const ReduceStep& step, StepParts& parts) {
  // Sums and products of parts of floating point would be rounded before they meet.
  const bool rounds = step.op == contract::ReduceOp::kSum || step.op == contract::ReduceOp::kProduct;
  if (rounds && contract::is_float(step.src.type)) return false;
  const int64_t unit = element_size(step.src), axis = step.src.dims[1];
  if (round_up(axis * unit, kSlotAlignment) + kSlotAlignment <= parts.scratchpad()) return false;
  const int64_t most = parts.scratchpad() / kPartShare / unit;
  const int64_t count = ceil_div(axis, ceil_div(axis, most)), chunks = ceil_div(axis, count);
  switch (step.op) {
    case contract::ReduceOp::kArgmax:
      reduce_argmax(step, count, chunks, parts);
      return true;
    case contract::ReduceOp::kSum:
    case contract::ReduceOp::kMax:
    case contract::ReduceOp::kMin:
    case contract::ReduceOp::kAll:
    case contract::ReduceOp::kAny:
    case contract::ReduceOp::kProduct: {
      const View partial = parts.intermediate({step.src.dims[0], chunks, step.src.dims[2]}, step.src.type);
      reduce_chunks(step.op, step, partial, count, parts);
      reduce({step.op, partial, step.dst, step.ignore_nan}, parts);
      return true;
    }
  }
  return false;
}

bool split_ewise(const EwiseStep& step, StepParts& parts) {
  if (!step.innermost_fixed) return false;
  const int64_t channels = step.dims.back();
  std::vector<bool> per_channel(step.operands.size());
  for (const contract::Uop& uop : step.uops) {
    if (is_per_channel(uop)) per_channel[uop.b] = true;
  }
  int64_t smallest = 0, fixed = 0, each = 0;  // bytes of one row; of what stays, and of a channel
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const EwiseStep::Operand& o = step.operands[i];
    const int64_t unit = element_size(o.view);
    const bool grows = o.blob ? per_channel[i] : o.view.strides.back() != 0;
    const int64_t bytes = o.blob ? elements(o.view.dims) * unit : unit * (grows ? channels : 1);
    smallest += round_up(bytes, kSlotAlignment);
    each += !grows ? 0 : o.blob ? contract::ParameterEntry::kBytes : unit;
    fixed += grows ? 2 * kSlotAlignment : round_up(bytes, kSlotAlignment);
  }
  const int64_t of_tables = channels_in_tables(step, per_channel, parts.capabilities());
  if (smallest <= parts.scratchpad() && of_tables == channels) return false;
  const int64_t lanes = parts.capabilities().vpu_lanes;
  int64_t most = std::max<int64_t>(1, (parts.scratchpad() / kPartShare - fixed) / each);
  most = std::min(most, of_tables);
  if (most > lanes) most = most / lanes * lanes;
  for (int64_t at = 0; at < channels; at += most) {
    const Range range{at, std::min(most, channels - at)};
    EwiseStep piece = step;
    piece.dims.back() = range.count;
    for (size_t i = 0; i < piece.operands.size(); ++i) {
      EwiseStep::Operand& o = piece.operands[i];
      if (!o.blob) {
        o.view = StepParts::part(o.view, o.view.dims.size() - 1, range);
      } else if (per_channel[i]) {
        o.view = part_of_block(o.view, range, parts);
      }
    }
    parts.add(std::move(piece));
  }
  return true;
}

void split_large_steps(Module& module, const contract::Capabilities& capabilities) {
  StepParts parts(module, capabilities);
  for (Step& step : module.steps) {
    parts.begin(step.layer);
    if (!split(step, parts)) parts.keep(std::move(step));
  }
  module.steps = std::move(parts.steps());
}

}  // namespace npu::compiler::backend
