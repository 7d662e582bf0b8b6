// SPDX-License-Identifier: Apache-2.0
// Convolutions that the compiler makes of several steps.
#include "tests/unit/compiler/random_graph_maker.h"

namespace npu::compiler::testing {

RandomGraph::Weights RandomGraph::weights(const Shape& dims, bool bytes, graph::Convolution& how) {
  if (bytes) how.input_zp = pick(-9, 9), how.weight_zp = chance(30) ? pick(-9, 9) : 0;
  const int64_t biases = chance(30) ? 1 : dims[0];
  const TensorId weight =
      chance(25) ? any_as(DType::kInt8, dims) : b_.constant(DType::kInt8, dims, numbers(product(dims), -50, 50));
  return {weight, b_.constant(bytes ? DType::kInt32 : DType::kInt48, {biases}, numbers(biases, -999, 999))};
}

void RandomGraph::grow_transpose_conv() {
  const Shape dims = image();
  const TensorId a = any_as(chance(85) ? DType::kInt8 : DType::kInt16, dims);
  graph::Convolution how;
  how.stride.clear(), how.pad.clear();
  Shape kernel = {any_size(max_dim_)};
  for (size_t axis : {1, 2}) {
    for (;;) {
      const int size = chance(20) ? 1 : pick(1, 4), stride = pick(1, 3);
      const int before = pick(1 - size, 2), after = chance(30) ? 0 : pick(1 - size, 2);
      if ((dims[axis] - 1) * stride + before + after + size < 1) continue;
      kernel.push_back(size), how.stride.push_back(stride);
      how.pad.push_back(before), how.pad.push_back(after);
      break;
    }
  }
  kernel.push_back(dims[3]);
  const Weights w = weights(kernel, type(a) == DType::kInt8, how);
  finish(b_.transpose_conv2d(a, w.weight, w.bias, how));
}

void RandomGraph::grow_conv3d() {
  Shape dims = image();
  dims.insert(dims.begin() + 1, any_size(3));
  const Windows windowed = windows(dims, false);
  const TensorId a = any_as(chance(85) ? DType::kInt8 : DType::kInt16, dims);
  graph::Convolution how;
  how.pad = windowed.pad, how.stride = windowed.stride, how.dilation = windowed.dilation;
  Shape kernel = {any_size(max_dim_)};
  kernel.insert(kernel.end(), windowed.kernel.begin(), windowed.kernel.end());
  kernel.push_back(dims[4]);
  const Weights w = weights(kernel, type(a) == DType::kInt8, how);
  finish(b_.conv3d(a, w.weight, w.bias, how));
}

}  // namespace npu::compiler::testing
