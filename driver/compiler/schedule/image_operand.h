// SPDX-License-Identifier: Apache-2.0
// An image [N, H, W, C] as an operand of tiles, whose boxes DMA moves in the order of the operand's dimensions: the
// runs of bytes are long where that is the order of memory.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {

class ImageOperand {
 public:
  explicit ImageOperand(const View& image);

  // Whether the images of the batch are nearer to each other than pixels are.
  [[nodiscard]] bool batch_inside() const { return order_ != Order::kBatchOutside; }
  // What boxes are parts of.
  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] Box box(Range n, Range y, Range x, Range c) const;
  // Of a packed box with so many images, rows, columns and channels.
  [[nodiscard]] int64_t bytes(int64_t n, int64_t y, int64_t x, int64_t c) const;
  // Bytes between images, rows, columns and channels, by those between positions of a box.
  [[nodiscard]] std::vector<int64_t> strides(const std::vector<int64_t>& placed) const;

 private:
  enum class Order : uint8_t {
    kBatchOutside,  // [N, H, W, C]
    kBatchInside,   // [H, W, N, C]
    kOverlapping,   // [H, W, N * images' distance + C]: images have channels in common, as the windows of CONV3D do
  };

  Order order_ = Order::kBatchOutside;
  int64_t distance_ = 0;  // elements between images
  View view_;
};

}  // namespace npu::compiler::backend
