// SPDX-License-Identifier: Apache-2.0
#include "tests/system/cli/shared_state_networks.h"

#include <cstdint>
#include <random>
#include <vector>

#include "driver/graph/builder.h"

namespace npu::test {
namespace {

using namespace npu::graph;

constexpr int64_t kChannels = 64;

std::vector<double> drawn(std::mt19937& random, int64_t count, int most) {
  std::uniform_int_distribution<int> draw(-most, most);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(draw(random));
  return values;
}

// A convolution to kChannels channels of INT8.
TensorId layer(GraphBuilder& b, std::mt19937& random, TensorId x, int64_t kernel, int32_t stride) {
  const int64_t channels = b.tensor(x).shape.back();
  const auto pad = static_cast<int32_t>(kernel / 2);
  const std::vector<double> weights = drawn(random, kChannels * kernel * kernel * channels, 90);
  const TensorId sums =
      b.conv2d(x, b.constant(DType::kInt8, {kChannels, kernel, kernel, channels}, weights),
               b.constant(DType::kInt32, {kChannels}, drawn(random, kChannels, 500)),
               {.pad = {pad, pad == 0 ? 0 : pad - (stride - 1), pad, pad == 0 ? 0 : pad - (stride - 1)},
                .stride = {stride, stride}});
  return b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {41}});
}

Graph decoder_of(const Shape& features_shape) {
  std::mt19937 random(23);
  GraphBuilder b;
  const TensorId shared = b.variable("talk/features", DType::kInt8, features_shape, std::vector<double>{0});
  const TensorId own = b.variable("talk/token", DType::kInt8, {1, 1, 1, kChannels}, std::vector<double>{1});
  const TensorId features = b.read(shared);
  const TensorId loudest = b.reduce(Op::kReduceMax, b.reduce(Op::kReduceMax, features, 1), 2);
  const TensorId token = layer(b, random, b.concat({loudest, b.read(own)}, 3), 1, 1);
  b.write(own, token);
  b.write(shared, b.arithmetic_right_shift(features, b.constant(DType::kInt8, {1, 1, 1, 1}, {1}), false));
  b.output(token, "token");
  return b.build();
}

}  // namespace

Graph encoder() {
  std::mt19937 random(17);
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 32, 32, 16});
  const TensorId fresh = layer(b, random, layer(b, random, layer(b, random, x, 3, 1), 3, 2), 3, 2);
  const TensorId shared = b.variable("talk/features", DType::kInt8, {1, 8, 8, kChannels}, std::vector<double>{0});
  const TensorId mixed = b.op(Op::kBitwiseXor, {b.read(shared), fresh});
  b.write(shared, mixed);
  b.output(b.reduce(Op::kReduceMax, b.reduce(Op::kReduceMax, mixed, 1), 2), "loudest");
  return b.build();
}

Graph decoder() { return decoder_of({1, 8, 8, kChannels}); }

Graph other_decoder() { return decoder_of({1, 2, 2, kChannels}); }

Graph much_reader() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 24000});
  const TensorId state = b.variable("much/state", DType::kInt8, {1, 24000}, std::vector<double>{3});
  b.output(b.cast(b.maximum(b.cast(b.read(state), DType::kInt32), b.cast(x, DType::kInt32)), DType::kInt8), "y");
  return b.build();
}

}  // namespace npu::test
