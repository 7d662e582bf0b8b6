// SPDX-License-Identifier: Apache-2.0
// What tiles of images [N, H, W, C] have in common, whatever the window computes.
#pragma once

#include "driver/compiler/schedule/tiled_step.h"
#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {

// Commands walk rows and pixels by strides; the channels of a pixel lie one behind the other.
[[nodiscard]] inline bool contiguous_channels(const View& image) {
  return image.dims[3] == 1 || image.strides[3] == element_size(image);
}

template <typename Command>
void set_image_strides(const Placed& src, const Placed& dst, Command& command) {
  command.src_row_stride = field32(src.strides[1]);
  command.src_pixel_stride = field32(src.strides[2]);
  command.dst_row_stride = field32(dst.strides[1]);
  command.dst_pixel_stride = field32(dst.strides[2]);
}

}  // namespace npu::compiler::backend
