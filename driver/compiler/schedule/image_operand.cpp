// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/image_operand.h"

namespace npu::compiler::backend {

ImageOperand::ImageOperand(const View& image) : view_(image) {
  const std::vector<int64_t>&d = image.dims, &s = image.strides;
  const int64_t unit = element_size(image);
  const auto outside = [&](size_t dim) { return d[dim] > 1 && s[dim] > s[0]; };
  const auto inside = [&](size_t dim) { return d[dim] > 1 && s[dim] <= s[0]; };
  if (d[0] == 1 || s[0] <= 0 || s[0] % unit != 0 || inside(1) || inside(2) || !(outside(1) || outside(2))) return;
  distance_ = s[0] / unit;
  if (distance_ >= d[3]) {
    order_ = Order::kBatchInside;
    view_.dims = {d[1], d[2], d[0], d[3]};
    view_.strides = {s[1], s[2], s[0], s[3]};
  } else if (s[3] == unit) {
    order_ = Order::kOverlapping;
    view_.dims = {d[1], d[2], (d[0] - 1) * distance_ + d[3]};
    view_.strides = {s[1], s[2], unit};
  }
}

Box ImageOperand::box(Range n, Range y, Range x, Range c) const {
  switch (order_) {
    case Order::kBatchOutside:
      break;
    case Order::kBatchInside:
      return {y, x, n, c};
    case Order::kOverlapping:
      return {y, x, {n.start * distance_ + c.start, (n.count - 1) * distance_ + c.count}};
  }
  return {n, y, x, c};
}

int64_t ImageOperand::bytes(int64_t n, int64_t y, int64_t x, int64_t c) const {
  const int64_t pixel = order_ == Order::kOverlapping ? (n - 1) * distance_ + c : n * c;
  return y * x * pixel * element_size(view_);
}

std::vector<int64_t> ImageOperand::strides(const std::vector<int64_t>& placed) const {
  switch (order_) {
    case Order::kBatchOutside:
      break;
    case Order::kBatchInside:
      return {placed[2], placed[0], placed[1], placed[3]};
    case Order::kOverlapping:
      return {distance_ * placed[2], placed[0], placed[1], placed[2]};
  }
  return placed;
}

}  // namespace npu::compiler::backend
