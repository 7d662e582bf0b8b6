// SPDX-License-Identifier: Apache-2.0
// Writes the networks that cosim_test.py feeds to `npu` into the folder given on the command line.
#include <cstdio>
#include <filesystem>

#include "driver/graph/builder.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"

namespace {

using namespace npu::graph;

std::vector<double> ramp(size_t count, int modulus, double first) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + static_cast<double>(i * 7 % static_cast<size_t>(modulus));
  return values;
}

// INT8[1, 8, 8, 4] -> INT8[1, 8, 8, 8]: a convolution, some results of which are clipped, and a depthwise one. No clamp
// hides what is clipped.
Graph two_layers() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 8, 8, 4});
  const TensorId bias = b.constant(DType::kInt32, {8}, ramp(8, 5, -2));
  const TensorId weights = b.constant(DType::kInt8, {8, 3, 3, 4}, ramp(8 * 3 * 3 * 4, 11, -5));
  const TensorId sums = b.conv2d(x, weights, bias, {.pad = {1, 1, 1, 1}, .input_zp = -3});
  const TensorId first = b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {32}, .output_zp = 4});
  const TensorId taps = b.constant(DType::kInt8, {3, 3, 8, 1}, ramp(3 * 3 * 8, 9, -4));
  const TensorId more = b.depthwise_conv2d(first, taps, bias, {.pad = {1, 1, 1, 1}, .input_zp = 4});
  b.output(b.rescale(more, DType::kInt8, {.multiplier = {1 << 30}, .shift = {33}}), "y");
  return b.build();
}

// INT8[1, 8, 8, 4] -> INT8[1, 8, 8, 4]: a layer of the VPU, some results of which are clipped.
Graph clamped() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 8, 8, 4});
  b.output(b.clamp(x, -50, 60), "y");
  return b.build();
}

// INT8[1, 64, 64, 64] -> the same: an input that is large when it is stacked.
Graph wide() {
  GraphBuilder b;
  b.output(b.clamp(b.input("x", DType::kInt8, {1, 64, 64, 64}), -50, 60), "y");
  return b.build();
}

// A state that is written, and no output with which it could be compared.
Graph silent() {
  GraphBuilder b;
  const TensorId state = b.variable("state", DType::kInt8, {1, 4});
  b.declare(state);
  b.write(state, b.input("x", DType::kInt8, {1, 4}));
  return b.build();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    write_tosa(std::filesystem::path(argv[1]) / "two_layers.tosa", two_layers());
    write_tosa(std::filesystem::path(argv[1]) / "clamped.tosa", clamped());
    write_tosa(std::filesystem::path(argv[1]) / "model_v1.0.tosa", clamped());
    write_tosa(std::filesystem::path(argv[1]) / "model_v1.5.tosa", clamped());
    write_tosa(std::filesystem::path(argv[1]) / "wide.tosa", wide());
    write_tosa(std::filesystem::path(argv[1]) / "silent.tosa", silent());
  } catch (const npu::Error& error) {
    std::fprintf(stderr, "make_networks: %s\n", error.what());
    return 1;
  }
  return 0;
}
