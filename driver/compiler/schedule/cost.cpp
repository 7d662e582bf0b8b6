#include "driver/compiler/schedule/cost.h"

#include <algorithm>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {
namespace {

constexpr double kStart = 24;         // cycles from dispatch to the first result of an engine
constexpr double kDramLatency = 120;  // cycles until the first burst of a command arrives
constexpr int64_t kDramGrain = 32;    // bytes that DRAM moves at least for a run

}  // namespace

double mxu_cycles(const MxuWork& w, const contract::Capabilities& c) {
  const int64_t weight_bytes = contract::element_bytes(w.weight_type);
  const bool wide = w.src_type == contract::Element::kI16;
  const int64_t pixels = w.out_h * w.out_w, groups = ceil_div(w.out_c, c.mxu_cols);
  if (w.mode == contract::MxuMode::kDepthwise) {
    const int64_t pass = ceil_div(w.kernel_h * w.kernel_w, c.mxu_dw_taps) * (wide ? 2 : 1);
    return kStart + static_cast<double>(pixels * groups * pass);
  }
  const int64_t window = w.kernel_h * w.kernel_w;
  const int64_t steps =
      w.in_c >= c.mxu_depth ? window * ceil_div(w.in_c, c.mxu_depth) : ceil_div(window * w.in_c, c.mxu_depth);
  const int64_t block = std::max<int64_t>(1, c.mxu_acc_bytes / 2 / (wide ? 8 : 4) / c.mxu_cols);
  const int64_t columns = std::min<int64_t>(w.out_c, c.mxu_cols);
  const int64_t load = ceil_div(columns * c.mxu_depth * weight_bytes, c.mxu_weight_port_bytes);
  const int64_t rate = wide ? (weight_bytes == 2 ? 4 : 2) : 1;
  const int64_t full = pixels / block, rest = pixels % block;
  int64_t cycles = full * std::max(block * rate, load);
  if (rest > 0) cycles += std::max(rest * rate, load);
  return kStart + static_cast<double>(cycles * steps * groups + load + std::min(pixels, block));
}

double vpu_cycles(int64_t elements, int64_t operations, const contract::Capabilities& c) {
  return kStart + static_cast<double>(ceil_div(elements, c.vpu_lanes) * operations);
}

double dma_cycles(int64_t runs, int64_t run, bool dram, const contract::Capabilities& c) {
  if (!dram) return kStart + static_cast<double>(runs * ceil_div(run, c.spm_bank_bytes));
  const int64_t moved = runs * (run >= kDramGrain ? run : kDramGrain);
  return kDramLatency + static_cast<double>(ceil_div(moved, c.dma_port_bytes));
}

}  // namespace npu::compiler::backend
