// SPDX-License-Identifier: Apache-2.0
// Writes a MobileNet of floating point (the first version, 224 x 224, width 1) with random weights, and an input:
//
//   float_mobilenet NETWORK.tosa INPUT.npy
#include <array>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/npy.h"
#include "driver/graph/value.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"

namespace {

using namespace npu::graph;

constexpr int64_t kSize = 224, kClasses = 1000;

class MobileNet {
 public:
  Graph make() {
    TensorId x = b_.input("image", DType::kFp32, {1, kSize, kSize, 3});
    x = standard(x, 32, 3, 2);
    struct Block {
      int64_t channels;
      int32_t stride;
    };
    for (const Block& block : std::array<Block, 13>{{{64, 1},
                                                     {128, 2},
                                                     {128, 1},
                                                     {256, 2},
                                                     {256, 1},
                                                     {512, 2},
                                                     {512, 1},
                                                     {512, 1},
                                                     {512, 1},
                                                     {512, 1},
                                                     {512, 1},
                                                     {1024, 2},
                                                     {1024, 1}}}) {
      x = standard(depthwise(x, block.stride), block.channels, 1, 1);
    }
    x = b_.avg_pool2d(x, {7, 7}, {1, 1}, {0, 0, 0, 0});
    b_.output(b_.conv2d(x, weights({kClasses, 1, 1, 1024}, 1024), bias(kClasses)), "logits");
    return b_.build();
  }

 private:
  // Weights keep the spread of what they multiply, of `inputs` products each.
  TensorId weights(const Shape& shape, int64_t inputs) {
    std::normal_distribution<float> value(0, std::sqrt(2.0F / static_cast<float>(inputs)));
    std::vector<double> values(static_cast<size_t>(*element_count(shape)));
    for (double& one : values) one = value(random_);
    return b_.constant(DType::kFp32, shape, values);
  }
  TensorId bias(int64_t channels) { return weights({channels}, 1000); }

  static Convolution padded(int32_t kernel, int32_t stride) {
    Convolution how;
    if (kernel == 3) how.pad = stride == 1 ? std::vector<int32_t>{1, 1, 1, 1} : std::vector<int32_t>{0, 1, 0, 1};
    how.stride = {stride, stride};
    return how;
  }

  TensorId standard(TensorId x, int64_t channels, int32_t kernel, int32_t stride) {
    const int64_t in = b_.tensor(x).shape[3];
    const TensorId filter = weights({channels, kernel, kernel, in}, kernel * kernel * in);
    return b_.clamp(b_.conv2d(x, filter, bias(channels), padded(kernel, stride)), 0, 6);
  }

  TensorId depthwise(TensorId x, int32_t stride) {
    const int64_t channels = b_.tensor(x).shape[3];
    const TensorId filter = weights({3, 3, channels, 1}, 9);
    return b_.clamp(b_.depthwise_conv2d(x, filter, bias(channels), padded(3, stride)), 0, 6);
  }

  GraphBuilder b_;
  std::mt19937 random_{1};
};

Value image() {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<double> values(kSize * kSize * 3);
  for (double& one : values) one = value(random);
  return {DType::kFp32, {1, kSize, kSize, 3}, encode(DType::kFp32, static_cast<int64_t>(values.size()), values)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: float_mobilenet NETWORK.tosa INPUT.npy\n";
    return 64;
  }
  try {
    write_tosa(argv[1], MobileNet().make());
    write_npy(argv[2], to_npy(image()));
  } catch (const npu::Error& error) {
    std::cerr << "float_mobilenet: " << error.what() << "\n";
    return error.exit_status();
  }
  return 0;
}
