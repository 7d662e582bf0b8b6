// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_beats.h"

#include <algorithm>

#include "hw/engine/beats.h"
#include "hw/timing/mxu_cycles.h"

namespace npu::engine {

namespace {

using contract::MxuMode;

constexpr uint64_t kSegments = 8;

uint64_t activation_bytes(const MxuTile& tile, const timing::MxuLoops& loops) {
  const contract::MxuCommand& command = tile.command;
  const uint64_t positions = taps_inside(command.out_h, command.stride_y, command.pad_top, command.kernel_h,
                                         command.dilation_y, command.in_h) *
                             taps_inside(command.out_w, command.stride_x, command.pad_left, command.kernel_w,
                                         command.dilation_x, command.in_w);
  const uint64_t once = positions * command.in_c * tile.src_bytes;
  if (command.mode != MxuMode::kDepthwise) return once * loops.groups;
  const uint64_t box = static_cast<uint64_t>(tile.rows.size() * tile.cols.size()) * command.in_c * tile.src_bytes;
  return std::min(once, box);
}

// The part of the input box that pixels first .. last of the tile can touch.
Extent activation_extent(const MxuTile& tile, uint64_t first, uint64_t last) {
  const contract::MxuCommand& command = tile.command;
  MxuTile part = tile;
  part.rows = used_range(static_cast<int64_t>(first / command.out_w), static_cast<int64_t>(last / command.out_w),
                         command.stride_y, command.pad_top, command.kernel_h, command.dilation_y, command.in_h);
  // Pixels that see only padding still get their share of the tile's bytes: charge them to the whole box.
  return extent_of(part.reads_input() ? part.src_box() : tile.src_box());
}

}  // namespace

std::vector<BeatRun> mxu_beats(const MxuTile& tile, const contract::Capabilities& caps) {
  const contract::MxuCommand& command = tile.command;
  const timing::MxuLoops loops = timing::mxu_loops(command, caps);
  const timing::Cycles cycles = timing::mxu_cycles(command, caps);
  const bool depthwise = command.mode == MxuMode::kDepthwise;
  const uint64_t block_cycles = loops.blocks > 1 ? timing::mxu_block_cycles(loops, 0) : cycles.steady;
  const uint64_t entry_bytes = uint64_t{command.out_c} * contract::ParameterEntry::kBytes;
  const uint64_t input_bytes = tile.reads_input() ? activation_bytes(tile, loops) : 0;
  const Extent weights = extent_of(tile.weight_box());
  const Extent results = extent_of(tile.dst_box());
  std::vector<BeatRun> beats;

  Stream header;
  header.port = Port::kParameter;
  header.base = command.params;
  header.extent = {0, contract::ParameterHeader::kBytes};
  header.bytes = header.width = contract::ParameterHeader::kBytes;
  add_stream(beats, header);

  const uint64_t segments = std::min(loops.blocks, kSegments);
  for (uint64_t s = 0; s < segments; ++s) {
    const uint64_t first_block = share(loops.blocks, s, segments);
    const uint64_t end_block = share(loops.blocks, s + 1, segments);
    const bool last = s + 1 == segments;
    const uint64_t begin = cycles.fill + first_block * block_cycles;
    const uint64_t end = last ? cycles.fill + cycles.steady : cycles.fill + end_block * block_cycles;
    const uint64_t first_pixel = first_block * loops.block_pixels;
    const uint64_t end_pixel = last ? loops.pixels : end_block * loops.block_pixels;
    const uint64_t blocks = end_block - first_block;

    Stream stream;
    stream.port = Port::kWeight;
    stream.base = command.weights;
    stream.extent = weights;
    stream.bytes = blocks * tile.weight_box().run * tile.weight_box().count[3];
    stream.width = caps.mxu_weight_port_bytes;
    stream.begin = s == 0 ? 0 : begin;
    stream.cycles = end - stream.begin;
    add_stream(beats, stream);

    stream.port = Port::kParameter;
    stream.base = command.params;
    stream.extent = {contract::ParameterHeader::kBytes, entry_bytes};
    stream.bytes = blocks * entry_bytes;
    stream.begin = begin;
    stream.cycles = end - begin;
    add_stream(beats, stream);

    if (input_bytes != 0) {
      stream.port = Port::kActivation;
      stream.base = command.src;
      stream.extent = activation_extent(tile, first_pixel, end_pixel - 1);
      stream.bytes = share(input_bytes, end_pixel, loops.pixels) - share(input_bytes, first_pixel, loops.pixels);
      stream.width = depthwise ? uint64_t{caps.mxu_cols} * caps.mxu_dw_taps * tile.src_bytes : caps.mxu_depth;
      add_stream(beats, stream);
    }

    // The first group leaves when it is complete; the last one leaves while the next segment begins.
    stream.port = Port::kResult;
    stream.access = Access::kWrite;
    stream.base = command.dst;
    stream.extent = results;
    const uint64_t pixel_bytes = command.out_c * tile.dst_bytes;
    if (segments > 1) {
      const uint64_t from = share(results.bytes, first_pixel, loops.pixels);
      const uint64_t to = share(results.bytes, end_pixel, loops.pixels);
      stream.extent = {results.low + static_cast<int64_t>(from), to - from};
    }
    stream.bytes = (end_pixel - first_pixel) * pixel_bytes;
    stream.width = std::min<uint64_t>(caps.mxu_cols, command.out_c) * tile.dst_bytes;
    stream.begin = begin + timing::mxu_group_cycles(loops, first_block, 0);
    stream.cycles = (last ? cycles.total() : end + loops.block_pixels) - stream.begin;
    add_stream(beats, stream);
  }
  return beats;
}

}  // namespace npu::engine
