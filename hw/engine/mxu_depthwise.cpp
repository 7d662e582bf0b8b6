// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_depthwise.h"

#include <algorithm>
#include <cstring>

namespace npu::engine {

void DepthwiseWindows::begin(const MxuTile& tile, const uint8_t* src, const uint8_t* weights, int32_t input_zp,
                             int32_t weight_zp) {
  tile_ = &tile;
  src_ = src;
  input_zp_ = input_zp;
  const size_t channels = tile.command.out_c;
  weights_ = weight_bytes_.get<int16_t>(tile.taps * channels);
  for (uint64_t tap = 0; tap < tile.taps; ++tap) {
    const int8_t* from = reinterpret_cast<const int8_t*>(weights + static_cast<int64_t>(tap) * tile.command.w_stride);
    int16_t* to = weights_ + tap * channels;
    for (size_t c = 0; c < channels; ++c) to[c] = static_cast<int16_t>(from[c] - weight_zp);
  }
}

const uint8_t* DepthwiseWindows::expand(const uint8_t* pixel, size_t slot, size_t first_channel, size_t channels) {
  const size_t element = tile_->src_bytes;
  const size_t multiplier = tile_->command.multiplier;
  uint8_t* to =
      expanded_bytes_.get<uint8_t>(kMaxTaps * kChannels * sizeof(int16_t)) + slot * kChannels * sizeof(int16_t);
  for (size_t c = 0; c < channels;) {
    const size_t channel = (first_channel + c) / multiplier;
    const size_t end = std::min(channels, (channel + 1) * multiplier - first_channel);
    if (element == 1) {
      std::memset(to + c, pixel[channel], end - c);
      c = end;
    } else {
      for (; c < end; ++c) std::memcpy(to + c * element, pixel + channel * element, element);
    }
  }
  return to;
}

template <class Accumulator, class Kernel>
void DepthwiseWindows::accumulate(Kernel kernel, uint64_t first, size_t count, size_t first_channel, size_t channels,
                                  Accumulator* acc) {
  const contract::MxuCommand& command = tile_->command;
  std::fill(acc, acc + count * channels, Accumulator{0});
  if (src_ == nullptr) return;  // all taps of the tile lie in the padding
  const Range& rows = tile_->rows;
  const Range& cols = tile_->cols;
  for (size_t p = 0; p < count; ++p, acc += channels) {
    const int64_t y0 = static_cast<int64_t>((first + p) / command.out_w) * command.stride_y - command.pad_top;
    const int64_t x0 = static_cast<int64_t>((first + p) % command.out_w) * command.stride_x - command.pad_left;
    size_t taps = 0;
    for (uint32_t ky = 0; ky < command.kernel_h; ++ky) {
      const int64_t y = y0 + int64_t{ky} * command.dilation_y;
      if (y < rows.begin || y >= rows.end) continue;
      const uint8_t* row = src_ + (y - rows.begin) * command.src_row_stride;
      for (uint32_t kx = 0; kx < command.kernel_w; ++kx) {
        const int64_t x = x0 + int64_t{kx} * command.dilation_x;
        if (x < cols.begin || x >= cols.end) continue;
        const uint8_t* pixel = row + (x - cols.begin) * command.src_pixel_stride;
        const uint64_t tap = uint64_t{ky} * command.kernel_w + kx;
        inputs_[taps] = command.multiplier == 1 ? pixel + first_channel * tile_->src_bytes
                                                : expand(pixel, taps, first_channel, channels);
        factors_[taps] = weights_ + tap * command.out_c + first_channel;
        if (++taps == kMaxTaps) {
          kernel(inputs_.data(), factors_.data(), taps, input_zp_, channels, acc);
          taps = 0;
        }
      }
    }
    if (taps > 0) kernel(inputs_.data(), factors_.data(), taps, input_zp_, channels, acc);
  }
}

void DepthwiseWindows::accumulate32(const Kernels& kernels, uint64_t first, size_t count, size_t first_channel,
                                    size_t channels, int32_t* acc) {
  accumulate(kernels.depthwise8, first, count, first_channel, channels, acc);
}

void DepthwiseWindows::accumulate48(const Kernels& kernels, uint64_t first, size_t count, size_t first_channel,
                                    size_t channels, int64_t* acc) {
  accumulate(kernels.depthwise16, first, count, first_channel, channels, acc);
}

}  // namespace npu::engine
