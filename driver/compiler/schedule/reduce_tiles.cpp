// SPDX-License-Identifier: Apache-2.0
// Tiles of reductions: axes are the outer and the inner dimension; the reduced one is never cut.
#include "driver/compiler/schedule/tiled_step.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler::backend {
namespace {

class ReduceTiles : public TiledStep {
  enum AxisIndex : size_t { kOuter, kInner };
  enum OperandIndex : size_t { kSource, kResult };

 public:
  ReduceTiles(const ReduceStep& step, const contract::Capabilities& capabilities)
      : TiledStep(contract::Engine::kVpu), step_(step), capabilities_(capabilities) {
    axes_ = {{step.src.dims[0], 1, 0, true, "outer"}, {step.src.dims[2], 1, 0, true, "inner"}};
    operands_ = {{&step.src, false, contiguous(step.src), false, 3}, {&step.dst, true, contiguous(step.dst), false, 3}};
  }

  void box_of(size_t index, const Tile& tile, Box& box) const override {
    switch (static_cast<OperandIndex>(index)) {
      case kSource:
        box = {tile[kOuter], {0, step_.src.dims[1]}, tile[kInner]};
        break;
      case kResult:
        box = {tile[kOuter], tile[kInner]};
        break;
    }
  }

  double cycles(std::span<const int64_t> size) const override {
    return static_cast<double>(timing::vpu_cycles(shape(size[kOuter], size[kInner]), capabilities_).total());
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    contract::VpuReduceCommand c = shape(tile[kOuter].count, tile[kInner].count);
    c.src = placed[kSource].address;
    c.dst = placed[kResult].address;
    c.src_outer_stride = field32(placed[kSource].strides[0]);
    c.src_axis_stride = field32(placed[kSource].strides[1]);
    c.dst_outer_stride = field32(placed[kResult].strides[0]);
    out.emplace_back(c);
  }

 private:
  [[nodiscard]] contract::VpuReduceCommand shape(int64_t outer, int64_t inner) const {
    contract::VpuReduceCommand c;
    c.op = step_.op;
    c.type = step_.src.type;
    c.ignore_nan = step_.ignore_nan;
    c.outer = static_cast<uint32_t>(outer);
    c.axis = static_cast<uint32_t>(step_.src.dims[1]);
    c.inner = static_cast<uint32_t>(inner);
    return c;
  }
  static bool contiguous(const View& view) {
    return view.dims.back() == 1 || view.strides.back() == element_size(view);
  }

  const ReduceStep& step_;
  const contract::Capabilities& capabilities_;
};

}  // namespace

std::unique_ptr<TiledStep> tile_reduce(const ReduceStep& step, const contract::Capabilities& capabilities) {
  return std::make_unique<ReduceTiles>(step, capabilities);
}

}  // namespace npu::compiler::backend
