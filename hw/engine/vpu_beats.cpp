// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_beats.h"

#include <algorithm>

#include "hw/contract/uop_fields.h"
#include "hw/engine/beats.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

namespace {

using contract::Uop;
using contract::UopRole;

constexpr uint64_t kLaneBytes = 4;

Stream stream_of(const Box& box, Port port, uint64_t bytes, uint64_t width, uint64_t begin, uint64_t end) {
  Stream stream;
  stream.port = port;
  stream.access = port == Port::kResult ? Access::kWrite : Access::kRead;
  stream.base = box.base;
  stream.extent = extent_of(box);
  stream.bytes = bytes;
  stream.width = width;
  stream.begin = begin;
  stream.cycles = std::max<uint64_t>(1, end - begin);
  return stream;
}

// Bytes of a box, what is repeated counted once.
uint64_t distinct_bytes(const Box& box) {
  uint64_t bytes = box.run;
  for (size_t d = 0; d < box.count.size(); ++d) bytes *= box.stride[d] == 0 ? 1 : box.count[d];
  return bytes;
}

}  // namespace

void set_time(TileResult& result, const timing::Cycles& cycles, std::vector<BeatRun> beats) {
  result.cycles = cycles.total();
  result.fill = cycles.fill;
  result.steady = cycles.steady;
  result.drain = cycles.drain;
  result.beats = std::move(beats);
}

std::vector<BeatRun> ewise_beats(const EwiseTile& tile, const contract::Capabilities& caps) {
  const timing::Cycles cycles = timing::ewise_cycles(tile.command, caps);
  std::vector<BeatRun> beats;
  uint64_t blob_begin = 0;
  for (size_t i = 0; i < tile.uses.size(); ++i) {
    if (!tile.uses[i].blob) continue;
    const Box box = tile.box(i);
    const uint64_t width = kLaneBytes * caps.vpu_lanes;
    const uint64_t blob_end = blob_begin + timing::ceil_div(box.run, width);
    add_stream(beats, stream_of(box, Port::kParameter, box.run, width, blob_begin, blob_end));
    blob_begin = blob_end;
  }
  for (const Uop& uop : tile.command.uops) {
    const contract::NamedOperand operand = operand_of(uop);
    const bool write = operand.role == UopRole::kStored;
    if (!write && operand.role != UopRole::kLoaded) continue;
    const Box box = tile.box(operand.index);
    add_stream(beats,
               stream_of(box, write ? Port::kResult : Port::kOperand, distinct_bytes(box), box.run * caps.vpu_lanes,
                         write ? cycles.fill : cycles.fill - 1, write ? cycles.total() : cycles.fill + cycles.steady));
  }
  return beats;
}

std::vector<BeatRun> pool_beats(const PoolTile& tile, const contract::Capabilities& caps) {
  const contract::VpuPoolCommand& command = tile.command;
  const timing::Cycles cycles = timing::pool_cycles(command, caps);
  const uint64_t end = cycles.fill + cycles.steady;
  std::vector<BeatRun> beats;
  if (command.mode == contract::PoolMode::kAvg) {
    const Box params = tile.params_box();
    add_stream(beats, stream_of(params, Port::kParameter, params.run, kLaneBytes * caps.vpu_lanes, 0, cycles.fill));
  }
  const uint64_t width = caps.vpu_lanes * tile.bytes;
  if (tile.reads_input()) {
    const uint64_t positions =
        taps_inside(command.out_h, command.stride_y, command.pad_top, command.kernel_h, 1, command.in_h) *
        taps_inside(command.out_w, command.stride_x, command.pad_left, command.kernel_w, 1, command.in_w);
    add_stream(beats, stream_of(tile.src_box(), Port::kOperand, positions * command.channels * tile.bytes, width,
                                cycles.fill - 1, end));
  }
  const Box dst = tile.dst_box();
  add_stream(beats, stream_of(dst, Port::kResult, distinct_bytes(dst), width, cycles.fill, cycles.total()));
  return beats;
}

std::vector<BeatRun> reduce_beats(const ReduceTile& tile, const contract::Capabilities& caps) {
  const contract::VpuReduceCommand& command = tile.command;
  const timing::Cycles cycles = timing::reduce_cycles(command, caps);
  const Box src = tile.src_box(), dst = tile.dst_box();
  const uint64_t elements = uint64_t{command.outer} * command.axis * command.inner;
  std::vector<BeatRun> beats;
  add_stream(beats, stream_of(src, Port::kOperand, elements * tile.src_bytes, caps.vpu_lanes * tile.src_bytes,
                              cycles.fill - 1, cycles.fill + cycles.steady));
  add_stream(beats, stream_of(dst, Port::kResult, distinct_bytes(dst), caps.vpu_lanes * tile.dst_bytes, cycles.fill,
                              cycles.total()));
  return beats;
}

}  // namespace npu::engine
