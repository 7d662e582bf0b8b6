// SPDX-License-Identifier: Apache-2.0
// Copies and fills: DMA moves them between any memories.
#include "driver/compiler/schedule/cost.h"
#include "driver/compiler/schedule/dims.h"
#include "driver/compiler/schedule/dma.h"
#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {
namespace {

class CopyTiles : public TiledStep {
  enum OperandIndex : size_t { kResult, kSource };  // a fill has no source

 public:
  CopyTiles(const CopyStep& step, const contract::Capabilities& capabilities)
      : TiledStep(contract::Engine::kDma), step_(step), capabilities_(capabilities), dst_(step.dst), src_(step.src) {
    Iteration it{dst_.dims, {dst_.strides}};
    if (!step.fill) it.strides.push_back(src_.strides);
    it.simplify(false, step.open);
    for (int64_t dim : it.dims) axes_.push_back({dim, 1, 0});
    const uint32_t all = (1u << it.dims.size()) - 1;
    dst_.dims = it.dims;
    dst_.strides = it.strides[0];
    operands_.push_back({&dst_, true, true, true, all, false, true});
    if (!step.fill) {
      src_.dims = it.dims;
      src_.strides = it.strides[1];
      operands_.push_back({&src_, false, true, true, all});
    }
  }

  void box_of(size_t, const Tile& tile, Box& box) const override { box = tile; }

  double cycles(std::span<const int64_t> size) const override {
    const bool runs =
        dst_.strides.back() == element_size(dst_) && (step_.fill || src_.strides.back() == element_size(src_));
    const int64_t run = runs ? size.back() : 1;
    return transfer_cycles(elements(size) / run, run * element_size(dst_), true, capabilities_);
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    std::vector<int64_t> counts;
    for (const Range& range : tile) counts.push_back(range.count);
    std::vector<contract::DmaCommand> moves;
    if (step_.fill) {
      dma_fill(counts, placed[kResult], element_size(dst_), step_.fill_value, moves);
    } else {
      dma_copy(counts, placed[kSource], placed[kResult], element_size(dst_), moves);
    }
    for (contract::DmaCommand& move : moves) out.emplace_back(move);
  }

 private:
  const CopyStep& step_;
  const contract::Capabilities& capabilities_;
  View dst_, src_;
};

}  // namespace

std::unique_ptr<TiledStep> tile_copy(const CopyStep& step, const contract::Capabilities& capabilities) {
  return std::make_unique<CopyTiles>(step, capabilities);
}

}  // namespace npu::compiler::backend
