// SPDX-License-Identifier: Apache-2.0
// Floating point: poolings, convolutions, matrix products, RESIZE and Fourier transforms.
#include <algorithm>

#include "tests/unit/compiler/random_graph_maker.h"

namespace npu::compiler::testing {

using graph::Attributes;
using graph::Op;

namespace {

// Of sums of these numbers; where FP16 has the choice, either.
graph::DType accumulator(graph::DType type, bool narrow) {
  const bool bytes = type == graph::DType::kFp8E4M3 || type == graph::DType::kFp8E5M2;
  return bytes || (type == graph::DType::kFp16 && narrow) ? graph::DType::kFp16 : graph::DType::kFp32;
}

// Of the result of a convolution.
graph::DType result_of(graph::DType type) {
  return type == graph::DType::kFp8E4M3 || type == graph::DType::kFp8E5M2 ? graph::DType::kFp16 : type;
}

}  // namespace

void RandomGraph::grow_real_pool() {
  const Shape dims = image();
  const Windows w = windows(dims, true);
  const TensorId a = any_as(any_float(), dims);
  Attributes how = any_nan_mode();
  how.kernel = w.kernel, how.stride = w.stride, how.pad = w.pad;
  if (chance(50)) return void(add(b_.op(Op::kMaxPool2d, {a}, how)));
  how.nan_mode = graph::NanMode::kUnknown;
  how.acc_type = accumulator(type(a), chance(50));
  const TensorId zero = b_.constant(type(a), {1}, std::vector<double>{0});
  add(b_.op(Op::kAvgPool2d, {a, zero, zero}, how));
}

void RandomGraph::grow_real_convolution() {
  Shape dims = image();
  if (chance(5)) dims[3] = pick(1, 40 * max_dim_);  // beyond a step of the array
  const Windows w = windows(dims, false);
  const TensorId a = any_as(any_float(), dims);
  graph::Convolution how;
  how.pad = w.pad, how.stride = w.stride, how.dilation = w.dilation;
  how.acc_type = accumulator(type(a), chance(50));
  const bool depthwise = chance(40);
  const int64_t channels = dims[3], out = depthwise ? channels * pick(1, 2) : any_size(max_dim_);
  const Shape kernel = depthwise ? Shape{w.kernel[0], w.kernel[1], channels, out / channels}
                                 : Shape{out, w.kernel[0], w.kernel[1], channels};
  const TensorId weight = chance(20) ? any_as(type(a), kernel) : constant_reals(type(a), kernel);
  const TensorId bias = constant_reals(result_of(type(a)), {chance(30) ? 1 : out});
  finish_real(depthwise ? b_.depthwise_conv2d(a, weight, bias, how) : b_.conv2d(a, weight, bias, how));
}

void RandomGraph::grow_real_transpose_conv() {
  const Shape dims = image();
  const TensorId a = any_as(any_float(), dims);
  graph::Convolution how;
  how.acc_type = accumulator(type(a), chance(50));
  how.stride = {pick(1, 3), pick(1, 3)};
  const int64_t height = pick(1, 4), width = pick(1, 4);
  // Beside the result, or within it as far as a row and a column are left.
  const auto beside = [&](int64_t size) { return chance(50) ? pick(0, 2) : pick(1 - static_cast<int>(size), 0); };
  how.pad = {beside(height), 0, beside(width), 0};
  const Shape kernel = {any_size(max_dim_), height, width, dims[3]};
  const TensorId weight = chance(20) ? any_as(type(a), kernel) : constant_reals(type(a), kernel);
  const TensorId bias = constant_reals(result_of(type(a)), {chance(30) ? 1 : kernel[0]});
  finish_real(b_.transpose_conv2d(a, weight, bias, how));
}

void RandomGraph::grow_real_conv3d() {
  Shape dims = image();
  dims.insert(dims.begin() + 1, any_size(3));
  const Windows w = windows(dims, false);
  const TensorId a = any_as(any_float(), dims);
  graph::Convolution how;
  how.pad = w.pad, how.stride = w.stride, how.dilation = w.dilation;
  how.acc_type = accumulator(type(a), chance(50));
  Shape kernel = {any_size(max_dim_)};
  kernel.insert(kernel.end(), w.kernel.begin(), w.kernel.end());
  kernel.push_back(dims[4]);
  const TensorId weight = chance(20) ? any_as(type(a), kernel) : constant_reals(type(a), kernel);
  const TensorId bias = constant_reals(result_of(type(a)), {chance(30) ? 1 : kernel[0]});
  finish_real(b_.conv3d(a, weight, bias, how));
}

// A CLAMP may go into the output stage, where the sum has no other user. That clamps before it rounds to 16 bits: of a
// limit of 0 a negative sum that rounds to zero becomes +0 there, and -0 in the CLAMP behind it.
void RandomGraph::finish_real(TensorId sum) {
  if (chance(10)) add(sum);
  const bool zero = type(sum) == DType::kFp32 && chance(30);
  if (chance(50)) sum = b_.clamp(sum, zero ? 0 : pick(-100, -1) / 8.0, pick(1, 100) / 8.0);
  add(sum);
}

void RandomGraph::grow_real_matmul() {
  const int64_t n = pick(1, 3), h = any_size(max_dim_), w = any_size(max_dim_);
  const int64_t c = chance(10) ? pick(1, 20 * max_dim_) : any_size(max_dim_);  // beyond a cycle of the array
  const DType in = any_float();
  const bool transposed = chance(50);
  TensorId right = any_as(in, transposed ? Shape{n, w, c} : Shape{n, c, w});
  if (transposed) right = b_.transpose(right, {0, 2, 1});
  const TensorId left = any_as(in, {n, h, c});
  const bool halves = result_of(in) == DType::kFp16 && (in != DType::kFp16 || chance(50));
  finish_real(b_.matmul(left, right, 0, 0, halves ? DType::kFp16 : DType::kFp32));
}

void RandomGraph::grow_real_resize() {
  const auto [dims, scale, offset, border] = any_resizing();
  const TensorId a = any_as(any_real(), dims);
  const auto mode = chance(30) ? graph::ResizeMode::kNearest : graph::ResizeMode::kBilinear;
  add(b_.resize(a, mode, scale, offset, border, type(a)));
}

void RandomGraph::grow_fourier() {
  const Shape dims = {pick(1, 2), int64_t{1} << pick(0, 3), int64_t{1} << pick(0, 3)};
  const TensorId real = any_as(DType::kFp32, dims);
  const bool both = chance(50);
  for (const TensorId id : both ? b_.fft2d(real, any_as(DType::kFp32, dims), chance(50)) : b_.rfft2d(real)) add(id);
}

}  // namespace npu::compiler::testing
