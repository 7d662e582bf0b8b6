// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/quantized_layers.h"

#include <cmath>

#include "sim/generator/random_network.h"

namespace npu::generator {

using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

namespace {

// Weights are drawn from all of INT8 but -128, which quantizers leave out.
constexpr int64_t kMostWeight = 127;
constexpr int64_t kMostBias = 2000;

}  // namespace

TensorId QuantizedLayers::weights(GraphBuilder& b, int64_t channels, int64_t kernel, int64_t inputs) {
  const std::vector<double> values =
      random_numbers(random_, channels * kernel * kernel * inputs, -kMostWeight, kMostWeight);
  return b.constant(DType::kInt8, {channels, kernel, kernel, inputs}, values);
}

TensorId QuantizedLayers::bias(GraphBuilder& b, int64_t channels) {
  return b.constant(DType::kInt32, {channels}, random_numbers(random_, channels, -kMostBias, kMostBias));
}

TensorId QuantizedLayers::rescaled(GraphBuilder& b, TensorId sums, DType type, int64_t terms) {
  // The standard deviation of a sum of products is that of its operands times the weights' times sqrt(terms).
  const double deviation = kMostWeight / std::sqrt(3.0) * std::sqrt(static_cast<double>(terms));
  graph::Rescaling scale{.multiplier = {}, .shift = {}, .per_channel = true};
  for (int64_t channel = 0; channel < b.tensor(sums).shape.back(); ++channel) {
    const double factor = static_cast<double>(random_.between(80, 120)) / 100 / deviation;
    int exponent = 0;
    const double mantissa = std::frexp(factor, &exponent);  // 0.5 to 1
    scale.multiplier.push_back(std::floor(std::ldexp(mantissa, 31)));
    scale.shift.push_back(31 - exponent);
  }
  return b.rescale(sums, type, scale);
}

TensorId QuantizedLayers::convolution(GraphBuilder& b, TensorId x, int64_t channels, int64_t kernel, bool relu) {
  const int64_t inputs = b.tensor(x).shape.back();
  const auto pad = static_cast<int32_t>(kernel / 2);
  const TensorId w = weights(b, channels, kernel, inputs);
  const TensorId sums = b.conv2d(x, w, bias(b, channels), {.pad = {pad, pad, pad, pad}});
  const TensorId y = rescaled(b, sums, DType::kInt8, kernel * kernel * inputs);
  return relu ? b.clamp(y, 0, kMostWeight) : y;
}

TensorId QuantizedLayers::doubled(GraphBuilder& b, TensorId x, int64_t channels, int64_t kernel) {
  const auto pad = static_cast<int32_t>(1 - kernel / 2);
  const TensorId w = weights(b, channels, kernel, b.tensor(x).shape.back());
  return b.transpose_conv2d(x, w, bias(b, channels), {.pad = {pad, pad, pad, pad}, .stride = {2, 2}});
}

}  // namespace npu::generator
