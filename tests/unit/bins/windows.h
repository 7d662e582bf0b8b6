// SPDX-License-Identifier: Apache-2.0
// Bins of what moves a window over images: convolutions and pooling, as operators, steps or commands.
#pragma once

#include <cstdint>

#include "tests/unit/bins/bins.h"

namespace npu::test {

struct Window {
  int64_t batch = 1, height = 1, width = 1, channels = 1, out_height = 1, out_width = 1, out_channels = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
};

// Depthwise convolutions have at least as many channels behind as before. Pooling has no dilation, and pads by less
// than its kernel.
enum class WindowKind { kConvolution, kDepthwise, kPooling };

[[nodiscard]] std::span<const Fact<Window>> window_facts();
[[nodiscard]] Bins window_bins(std::string family, WindowKind kind);

}  // namespace npu::test
