// SPDX-License-Identifier: Apache-2.0
// Layers of INT8 networks with weights of a seed, scaled so that their results use the range of INT8.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/builder.h"
#include "sim/cosim/random.h"

namespace npu::generator {

class QuantizedLayers {
 public:
  explicit QuantizedLayers(uint64_t seed) : random_(seed) {}

  // Every layer is a function of INT8[1, height, width, channels].

  // CONV2D of a square kernel, padded to keep height and width, RESCALE for each channel and, with `relu`, CLAMP to
  // what is not negative.
  graph::TensorId convolution(graph::GraphBuilder& b, graph::TensorId x, int64_t channels, int64_t kernel, bool relu);
  // TRANSPOSE_CONV2D that doubles height and width, padded so that a kernel of more than 2 sees both sides alike; its
  // sums, INT32. `kernel` is even.
  graph::TensorId doubled(graph::GraphBuilder& b, graph::TensorId x, int64_t channels, int64_t kernel);
  // Sums of `terms` products to `type`.
  graph::TensorId rescaled(graph::GraphBuilder& b, graph::TensorId sums, graph::DType type, int64_t terms);

 private:
  graph::TensorId weights(graph::GraphBuilder& b, int64_t channels, int64_t kernel, int64_t inputs);
  graph::TensorId bias(graph::GraphBuilder& b, int64_t channels);

  cosim::Random random_;
};

}  // namespace npu::generator
