// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_ewise.h"

#include <algorithm>

#include "hw/contract/gen/micro_operations.h"
#include "hw/engine/engine.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

using contract::Element;
using contract::ErrorCode;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;

EwiseRunner::Loops EwiseRunner::merge_loops(const EwiseTile& tile) {
  const contract::VpuEwiseCommand& command = tile.command;
  const auto follows = [&](const Loops& loops, size_t to, size_t from) {
    for (size_t i = 0; i < tile.uses.size(); ++i) {
      const int64_t inner = loops.strides[i][to] * static_cast<int64_t>(loops.dims[to]);
      if (!tile.uses[i].blob && command.operands[i].stride[from] != inner) return false;
    }
    return true;
  };
  Loops loops;
  size_t to = kDims - 1;
  bool open = true;  // nothing was put into dimension `to` yet
  for (size_t from = kDims; from-- > 0;) {
    const bool innermost = from == kDims - 1 && tile.per_channel;
    if (command.dims[from] == 1 && !innermost) continue;
    const bool fixed = to == kDims - 1 && tile.per_channel;
    if (!open && !fixed && follows(loops, to, from)) {
      loops.dims[to] *= command.dims[from];
      continue;
    }
    if (!open) --to;
    open = false;
    loops.dims[to] = command.dims[from];
    for (size_t i = 0; i < tile.uses.size(); ++i) loops.strides[i][to] = command.operands[i].stride[from];
  }
  return loops;
}

void EwiseRunner::prepare_rescales(const EwiseTile& tile, uint64_t inner, uint64_t rows) {
  for (size_t u = 0; u < tile.command.uops.size(); ++u) {
    const Uop& uop = tile.command.uops[u];
    UopRescale& to = rescales_[u];
    to = {};
    if (uop.op == UopCode::kNegate) {
      const ValueRange range = value_range(static_cast<Element>(uop.b), false);
      to.low = range.low;
      to.high = range.high;
    }
    if (uop.op != UopCode::kRescale) continue;
    const auto how = contract::RescaleImmediate::unpack(uop.imm0);
    to.per_element = how.per_channel;
    to.wide = how.kind == Rescale::kSingle16;
    ChannelParams& params = params_[u];
    params.load({operands_.data[uop.b], tile.command.operands[uop.b].bytes}, to.per_element ? inner : 1, how.kind);
    // A block may hold several rows: each has all channels.
    if (to.per_element) params.repeat(rows);
    const ValueRange range = value_range(how.type, how.output_unsigned);
    to.multiplier = params.multiplier.data();
    to.round = params.round.data();
    to.extra = params.extra.data();
    to.shift = params.shift.data();
    to.input_zp = params.header.input_zp;
    to.output_zp = params.header.output_zp;
    to.low = range.low;
    to.high = range.high;
    to.clamp_min = params.header.clamp_min;
    to.clamp_max = params.header.clamp_max;
  }
}

void EwiseRunner::execute(const EwiseTile& tile) {
  const Loops loops = merge_loops(tile);
  const uint64_t inner = loops.dims[3];
  // Whole rows of a block when they fit, else pieces of one row.
  const uint64_t most_cols = std::min<uint64_t>(inner, kBlockElements);
  const uint64_t most_rows = std::min<uint64_t>(loops.dims[2], kBlockElements / most_cols);
  prepare_rescales(tile, inner, most_rows);
  const std::array<UopRescale, contract::kMaxUops> rescales = rescales_;

  UopBlock block;
  block.uops = tile.command.uops;
  block.registers = registers_.get<int64_t>(size_t{tile.command.register_count} * kBlockElements);
  block.streams = streams_.data();
  block.tables = operands_.data.data();
  block.rescales = rescales_.data();
  const auto run_block = [&](const std::array<uint64_t, kDims>& at) {
    for (size_t i = 0; i < tile.uses.size(); ++i) {
      if (!tile.uses[i].loaded && !tile.uses[i].stored) continue;
      int64_t offset = 0;
      for (size_t d = 0; d < kDims; ++d) offset += static_cast<int64_t>(at[d]) * loops.strides[i][d];
      streams_[i] = {operands_.data[i] + offset, loops.strides[i][2], loops.strides[i][3],
                     tile.command.operands[i].type};
    }
    for (size_t u = 0; u < block.uops.size(); ++u) {
      if (!rescales[u].per_element) continue;
      rescales_[u].multiplier = rescales[u].multiplier + at[3];
      rescales_[u].round = rescales[u].round + at[3];
      rescales_[u].extra = rescales[u].extra + at[3];
      rescales_[u].shift = rescales[u].shift + at[3];
    }
    kernels_.uops(block);
  };
  std::array<uint64_t, kDims> at{};
  for (at[0] = 0; at[0] < loops.dims[0]; ++at[0]) {
    for (at[1] = 0; at[1] < loops.dims[1]; ++at[1]) {
      for (at[2] = 0; at[2] < loops.dims[2]; at[2] += most_rows) {
        block.rows = std::min(most_rows, loops.dims[2] - at[2]);
        for (at[3] = 0; at[3] < inner; at[3] += most_cols) {
          block.cols = std::min(most_cols, inner - at[3]);
          run_block(at);
        }
      }
    }
  }
}

TileResult EwiseRunner::run(const EwiseTile& tile, MemoryView& memory, bool timed) {
  TileResult result;
  result.error = operands_.resolve(tile, memory);
  if (result.error != ErrorCode::kOk) return result;
  execute(tile);
  if (timed) result.set_time(timing::vpu_cycles(tile.command, caps_), tile_ports(tile, caps_));
  return result;
}

}  // namespace npu::engine
