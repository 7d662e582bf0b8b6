// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/dma_cycles.h"

namespace npu::timing {

namespace {

constexpr uint64_t kDmaFillStages = 4;   // descriptor, address, request, first beat
constexpr uint64_t kDmaDrainStages = 2;  // last beat, done

struct Pieces {
  uint64_t count = 1;
  uint64_t bytes = 0;  // of one piece
};

// From inside out, dimensions become part of the piece while follows(dimension, bytes so far) says so; those that
// choose a row never do.
template <class Follows>
Pieces merge(const contract::DmaSide& side, Follows follows) {
  Pieces pieces;
  pieces.bytes = side.run;
  bool joined = true;
  for (size_t i = side.count.size(); i-- > 0;) {
    const uint64_t count = side.count[i];
    if (count == 1) continue;
    joined = joined && !(side.indexed && i < contract::kDmaRowDims) && follows(i, static_cast<int64_t>(pieces.bytes));
    if (joined) {
      pieces.bytes *= count;
    } else {
      pieces.count *= count;
    }
  }
  return pieces;
}

// What follows on both sides.
Pieces merge(const contract::DmaCommand& command) {
  const bool fills = command.mode == contract::DmaMode::kFill;
  contract::DmaSide both = contract::dma_destination(command);
  both.indexed = contract::has_indices(command);
  return merge(both, [&](size_t i, int64_t bytes) {
    return (fills || command.src_stride[i] == bytes) && command.dst_stride[i] == bytes;
  });
}

}  // namespace

uint64_t dma_bytes(const contract::DmaCommand& command) {
  const Pieces pieces = merge(command);
  return pieces.count * pieces.bytes;
}

uint64_t dma_pieces(const contract::DmaCommand& command) { return merge(command).count; }

uint64_t dma_side_beats(const contract::DmaSide& side, uint32_t port_bytes) {
  const Pieces pieces = merge(side, [&](size_t i, int64_t bytes) { return side.stride[i] == bytes; });
  return pieces.count * ceil_div(pieces.bytes, port_bytes);
}

uint64_t dma_index_beats(const contract::DmaCommand& command, uint32_t port_bytes) {
  return ceil_div(contract::index_count(command) * contract::element_bytes(contract::Element::kI32), port_bytes);
}

Cycles dma_cycles(const contract::DmaCommand& command, const contract::Capabilities& caps) {
  const Pieces pieces = merge(command);
  if (pieces.count == 0 || pieces.bytes == 0) return {};
  const uint64_t rows = pieces.count * ceil_div(pieces.bytes, caps.dma_port_bytes);
  const uint64_t indices =
      contract::has_indices(command) ? dma_index_beats(command, caps.dma_port_bytes) + kDmaIndexCycles : uint64_t{0};
  return {kDmaFillStages, indices + rows, kDmaDrainStages};
}

}  // namespace npu::timing
