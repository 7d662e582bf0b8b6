// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_convolutions.h"

#include <algorithm>

namespace npu::generator {
namespace {

using graph::DType;
using graph::Shape;
using graph::Slot;
using graph::TensorId;

graph::Convolution zero_points_of(const RandomInstance& i) {
  graph::Convolution how;
  how.input_zp = zero_point(i, i.in());
  how.weight_zp = zero_point(i, i.type(Slot::kOther));
  how.acc_type = i.type(Slot::kAcc);
  return how;
}

graph::Convolution convolution_of(const RandomInstance& i, const Windows& w) {
  graph::Convolution how = zero_points_of(i);
  how.pad = w.pad, how.stride = w.stride, how.dilation = w.dilation;
  return how;
}

DataRange range_of_weights(DType type) { return type == DType::kInt8 ? DataRange{-127, 127} : DataRange{-7, 7}; }

TensorId weights(const RandomInstance& i, const Shape& shape) {
  const DType type = i.type(Slot::kOther);
  return i.net.constant(type, shape, range_of_weights(type));
}

// Now and then the network's user gives them.
TensorId any_weights(const RandomInstance& i, const Shape& shape) {
  const DType type = i.type(Slot::kOther);
  return i.random().chance(25) ? i.net.input(type, shape, range_of_weights(type)) : weights(i, shape);
}

TensorId biases(const RandomInstance& i, int64_t channels) {
  return i.net.constant(i.type(Slot::kOut), {i.random().chance(20) ? 1 : channels}, {-20'000, 20'000});
}

// Sums that become a part of a larger tensor now and then.
void give_sums_or_part(const RandomInstance& i, TensorId sums) {
  if (i.random().chance(75)) return give_sums(i, sums);
  const bool narrow = i.b().tensor(sums).type == DType::kInt32;
  const DType to = narrow ? DType::kInt8 : DType::kInt16;
  const TensorId part = i.b().rescale(sums, to, rescaling(i, i.b().tensor(sums).type, narrow ? 5 : 8, 1));
  Shape other = i.b().tensor(sums).shape;
  const int32_t axis = i.net.axis(other);
  other[static_cast<size_t>(axis)] = pick(i, 1, 3);
  i.give(i.b().concat({i.net.input(to, other), part}, axis));
}

// Kernels from smaller to larger than their stride. Results may be left out at both ends, or reach beyond all products.
struct TransposedWindow {
  int32_t kernel = 1, stride = 1, before = 0, after = 0;
  int64_t size = 1;  // of the operand

  [[nodiscard]] int64_t results() const { return (size - 1) * stride + before + after + kernel; }
};

TransposedWindow try_transposed_window(const RandomInstance& i) {
  TransposedWindow w;
  w.kernel = pick(i, 1, 5);
  w.stride = pick(i, 1, 4);
  w.size = i.random().chance(20) ? 1 : pick(i, 1, 6);
  w.before = i.random().chance(30) ? 0 : pick(i, 1 - w.kernel, 3);
  w.after = i.random().chance(30) ? 0 : pick(i, 1 - w.kernel, 3);
  return w;
}

TransposedWindow transposed_window(const RandomInstance& i) {
  for (;;) {
    const TransposedWindow w = try_transposed_window(i);
    if (w.results() >= 1) return w;
  }
}

}  // namespace

Shape random_image(const RandomInstance& i, const Windows& w) {
  Shape shape = {pick(i, 1, 3)};
  shape.insert(shape.end(), w.size.begin(), w.size.end());
  shape.push_back(i.net.size(24));
  return shape;
}

void random_conv2d(const RandomInstance& i) {
  const Windows w = random_windows(i.random(), false);
  const Shape dims = random_image(i, w);
  const int64_t in = dims[3], out = i.net.size(24);
  const TensorId x = i.net.input(i.in(), dims);
  const TensorId weight = weights(i, {out, w.kernel[0], w.kernel[1], in});
  give_sums(i, i.b().conv2d(x, weight, biases(i, out), convolution_of(i, w)));
}

void random_conv3d(const RandomInstance& i) {
  const Windows w = random_windows(i.random(), false, 3);
  const Shape dims = random_image(i, w);
  const int64_t in = dims[4], out = i.net.size(24);
  const TensorId x = i.net.input(i.in(), dims);
  const TensorId weight = any_weights(i, {out, w.kernel[0], w.kernel[1], w.kernel[2], in});
  give_sums_or_part(i, i.b().conv3d(x, weight, biases(i, out), convolution_of(i, w)));
}

void random_depthwise_conv2d(const RandomInstance& i) {
  const Windows w = random_windows(i.random(), false);
  const Shape dims = random_image(i, w);
  const int64_t in = dims[3], each = i.random().between(1, 3);
  const TensorId x = i.net.input(i.in(), dims);
  const TensorId weight = weights(i, {w.kernel[0], w.kernel[1], in, each});
  give_sums(i, i.b().depthwise_conv2d(x, weight, biases(i, in * each), convolution_of(i, w)));
}

void random_transpose_conv2d(const RandomInstance& i) {
  const TransposedWindow y = transposed_window(i), x = transposed_window(i);
  const int64_t in = i.net.size(24), out = i.net.size(24);
  const TensorId image = i.net.input(i.in(), {pick(i, 1, 3), y.size, x.size, in});
  const TensorId weight = any_weights(i, {out, y.kernel, x.kernel, in});
  graph::Convolution how = zero_points_of(i);
  how.pad = {y.before, y.after, x.before, x.after};
  how.stride = {y.stride, x.stride};
  give_sums_or_part(i, i.b().transpose_conv2d(image, weight, biases(i, out), how));
}

}  // namespace npu::generator
