// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_float.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hw/timing/mxu_cycles.h"

namespace npu::engine {

namespace {

using contract::MxuMode;

// Elements of patches that are made at a time, to stay in the caches together with a panel.
constexpr size_t kPatchElements = 16 * 1024;
constexpr size_t kMostRows = 256;

// Pieces of `total` of at most `most`.
template <class Visit>
void in_pieces(uint64_t total, uint64_t most, Visit visit) {
  for (uint64_t from = 0; from < total; from += most) visit(std::min(most, total - from));
}

uint8_t* result_of(const MxuTile& tile, const MxuOperands& at, uint64_t pixel) {
  const auto y = static_cast<int64_t>(pixel / tile.command.out_w), x = static_cast<int64_t>(pixel % tile.command.out_w);
  return at.dst + y * tile.command.dst_row_stride + x * tile.command.dst_pixel_stride;
}

}  // namespace

void FloatTiles::run(const MxuTile& tile, const MxuOperands& at, const ChannelParams& params) {
  set_cycles(tile);
  set_stage(tile, params);
  load_input(tile, at.src);
  if (tile.command.mode == MxuMode::kDepthwise) {
    run_depthwise(tile, at);
  } else {
    load_panels(tile, at.weights);
    run_sums(tile, at);
  }
}

void FloatTiles::set_cycles(const MxuTile& tile) {
  const bool depthwise = tile.command.mode == MxuMode::kDepthwise;
  const uint64_t depth = depthwise ? caps_.mxu_dw_taps : caps_.mxu_depth;
  const uint64_t at_once = timing::ceil_div(depth, timing::mxu_float_cycles(tile.command.src_type, caps_));
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

void FloatTiles::load_input(const MxuTile& tile, const uint8_t* src) {
  const contract::MxuCommand& command = tile.command;
  if (!tile.reads_input()) return input_.clear();
  const auto rows = static_cast<uint64_t>(tile.rows.size()), cols = static_cast<uint64_t>(tile.cols.size());
  input_.resize(rows * cols * command.in_c);
  float* to = input_.data();
  for (uint64_t y = 0; y < rows; ++y) {
    for (uint64_t x = 0; x < cols; ++x, to += command.in_c) {
      const uint8_t* from = src + static_cast<int64_t>(y) * command.src_row_stride +
                            static_cast<int64_t>(x) * command.src_pixel_stride;
      kernels_.to_floats(command.src_type, from, command.in_c, to);
    }
  }
}

void FloatTiles::load_panels(const MxuTile& tile, const uint8_t* weights) {
  const contract::MxuCommand& command = tile.command;
  const size_t panels = timing::ceil_div(command.out_c, kPanel);
  const bool matmul = command.mode == MxuMode::kMatmul;
  const size_t outer = matmul ? command.in_c : command.out_c, inner = matmul ? command.out_c : tile.reduction;
  weights_.assign(panels * tile.reduction * kPanel, 0.0F);
  acc_.resize(inner);
  weights_finite_ = true;
  for (size_t i = 0; i < outer; ++i) {
    kernels_.to_floats(command.weight_type, weights + static_cast<int64_t>(i) * command.w_stride, inner, acc_.data());
    for (size_t j = 0; j < inner; ++j) {
      const size_t channel = matmul ? j : i, k = matmul ? i : j;
      weights_[(channel / kPanel * tile.reduction + k) * kPanel + channel % kPanel] = acc_[j];
      weights_finite_ = weights_finite_ && std::isfinite(acc_[j]);
    }
  }
}

const float* FloatTiles::input_at(const MxuTile& tile, int64_t y, int64_t x) const {
  if (y < tile.rows.begin || y >= tile.rows.end || x < tile.cols.begin || x >= tile.cols.end) return nullptr;
  const int64_t position = (y - tile.rows.begin) * tile.cols.size() + (x - tile.cols.begin);
  return input_.data() + static_cast<uint64_t>(position) * tile.command.in_c;
}

template <class Visit>
void FloatTiles::for_each_tap(const MxuTile& tile, uint64_t pixel, Visit visit) const {
  const contract::MxuCommand& command = tile.command;
  const int64_t y = static_cast<int64_t>(pixel / command.out_w) * command.stride_y - command.pad_top;
  const int64_t x = static_cast<int64_t>(pixel % command.out_w) * command.stride_x - command.pad_left;
  uint64_t tap = 0;
  for (int64_t ky = 0; ky < command.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < command.kernel_w; ++kx, ++tap) {
      visit(tap, input_at(tile, y + ky * command.dilation_y, x + kx * command.dilation_x));
    }
  }
}

bool FloatTiles::read_patch(const MxuTile& tile, uint64_t pixel, float* to) const {
  const uint64_t channels = tile.command.in_c;
  bool inside = true;
  for_each_tap(tile, pixel, [&](uint64_t tap, const float* from) {
    inside = inside && from != nullptr;
    if (from == nullptr) {
      std::fill_n(to + tap * channels, channels, 0.0F);
    } else {
      std::copy_n(from, channels, to + tap * channels);
    }
  });
  return inside;
}

const float* FloatTiles::panel_inside(const MxuTile& tile, uint64_t pixel, size_t panel) {
  const uint64_t position = uint64_t{tile.command.in_c} * kPanel;
  const float* whole = weights_.data() + panel * tile.reduction * kPanel;
  inside_.assign(whole, whole + tile.reduction * kPanel);
  for_each_tap(tile, pixel, [&](uint64_t tap, const float* from) {
    if (from == nullptr) std::fill_n(inside_.data() + tap * position, position, 0.0F);
  });
  return inside_.data();
}

void FloatTiles::run_sums(const MxuTile& tile, const MxuOperands& at) {
  const uint64_t rows = std::clamp<uint64_t>(kPatchElements / tile.reduction, 1, kMostRows);
  const size_t panels = timing::ceil_div(tile.command.out_c, kPanel);
  patches_.resize(rows * tile.reduction);
  acc_.resize(rows * kPanel);
  std::vector<bool> inside(rows);
  for (uint64_t first = 0; first < tile.pixels; first += rows) {
    const uint64_t count = std::min(rows, tile.pixels - first);
    for (uint64_t r = 0; r < count; ++r) {
      inside[r] = read_patch(tile, first + r, patches_.data() + r * tile.reduction) || weights_finite_;
    }
    for (size_t p = 0; p < panels; ++p) {
      const size_t channels = std::min<size_t>(kPanel, tile.command.out_c - p * kPanel);
      std::fill_n(acc_.data(), count * kPanel, 0.0F);
      kernels_.gemm_float(patches_.data(), tile.reduction, count, weights_.data() + p * tile.reduction * kPanel, cycles_,
                          acc_.data());
      for (uint64_t r = 0; r < count; ++r) {
        float* acc = acc_.data() + r * kPanel;
        if (!inside[r]) {
          // +0 times an infinite weight would be a NaN.
          std::fill_n(acc, kPanel, 0.0F);
          kernels_.gemm_float(patches_.data() + r * tile.reduction, tile.reduction, 1,
                              panel_inside(tile, first + r, p), cycles_, acc);
        }
        kernels_.output_float(stage_, acc, p * kPanel, channels,
                              result_of(tile, at, first + r) + p * kPanel * tile.dst_bytes);
      }
    }
  }
}

void FloatTiles::run_depthwise(const MxuTile& tile, const MxuOperands& at) {
  const contract::MxuCommand& command = tile.command;
  const uint64_t channels = command.out_c;
  weights_.resize(tile.taps * channels);
  std::vector<const float*> src(tile.taps), weights(tile.taps);
  for (uint64_t tap = 0; tap < tile.taps; ++tap) {
    float* to = weights_.data() + tap * channels;
    kernels_.to_floats(command.weight_type, at.weights + static_cast<int64_t>(tap) * command.w_stride, channels, to);
    weights[tap] = to;
  }
  if (command.multiplier > 1) expanded_.resize(tile.taps * channels);
  acc_.resize(channels);
  for (uint64_t pixel = 0; pixel < tile.pixels; ++pixel) {
    for_each_tap(tile, pixel, [&](uint64_t tap, const float* from) {
      src[tap] = from;
      if (from == nullptr || command.multiplier == 1) return;
      float* to = expanded_.data() + tap * channels;
      for (uint64_t c = 0; c < channels; ++c) to[c] = from[c / command.multiplier];
      src[tap] = to;
    });
    std::fill(acc_.begin(), acc_.end(), 0.0F);
    kernels_.depthwise_float(src.data(), weights.data(), cycles_, channels, acc_.data());
    kernels_.output_float(stage_, acc_.data(), 0, channels, result_of(tile, at, pixel));
  }
}

}  // namespace npu::engine
