// SPDX-License-Identifier: Apache-2.0
// Tiles of MAX_POOL2D and AVG_POOL2D: axes are batch, output rows, output columns, channels.
#include "driver/compiler/schedule/image.h"
#include "driver/compiler/schedule/tiled_step.h"
#include "driver/compiler/schedule/window.h"
#include "hw/contract/error.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler::backend {
namespace {

using contract::PoolMode;

bool has_zero_points(PoolMode mode) {
  switch (mode) {
    case PoolMode::kAvg:
      return true;
    case PoolMode::kMax:
      return false;
  }
  return false;
}

class PoolTiles : public TiledStep {
  enum AxisIndex : size_t { kN, kY, kX, kC };
  enum OperandIndex : size_t { kSource, kResult, kParams };  // kParams: only of what has zero points

 public:
  PoolTiles(const PoolStep& step, const contract::Capabilities& capabilities)
      : TiledStep(contract::Engine::kVpu), step_(step), capabilities_(capabilities) {
    const View& src = step.src;
    const View& dst = step.dst;
    y_ = {step.kernel_h, step.stride_y, 1, step.pad_top, src.dims[1]};
    x_ = {step.kernel_w, step.stride_x, 1, step.pad_left, src.dims[2]};
    axes_ = {{dst.dims[0], 1, 0, true, "batch"},
             {dst.dims[1], 1, 0, true, "rows"},
             {dst.dims[2], 1, 0, true, "columns"},
             {dst.dims[3], 1, 1, true, "channels"}};
    operands_ = {{&src, false, contiguous_channels(src), false, 0xf},
                 {&dst, true, contiguous_channels(dst), false, 0xf}};
    if (has_zero_points(step.mode)) operands_.push_back({step.block ? &*step.block : nullptr});
  }

  void box_of(size_t index, const Tile& tile, Box& box) const override {
    switch (static_cast<OperandIndex>(index)) {
      case kSource:
        box = {tile[kN], y_.input(tile[kY]), x_.input(tile[kX]), tile[kC]};
        break;
      case kResult:
        box = tile;
        break;
      case kParams:
        box = whole(step_.block.value());  // else it has no view
        break;
    }
  }

  int64_t bytes(size_t index, const Tile& tile) const override {
    return index == kParams ? contract::ParameterHeader::kBytes : TiledStep::bytes(index, tile);
  }

  int64_t largest_bytes(size_t index, std::span<const int64_t> size) const override {
    const int64_t unit = element_size(step_.src);
    switch (static_cast<OperandIndex>(index)) {
      case kSource:
        return size[kN] * y_.largest_input(size[kY]) * x_.largest_input(size[kX]) * size[kC] * unit;
      case kResult:
        return elements(size) * unit;
      case kParams:
        return contract::ParameterHeader::kBytes;
    }
    return 0;
  }

  std::optional<RowAxis> row_axis() const override {
    const int64_t images = step_.dst.dims[0];
    return RowAxis{kY, 1, step_.dst.dims[1], images, images > 1 ? std::optional<size_t>(kN) : std::nullopt};
  }

  void make(size_t, const Tile&, uint8_t* out) const override {
    contract::ParameterHeader header;
    header.input_zp = step_.input_zp;
    header.output_zp = step_.output_zp;
    header.store(out);
  }

  double cycles(std::span<const int64_t> size) const override {
    contract::VpuPoolCommand c;
    c.mode = step_.mode;
    c.type = step_.src.type;
    c.channels = static_cast<uint32_t>(size[kC]);
    c.out_h = static_cast<uint32_t>(size[kY]);
    c.out_w = static_cast<uint32_t>(size[kX]);
    c.kernel_h = static_cast<uint32_t>(step_.kernel_h);
    c.kernel_w = static_cast<uint32_t>(step_.kernel_w);
    return static_cast<double>(size[kN]) * static_cast<double>(timing::vpu_cycles(c, capabilities_).total());
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    const Range rows = y_.input(tile[kY]), columns = x_.input(tile[kX]);
    contract::VpuPoolCommand c;
    c.mode = step_.mode;
    c.type = step_.src.type;
    c.ignore_nan = step_.ignore_nan;
    c.in_h = static_cast<uint32_t>(rows.count);
    c.in_w = static_cast<uint32_t>(columns.count);
    c.channels = static_cast<uint32_t>(tile[kC].count);
    c.out_h = static_cast<uint32_t>(tile[kY].count);
    c.out_w = static_cast<uint32_t>(tile[kX].count);
    set_image_strides(placed[kSource], placed[kResult], c);
    c.kernel_h = field_of_window(step_.kernel_h);
    c.kernel_w = field_of_window(step_.kernel_w);
    c.stride_y = field_of_window(step_.stride_y);
    c.stride_x = field_of_window(step_.stride_x);
    c.pad_top = field_of_padding(y_.padding(tile[kY]));
    c.pad_left = field_of_padding(x_.padding(tile[kX]));
    if (placed.size() > kParams) c.params = placed[kParams].address;
    for (int64_t n = 0; n < tile[kN].count; ++n) {
      c.src = moved(placed[kSource].address, n * placed[kSource].strides[0]);
      c.dst = moved(placed[kResult].address, n * placed[kResult].strides[0]);
      out.emplace_back(c);
    }
  }

 private:
  const PoolStep& step_;
  const contract::Capabilities& capabilities_;
  Window y_, x_;
};

}  // namespace

std::unique_ptr<TiledStep> tile_pool(const PoolStep& step, const contract::Capabilities& capabilities) {
  return std::make_unique<PoolTiles>(step, capabilities);
}

}  // namespace npu::compiler::backend
