// Tiles of reductions: axes are the outer and the inner dimension; the reduced one is never cut.
#include "driver/compiler/schedule/cost.h"
#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {
namespace {

enum AxisIndex : size_t { kOuter, kInner };
enum OperandIndex : size_t { kSource, kResult };

class ReduceTiles : public TiledStep {
 public:
  ReduceTiles(const ReduceStep& step, const contract::Capabilities& capabilities)
      : step_(step), capabilities_(capabilities) {
    axes_ = {{step.src.dims[0], 1, 0}, {step.src.dims[2], 1, 0}};
    operands_ = {{&step.src, false, contiguous(step.src), false, 3}, {&step.dst, true, contiguous(step.dst), false, 3}};
  }

  Box box(size_t index, const Tile& tile) const override {
    if (index == kSource) return {tile[kOuter], {0, step_.src.dims[1]}, tile[kInner]};
    return {tile[kOuter], tile[kInner]};
  }

  double cycles(std::span<const int64_t> size) const override {
    return vpu_cycles(elements(size) * step_.src.dims[1], 2, capabilities_);
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    contract::VpuReduceCommand c;
    c.op = step_.op;
    c.type = step_.src.type;
    c.outer = static_cast<uint32_t>(tile[kOuter].count);
    c.axis = static_cast<uint32_t>(step_.src.dims[1]);
    c.inner = static_cast<uint32_t>(tile[kInner].count);
    c.src = placed[kSource].address;
    c.dst = placed[kResult].address;
    c.src_outer_stride = field32(placed[kSource].strides[0]);
    c.src_axis_stride = field32(placed[kSource].strides[1]);
    c.dst_outer_stride = field32(placed[kResult].strides[0]);
    out.emplace_back(c);
  }

 private:
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
