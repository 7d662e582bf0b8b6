// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_float.h"

#include <algorithm>
#include <bit>

#include "hw/contract/elements.h"
#include "hw/timing/mxu_cycles.h"

namespace npu::engine {

namespace {

using contract::MxuCommand;
using contract::MxuMode;

// Elements of windows that are made at a time, to stay in the caches together with a panel.
constexpr uint64_t kWindowElements = 64 * 1024;
// A multiple of the rows that kernels take at once.
constexpr uint64_t kSomeRows = 8, kMostRows = 256;
// Elements of a depthwise input that is converted as a whole. A box whose rows are the same bytes again may have any
// number of them.
constexpr uint64_t kMostInput = 4 * 1024 * 1024;

// Pieces of `total` of at most `most`.
template <class Visit>
void in_pieces(uint64_t total, uint64_t most, Visit visit) {
  for (uint64_t from = 0; from < total; from += most) visit(std::min(most, total - from));
}

uint8_t* result_of(const MxuTile& tile, const MxuOperands& at, uint64_t pixel) {
  const auto y = static_cast<int64_t>(pixel / tile.command.out_w), x = static_cast<int64_t>(pixel % tile.command.out_w);
  return at.dst + y * tile.command.dst_row_stride + x * tile.command.dst_pixel_stride;
}

// Null where the tile adds nothing.
const uint8_t* residual_of(const MxuTile& tile, const MxuOperands& at, uint64_t pixel, size_t channel) {
  if (!tile.adds()) return nullptr;
  const auto y = static_cast<int64_t>(pixel / tile.command.out_w), x = static_cast<int64_t>(pixel % tile.command.out_w);
  return at.residual + y * tile.command.residual_row_stride + x * tile.command.residual_pixel_stride +
         channel * tile.dst_bytes;
}

bool lies_in(Range range, int64_t at) { return range.begin <= at && at < range.end; }

// The first kernel position of an output pixel.
struct Corner {
  int64_t y, x;
};
Corner corner_of(const MxuTile& tile, uint64_t pixel) {
  const MxuCommand& command = tile.command;
  return {static_cast<int64_t>(pixel / command.out_w) * command.stride_y - command.pad_top,
          static_cast<int64_t>(pixel % command.out_w) * command.stride_x - command.pad_left};
}

// Calls visit(tap, y, x, whether it lies in the input box) for each kernel position of an output pixel.
template <class Visit>
void for_each_tap(const MxuTile& tile, uint64_t pixel, Visit visit) {
  const MxuCommand& command = tile.command;
  const Corner corner = corner_of(tile, pixel);
  uint64_t tap = 0;
  for (int64_t ky = 0; ky < command.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < command.kernel_w; ++kx, ++tap) {
      const int64_t y = corner.y + ky * command.dilation_y, x = corner.x + kx * command.dilation_x;
      visit(tap, y, x, lies_in(tile.rows, y) && lies_in(tile.cols, x));
    }
  }
}

// `src` is the first byte of the part of the input box that the tile touches.
const uint8_t* element_at(const MxuTile& tile, const uint8_t* src, int64_t y, int64_t x) {
  return src + (y - tile.rows.begin) * tile.command.src_row_stride +
         (x - tile.cols.begin) * tile.command.src_pixel_stride;
}

// Calls visit(first tap, taps, their first byte or null outside of the input box) for runs of taps of a kernel row
// whose elements follow each other in memory.
template <class Visit>
void for_each_run(const MxuTile& tile, const uint8_t* src, uint64_t pixel, Visit visit) {
  const MxuCommand& command = tile.command;
  const bool dense =
      command.dilation_x == 1 && command.src_pixel_stride == static_cast<int64_t>(command.in_c * tile.src_bytes);
  const int64_t taps = command.kernel_w;
  const Corner corner = corner_of(tile, pixel);
  const auto visit_some = [&](int64_t ky, int64_t first, int64_t end, bool inside) {
    if (first == end) return;
    const uint8_t* from =
        inside ? element_at(tile, src, corner.y + ky * command.dilation_y, corner.x + first * command.dilation_x)
               : nullptr;
    visit(static_cast<uint64_t>(ky * taps + first), static_cast<uint64_t>(end - first), from);
  };
  for (int64_t ky = 0; ky < command.kernel_h; ++ky) {
    if (!lies_in(tile.rows, corner.y + ky * command.dilation_y)) {
      visit_some(ky, 0, taps, false);
    } else if (dense) {
      const int64_t begin = std::clamp<int64_t>(tile.cols.begin - corner.x, 0, taps);
      const int64_t end = std::clamp<int64_t>(tile.cols.end - corner.x, begin, taps);
      visit_some(ky, 0, begin, false);
      visit_some(ky, begin, end, true);
      visit_some(ky, end, taps, false);
    } else {
      for (int64_t kx = 0; kx < taps; ++kx) {
        visit_some(ky, kx, kx + 1, lies_in(tile.cols, corner.x + kx * command.dilation_x));
      }
    }
  }
}

}  // namespace

void FloatTiles::run(const MxuTile& tile, const MxuOperands& at, const ChannelParams& params) {
  set_cycles(tile);
  set_stage(tile, params);
  tile.command.mode == MxuMode::kDepthwise ? run_depthwise(tile, at) : run_sums(tile, at);
}

void FloatTiles::set_cycles(const MxuTile& tile) {
  const bool depthwise = tile.command.mode == MxuMode::kDepthwise;
  const uint64_t depth = depthwise ? caps_.mxu_dw_taps : caps_.mxu_depth;
  const uint64_t at_once = timing::ceil_div(depth, contract::mxu_float_cycles(tile.command.src_type, caps_));
  // A step stays within a kernel position where that fills one.
  const bool by_position = !depthwise && tile.command.in_c >= depth;
  const uint64_t run = by_position ? tile.command.in_c : tile.reduction;
  cycles_.clear();
  for (uint64_t from = 0; from < tile.reduction; from += run) {
    in_pieces(run, depth, [&](uint64_t step) {
      in_pieces(step, at_once, [&](uint64_t count) { cycles_.push_back(static_cast<uint32_t>(count)); });
    });
  }
}

void FloatTiles::set_stage(const MxuTile& tile, const ChannelParams& params) {
  bias_.resize(tile.command.out_c);
  for (size_t c = 0; c < bias_.size(); ++c) bias_[c] = std::bit_cast<float>(static_cast<uint32_t>(params.bias[c]));
  stage_ = {tile.command.dst_type, bias_.data(), std::bit_cast<float>(params.header.clamp_min),
            std::bit_cast<float>(params.header.clamp_max)};
}

bool FloatTiles::pack(const MxuTile& tile, const uint8_t* weights, size_t panel, float* to) const {
  const MxuCommand& command = tile.command;
  const size_t first = panel * kPanel, channels = std::min<size_t>(kPanel, command.out_c - first);
  if (command.mode == MxuMode::kMatmul) {
    return kernels_.pack_float_rows(command.weight_type, weights + first * tile.weight_bytes, command.w_stride,
                                    channels, tile.reduction, to);
  }
  return kernels_.pack_float(command.weight_type, weights + static_cast<int64_t>(first) * command.w_stride,
                             command.w_stride, channels, tile.reduction, to);
}

bool FloatTiles::read_window(const MxuTile& tile, const uint8_t* src, uint64_t pixel, float* to) const {
  const uint64_t channels = tile.command.in_c;
  bool inside = true;
  for_each_run(tile, src, pixel, [&](uint64_t tap, uint64_t taps, const uint8_t* from) {
    inside = inside && from != nullptr;
    if (from == nullptr) {
      std::fill_n(to + tap * channels, taps * channels, 0.0F);
    } else {
      kernels_.to_floats(tile.command.src_type, from, taps * channels, to + tap * channels);
    }
  });
  return inside;
}

const float* FloatTiles::panel_inside(const MxuTile& tile, const uint8_t* src, uint64_t pixel, const float* panel) {
  const uint64_t position = uint64_t{tile.command.in_c} * kPanel;
  inside_.assign(panel, panel + tile.reduction * kPanel);
  for_each_run(tile, src, pixel, [&](uint64_t tap, uint64_t taps, const uint8_t* from) {
    if (from == nullptr) std::fill_n(inside_.data() + tap * position, taps * position, 0.0F);
  });
  return inside_.data();
}

void FloatTiles::run_sums(const MxuTile& tile, const MxuOperands& at) {
  const uint64_t some = std::clamp<uint64_t>(kWindowElements / tile.reduction, 1, kMostRows);
  const uint64_t rows = std::min(tile.pixels, some < kSomeRows ? some : some / kSomeRows * kSomeRows);
  const size_t panels = timing::ceil_div(tile.command.out_c, kPanel), panel_floats = tile.reduction * kPanel;
  const bool keep = rows < tile.pixels;  // panels, for the next rows
  weights_.resize((keep ? panels : 1) * panel_floats);
  finite_.resize(panels);
  windows_.resize(rows * tile.reduction);
  acc_.resize(rows * kPanel);
  inside_window_.resize(rows);
  for (uint64_t first = 0; first < tile.pixels; first += rows) {
    const uint64_t count = std::min(rows, tile.pixels - first);
    for (uint64_t r = 0; r < count; ++r) {
      inside_window_[r] = read_window(tile, at.src, first + r, windows_.data() + r * tile.reduction);
    }
    for (size_t p = 0; p < panels; ++p) {
      float* panel = weights_.data() + (keep ? p : 0) * panel_floats;
      if (first == 0) finite_[p] = pack(tile, at.weights, p, panel);
      run_panel(tile, at, first, count, p, panel);
    }
  }
}

void FloatTiles::run_panel(const MxuTile& tile, const MxuOperands& at, uint64_t first, uint64_t count, size_t panel,
                           const float* weights) {
  const size_t channel = panel * kPanel, channels = std::min<size_t>(kPanel, tile.command.out_c - channel);
  std::fill_n(acc_.data(), count * kPanel, 0.0F);
  kernels_.gemm_float(windows_.data(), tile.reduction, count, weights, cycles_, acc_.data());
  for (uint64_t r = 0; r < count; ++r) {
    float* acc = acc_.data() + r * kPanel;
    if (!finite_[panel] && !inside_window_[r]) {
      // +0 times an infinite weight would be a NaN.
      std::fill_n(acc, kPanel, 0.0F);
      kernels_.gemm_float(windows_.data() + r * tile.reduction, tile.reduction, 1,
                          panel_inside(tile, at.src, first + r, weights), cycles_, acc);
    }
    kernels_.output_float(stage_, acc, residual_of(tile, at, first + r, channel), channel, channels,
                          result_of(tile, at, first + r) + channel * tile.dst_bytes);
  }
}

void FloatTiles::load_input(const MxuTile& tile, const uint8_t* src) {
  const MxuCommand& command = tile.command;
  input_.clear();
  if (!tile.reads_input()) return;
  const auto rows = static_cast<uint64_t>(tile.rows.size()), cols = static_cast<uint64_t>(tile.cols.size());
  if (rows > kMostInput || cols > kMostInput || rows * cols > kMostInput / command.in_c) return;
  input_.resize(rows * cols * command.in_c + kPanel);
  float* to = input_.data();
  for (int64_t y = tile.rows.begin; y < tile.rows.end; ++y) {
    for (int64_t x = tile.cols.begin; x < tile.cols.end; ++x, to += command.in_c) {
      kernels_.to_floats(command.src_type, element_at(tile, src, y, x), command.in_c, to);
    }
  }
}

void FloatTiles::read_taps(const MxuTile& tile, const uint8_t* src, uint64_t pixel) {
  const MxuCommand& command = tile.command;
  for_each_tap(tile, pixel, [&](uint64_t tap, int64_t y, int64_t x, bool inside) {
    taps_[tap] = nullptr;
    if (!inside) return;
    float* to = tap_values_.data() + tap * command.in_c;
    if (!input_.empty()) {
      const int64_t position = (y - tile.rows.begin) * tile.cols.size() + (x - tile.cols.begin);
      taps_[tap] = input_.data() + static_cast<uint64_t>(position) * command.in_c;
    } else {
      kernels_.to_floats(command.src_type, element_at(tile, src, y, x), command.in_c, to);
      taps_[tap] = to;
    }
    if (command.multiplier == 1) return;
    float* expanded = expanded_.data() + tap * command.out_c;
    for (uint64_t c = 0; c < command.out_c; ++c) expanded[c] = taps_[tap][c / command.multiplier];
    taps_[tap] = expanded;
  });
}

// Kernels read whole vectors: behind the channels of the last position there is room for one.
void FloatTiles::run_depthwise(const MxuTile& tile, const MxuOperands& at) {
  const MxuCommand& command = tile.command;
  const uint64_t channels = command.out_c;
  load_input(tile, at.src);
  weights_.resize(tile.taps * channels + kPanel);
  taps_.resize(tile.taps);
  tap_weights_.resize(tile.taps);
  for (uint64_t tap = 0; tap < tile.taps; ++tap) {
    float* to = weights_.data() + tap * channels;
    kernels_.to_floats(command.weight_type, at.weights + static_cast<int64_t>(tap) * command.w_stride, channels, to);
    tap_weights_[tap] = to;
  }
  tap_values_.resize(input_.empty() ? tile.taps * command.in_c + kPanel : 0);
  if (command.multiplier > 1) expanded_.resize(tile.taps * channels + kPanel);
  acc_.resize(channels + kPanel);
  for (uint64_t pixel = 0; pixel < tile.pixels; ++pixel) {
    read_taps(tile, at.src, pixel);
    std::fill(acc_.begin(), acc_.end(), 0.0F);
    kernels_.depthwise_float(taps_.data(), tap_weights_.data(), cycles_, channels, acc_.data());
    kernels_.output_float(stage_, acc_.data(), residual_of(tile, at, pixel, 0), 0, channels,
                          result_of(tile, at, pixel));
  }
}

}  // namespace npu::engine
