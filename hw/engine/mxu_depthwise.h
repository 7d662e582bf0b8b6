// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: windows of taps over channels.
#pragma once

#include <array>
#include <cstdint>

#include "hw/engine/kernels.h"
#include "hw/engine/mxu_tile.h"
#include "hw/engine/scratch.h"

namespace npu::engine {

// Walks the windows of a depthwise tile. Taps outside the input box add nothing and are skipped.
class DepthwiseWindows {
 public:
  // What one call of accumulate may take.
  static constexpr size_t kPixels = 32;
  static constexpr size_t kChannels = 512;

  // `src` is the byte of (rows.begin, cols.begin); `tile` must live until the last accumulate.
  void begin(const MxuTile& tile, const uint8_t* src, const uint8_t* weights, int32_t input_zp, int32_t weight_zp);

  // acc[p * channels + c] = sum over the window of output pixel first + p, channel first_channel + c.
  void accumulate32(const Kernels& kernels, uint64_t first, size_t count, size_t first_channel, size_t channels,
                    int32_t* acc);
  void accumulate48(const Kernels& kernels, uint64_t first, size_t count, size_t first_channel, size_t channels,
                    int64_t* acc);

 private:
  template <class Accumulator, class Kernel>
  void accumulate(Kernel kernel, uint64_t first, size_t count, size_t first_channel, size_t channels, Accumulator* acc);
  // Channels first_channel .. of an input pixel, repeated `multiplier` times each.
  const uint8_t* expand(const uint8_t* pixel, size_t slot, size_t first_channel, size_t channels);

  const MxuTile* tile_ = nullptr;
  const uint8_t* src_ = nullptr;
  int32_t input_zp_ = 0;
  int16_t* weights_ = nullptr;  // [tap][out_c], zero point taken off
  std::array<const uint8_t*, kMaxTaps> inputs_{};
  std::array<const int16_t*, kMaxTaps> factors_{};
  Scratch weight_bytes_, expanded_bytes_;
};

}  // namespace npu::engine
