// SPDX-License-Identifier: Apache-2.0
// Tiles of element-wise steps: the axes are the iteration's dimensions, merged where every operand allows.
#include <algorithm>

#include "driver/compiler/schedule/dims.h"
#include "driver/compiler/schedule/dram.h"
#include "driver/compiler/schedule/tiled_step.h"
#include "hw/contract/error.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler::backend {
namespace {

constexpr size_t kRank = 4;       // dimensions of a command
constexpr size_t kImageRank = 4;  // [N, H, W, C]

class EwiseTiles : public TiledStep {
 public:
  EwiseTiles(const EwiseStep& step, const contract::Capabilities& capabilities)
      : TiledStep(contract::Engine::kVpu), step_(step), capabilities_(capabilities) {
    Iteration it{step.dims, {}};
    for (const EwiseStep::Operand& o : step.operands) {
      if (!o.blob) it.strides.push_back(o.view.strides);
    }
    it.simplify(step.innermost_fixed, step.open);
    for (size_t d = 0; d < it.dims.size(); ++d) {
      const bool fixed = step.innermost_fixed && d + 1 == it.dims.size();
      axes_.push_back({it.dims[d], fixed ? it.dims[d] : 1, 0, !fixed});
    }
    views_.reserve(step.operands.size());
    size_t stream = 0;
    for (const EwiseStep::Operand& o : step.operands) {
      View& view = views_.emplace_back(o.view);
      if (o.blob) {
        NPU_CHECK(dense(view.dims, view.strides, element_size(view)));
        operands_.push_back({&view, false, true, false, 0, false});
        continue;
      }
      view.dims = it.dims;
      view.strides = it.strides[stream++];
      uint32_t axes = 0;
      for (size_t d = 0; d < view.dims.size(); ++d) {
        if (view.strides[d] != 0 && view.dims[d] > 1) axes |= 1u << d;
      }
      operands_.push_back({&view, o.result, true, false, axes, true, true});
    }
    contract::VpuEwiseCommand vector;
    vector.dims = {1, 1, 1, capabilities.vpu_lanes};
    vector.uops = step.uops;
    for (const View& view : views_) vector.operands.emplace_back().type = view.type;
    for (size_t k = 0; k < views_.size(); ++k) {
      if (step.operands[k].blob) vector.operands[k].bytes = static_cast<uint32_t>(blob_bytes(views_[k]));
    }
    const timing::Cycles cycles = timing::vpu_cycles(vector, capabilities);
    fixed_cycles_ = static_cast<double>(cycles.fill + cycles.drain);
    vector_cycles_ = static_cast<double>(cycles.steady);
  }

  void box_of(size_t index, const Tile& tile, Box& box) const override {
    const View& view = views_[index];
    if (step_.operands[index].blob) {
      box = whole(view);
      return;
    }
    box = tile;
    for (size_t d = 0; d < box.size(); ++d) {
      if (view.strides[d] == 0) box[d].start = 0;
    }
  }

  int64_t largest_bytes(size_t index, std::span<const int64_t> size) const override {
    const View& view = views_[index];
    int64_t bytes = element_size(view);
    if (step_.operands[index].blob) return bytes * elements(view.dims);
    for (size_t d = 0; d < size.size(); ++d) {
      if (view.strides[d] != 0) bytes *= size[d];
    }
    return bytes;
  }

  std::optional<RowAxis> row_axis() const override {
    // The outermost dimension with more than one position, or of a batch of images [N, H, W, C] the second one.
    const std::vector<int64_t>& dims = step_.dims;
    size_t row = 0;
    while (row + 1 < dims.size() && dims[row] == 1) ++row;
    const bool batch = row == 0 && dims.size() == kImageRank && dims[1] > 1;
    if (batch) row = 1;
    const int64_t rows = dims[row], images = batch ? dims[0] : 1;
    for (size_t k = 0; k < views_.size(); ++k) {
      if (!step_.operands[k].result) continue;
      const std::vector<int64_t>& strides = step_.operands[k].view.strides;
      for (size_t d = 0; d < axes_.size(); ++d) {
        const int64_t own = views_[k].strides[d];
        if (own <= 0 || strides[row] % own != 0) continue;
        const int64_t unit = strides[row] / own;
        const bool alone = axes_[d].extent == rows * unit;
        if (!alone && axes_[d].extent != images * rows * unit) continue;
        if (axes_[d].granule > 1 || (batch && alone && d != 1)) return std::nullopt;
        return RowAxis{d, unit, rows, images, batch && alone ? std::optional<size_t>(0) : std::nullopt};
      }
    }
    return std::nullopt;
  }

  double cycles(std::span<const int64_t> size) const override {
    return fixed_cycles_ + static_cast<double>(ceil_div(elements(size), capabilities_.vpu_lanes)) * vector_cycles_;
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    Iteration it;
    for (const Range& range : tile) it.dims.push_back(range.count);
    for (size_t k = 0; k < placed.size(); ++k) {
      if (!step_.operands[k].blob) it.strides.push_back(placed[k].strides);
    }
    it.simplify(step_.innermost_fixed);
    const size_t rank = it.dims.size(), loops = rank > kRank ? rank - kRank : 0;

    contract::VpuEwiseCommand c;
    c.uops = step_.uops;
    c.register_count = step_.register_count;
    c.dims.fill(1);
    for (size_t d = loops; d < rank; ++d) c.dims[kRank - rank + d] = static_cast<uint32_t>(field32(it.dims[d]));
    size_t stream = 0;
    for (size_t k = 0; k < placed.size(); ++k) {
      contract::Operand& o = c.operands.emplace_back();
      o.base = placed[k].address;
      o.type = views_[k].type;
      if (step_.operands[k].blob) {
        o.bytes = static_cast<uint32_t>(blob_bytes(views_[k]));
        continue;
      }
      for (size_t d = loops; d < rank; ++d) o.stride[kRank - rank + d] = field32(it.strides[stream][d]);
      ++stream;
    }
    std::vector<int64_t> index(loops);
    for (;;) {
      stream = 0;
      for (size_t k = 0; k < placed.size(); ++k) {
        if (step_.operands[k].blob) continue;
        int64_t bytes = 0;
        for (size_t d = 0; d < loops; ++d) bytes += index[d] * it.strides[stream][d];
        c.operands[k].base = moved(placed[k].address, bytes);
        ++stream;
      }
      check_command_count(out.size() + 1);
      out.emplace_back(c);
      size_t d = loops;
      while (d > 0 && ++index[d - 1] == it.dims[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

 private:
  static int64_t blob_bytes(const View& view) { return elements(view.dims) * element_size(view); }

  const EwiseStep& step_;
  const contract::Capabilities& capabilities_;
  std::vector<View> views_;
  double fixed_cycles_ = 0, vector_cycles_ = 0;  // of a command; of vpu_lanes elements
};

}  // namespace

std::unique_ptr<TiledStep> tile_ewise(const EwiseStep& step, const contract::Capabilities& capabilities) {
  return std::make_unique<EwiseTiles>(step, capabilities);
}

}  // namespace npu::compiler::backend
