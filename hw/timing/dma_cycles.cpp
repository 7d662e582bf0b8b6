#include "hw/timing/dma_cycles.h"

namespace npu::timing {

namespace {

constexpr uint64_t kFillStages = 4;   // descriptor, address, request, first beat
constexpr uint64_t kDrainStages = 2;  // last beat, done

struct Pieces {
  uint64_t count = 1;
  uint64_t bytes = 0;  // of one piece
};

Pieces merge(const contract::DmaCommand& command) {
  Pieces pieces;
  pieces.bytes = command.run_bytes;
  bool joined = true;
  for (size_t i = command.count.size(); i-- > 0;) {
    const uint64_t count = command.count[i];
    if (count == 1) continue;
    const bool src_follows =
        command.mode == contract::DmaMode::kFill || command.src_stride[i] == static_cast<int64_t>(pieces.bytes);
    joined = joined && src_follows && command.dst_stride[i] == static_cast<int64_t>(pieces.bytes);
    if (joined) {
      pieces.bytes *= count;
    } else {
      pieces.count *= count;
    }
  }
  return pieces;
}

}  // namespace

uint64_t dma_bytes(const contract::DmaCommand& command) {
  const Pieces pieces = merge(command);
  return pieces.count * pieces.bytes;
}

uint64_t dma_pieces(const contract::DmaCommand& command) { return merge(command).count; }

Cycles dma_cycles(const contract::DmaCommand& command, const contract::Capabilities& caps) {
  const Pieces pieces = merge(command);
  if (pieces.count == 0 || pieces.bytes == 0) return {};
  return {kFillStages, pieces.count * ceil_div(pieces.bytes, caps.dma_port_bytes), kDrainStages};
}

}  // namespace npu::timing
