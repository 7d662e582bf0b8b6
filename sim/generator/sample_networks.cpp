// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/sample_networks.h"

#include "driver/graph/builder.h"
#include "sim/generator/quantized_layers.h"

namespace npu::generator {

using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

graph::Graph unet() {
  GraphBuilder b;
  QuantizedLayers layers(11);
  const auto twice = [&](TensorId x, int64_t channels) {
    return layers.convolution(b, layers.convolution(b, x, channels, 3, true), channels, 3, true);
  };
  TensorId x = b.input("image", DType::kInt8, {1, 64, 64, 3});
  std::vector<TensorId> skips;
  for (const int64_t channels : {8, 16, 32}) {
    skips.push_back(twice(x, channels));
    x = b.max_pool2d(skips.back(), {2, 2}, {2, 2}, {0, 0, 0, 0});
  }
  x = twice(x, 64);
  for (const int64_t channels : {32, 16, 8}) {
    const int64_t inputs = b.tensor(x).shape.back();
    const TensorId up = layers.rescaled(b, layers.doubled(b, x, channels, 2), DType::kInt8, inputs);
    x = twice(b.concat({skips.back(), up}, 3), channels);
    skips.pop_back();
  }
  b.output(layers.convolution(b, x, 2, 1, false), "mask");
  return b.build();
}

graph::Graph super_resolution() {
  constexpr int64_t kFeatures = 32, kInner = 8, kKernel = 8;
  GraphBuilder b;
  QuantizedLayers layers(13);
  const TensorId picture = b.input("picture", DType::kInt8, {1, 64, 64, 1});
  TensorId x = layers.convolution(b, picture, kFeatures, 5, true);
  x = layers.convolution(b, x, kInner, 1, true);
  for (int i = 0; i < 3; ++i) x = layers.convolution(b, x, kInner, 3, true);
  x = layers.convolution(b, x, kFeatures, 1, true);
  // A pixel of the result sees a quarter of the kernel.
  const int64_t terms = kKernel * kKernel / 4 * kFeatures;
  const TensorId detail = layers.rescaled(b, layers.doubled(b, x, 1, kKernel), DType::kInt32, terms);
  // Pixels have their centres in the middle: twice the size, a quarter of a pixel aside. Sums are 16 times the pixel.
  const TensorId smooth =
      b.resize(picture, graph::ResizeMode::kBilinear, {4, 2, 4, 2}, {-1, -1}, {1, 1}, DType::kInt32);
  const TensorId same_scale = b.rescale(smooth, DType::kInt32, {.multiplier = {1 << 30}, .shift = {34}});
  b.output(b.rescale(b.add(detail, same_scale), DType::kInt8), "large");
  return b.build();
}

std::vector<SampleNetwork> sample_networks() {
  return {
      {"unet_int8", unet()}, {"super_resolution_int8", super_resolution()}, {"greedy_decoder_int8", greedy_decoder()}};
}

}  // namespace npu::generator
