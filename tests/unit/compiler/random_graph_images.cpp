// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling, matrix products and RESIZE.
#include <algorithm>

#include "tests/unit/compiler/random_graph_maker.h"

namespace npu::compiler::testing {

using graph::Op;
using graph::Rescaling;
using graph::RoundingMode;

RandomGraph::Shape RandomGraph::image() {
  const bool pixel = chance(30);
  const int most = max_dim_ + 1;
  const int64_t height = pixel || chance(15) ? 1 : pick(1, most), width = pixel || chance(15) ? 1 : pick(1, most);
  return {pick(1, 3), height, width, any_size(max_dim_)};
}

// Windows have to fill the padded image, so that most tries fail; a kernel and stride of 1 always fit.
RandomGraph::Windows RandomGraph::windows(const Shape& image, bool pools) {
  Windows w;
  const bool tap = chance(30);
  for (size_t axis = 1; axis + 1 < image.size(); ++axis) {
    for (;;) {
      const int kernel = tap || chance(25) ? 1 : pick(1, 3), stride = pick(1, 3);
      const int dilation = pools || chance(60) ? 1 : pick(2, 3);
      const int most = pools || chance(70) ? kernel - 1 : 2;  // convolutions may pad by more than their kernel
      const bool full = chance(image[axis] == 1 ? 60 : 20);   // only then has one pixel several windows with a stride
      const int before = full ? most : pick(0, most), after = full ? most : pick(0, most);
      const int64_t left = image[axis] + before + after - ((kernel - 1) * dilation + 1);
      if (left < 0 || left % stride != 0) continue;
      w.kernel.push_back(kernel), w.stride.push_back(stride), w.dilation.push_back(dilation);
      w.pad.push_back(before), w.pad.push_back(after);
      break;
    }
  }
  return w;
}

void RandomGraph::grow_pool() {
  const Shape dims = image();
  const Windows w = windows(dims, true);
  const TensorId a = any_as(chance(80) ? DType::kInt8 : DType::kInt16, dims);
  if (chance(50)) return void(add(b_.max_pool2d(a, w.kernel, w.stride, w.pad)));
  const bool bytes = type(a) == DType::kInt8;
  add(b_.avg_pool2d(a, w.kernel, w.stride, w.pad, bytes ? pick(-9, 9) : 0, bytes ? pick(-9, 9) : 0));
}

void RandomGraph::grow_convolution() {
  const Shape dims = image();
  const Windows w = windows(dims, false);
  const TensorId a = any_as(chance(85) ? DType::kInt8 : DType::kInt16, dims);
  const bool bytes = type(a) == DType::kInt8, depthwise = chance(40);
  graph::Convolution how;
  how.pad = w.pad, how.stride = w.stride, how.dilation = w.dilation;
  if (bytes) how.input_zp = pick(-9, 9), how.weight_zp = chance(30) ? pick(-9, 9) : 0;
  const int64_t channels = dims[3], out = depthwise ? channels * pick(1, 2) : any_size(max_dim_);
  const Shape kernel = depthwise ? Shape{w.kernel[0], w.kernel[1], channels, out / channels}
                                 : Shape{out, w.kernel[0], w.kernel[1], channels};
  // Weights may be computed at run time; of INT4 they are constants.
  TensorId weight = 0;
  if (chance(20)) {
    weight = any_as(DType::kInt8, kernel);
  } else if (bytes && chance(10)) {
    how.weight_zp = 0;
    weight = b_.constant(DType::kInt4, kernel, numbers(product(kernel), -7, 7));
  } else {
    weight = b_.constant(DType::kInt8, kernel, numbers(product(kernel), -50, 50));
  }
  const int64_t biases = chance(30) ? 1 : out;
  const TensorId bias = b_.constant(bytes ? DType::kInt32 : DType::kInt48, {biases}, numbers(biases, -999, 999));
  finish(depthwise ? b_.depthwise_conv2d(a, weight, bias, how) : b_.conv2d(a, weight, bias, how));
}

// The result's size comes first: the border has to lead to its last position.
RandomGraph::Resizing RandomGraph::any_resizing() {
  Resizing how{{pick(1, 2), 0, 0, any_size(max_dim_)}, {}, {}, {}};
  for (const size_t axis : {1, 2}) {
    const int64_t n = pick(1, 4), d = pick(1, 4), out = any_size(max_dim_ + 1);
    how.offset.push_back(pick(static_cast<int>(-n), static_cast<int>(n)));
    const int64_t last = (out - 1) * d + how.offset.back();
    how.dims[axis] = std::max<int64_t>(0, last) / n + 1 + (chance(20) ? 1 : 0);
    how.scale.insert(how.scale.end(), {n, d});
    how.border.push_back(last - (how.dims[axis] - 1) * n);
  }
  return how;
}

void RandomGraph::grow_resize() {
  const auto [dims, scale, offset, border] = any_resizing();
  const TensorId a = any_as(chance(80) ? DType::kInt8 : DType::kInt16, dims);
  if (chance(50)) return void(add(b_.resize(a, graph::ResizeMode::kNearest, scale, offset, border, type(a))));
  const DType sums = type(a) == DType::kInt8 ? DType::kInt32 : DType::kInt48;
  finish(b_.resize(a, graph::ResizeMode::kBilinear, scale, offset, border, sums));
}

// The output stage of a sum, in several shapes.
void RandomGraph::finish(TensorId sum) {
  const bool narrow = type(sum) == DType::kInt32;
  if (narrow && chance(10)) return void(add(sum));
  if (narrow && chance(10)) add(sum);
  if (narrow && chance(30)) sum = b_.reshape(sum, {product(shape(sum)) / shape(sum).back(), shape(sum).back()});
  Rescaling how;
  how.scale32 = narrow;  // sums of INT48 take multipliers of 16 bits alone
  how.per_channel = chance(60);
  const int64_t entries = how.per_channel ? shape(sum).back() : 1;
  const int one = narrow ? 30 : 14;
  how.multiplier = numbers(entries, 1 << (one - 1), 1 << one);
  how.shift = numbers(entries, one + 4, one + 8);
  how.rounding = narrow ? RoundingMode::kDoubleRound : RoundingMode::kSingleRound;
  if (narrow) how.output_zp = pick(-20, 20);
  TensorId result = b_.rescale(sum, narrow ? DType::kInt8 : DType::kInt16, how);
  if (chance(50)) result = b_.clamp(result, pick(-100, 0), pick(1, 100));
  add(result);
}

void RandomGraph::grow_matmul() {
  const int64_t n = pick(1, 3), h = any_size(max_dim_), c = any_size(max_dim_), w = any_size(max_dim_);
  const DType type = chance(85) ? DType::kInt8 : DType::kInt16;
  const bool bytes = type == DType::kInt8;
  const bool transposed = chance(50);
  TensorId right = any_as(type, transposed ? Shape{n, w, c} : Shape{n, c, w});
  if (transposed) right = b_.transpose(right, {0, 2, 1});
  const TensorId left = any_as(type, {n, h, c});
  finish(b_.matmul(left, right, bytes ? pick(-5, 5) : 0, bytes ? pick(-5, 5) : 0));
}

}  // namespace npu::compiler::testing
