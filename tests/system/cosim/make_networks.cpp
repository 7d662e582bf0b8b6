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

// INT8[1, 8, 8, 4] -> INT8[1, 16, 16, 8]: twice as large, bilinear with the pixels centred, and a convolution.
Graph upscaled() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 8, 8, 4});
  const TensorId sums = b.resize(x, ResizeMode::kBilinear, {4, 2, 4, 2}, {-1, -1}, {1, 1}, DType::kInt32);
  const TensorId larger = b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {34}});
  const TensorId weights = b.constant(DType::kInt8, {8, 3, 3, 4}, ramp(8 * 3 * 3 * 4, 11, -5));
  const TensorId bias = b.constant(DType::kInt32, {8}, ramp(8, 5, -2));
  const TensorId result = b.conv2d(larger, weights, bias, {.pad = {1, 1, 1, 1}});
  b.output(b.rescale(result, DType::kInt8, {.multiplier = {1 << 30}, .shift = {36}}), "y");
  return b.build();
}

// INT8[1, 1, 8, 4] -> INT8[1, 4]: the project's own network for lists, tests/cases/small_stream.tosa. A stream with a
// window of the last four rows in a variable; each kind of work of MXU, VPU and DMA once, in little.
Graph small_stream() {
  GraphBuilder b;
  const TensorId window = b.variable("window", DType::kInt8, {1, 4, 8, 4}, std::vector<double>(4 * 8 * 4, -3));
  b.declare(window);
  const TensorId row = b.input("row", DType::kInt8, {1, 1, 8, 4});
  const TensorId rows = b.concat({b.slice(b.read(window), {0, 1, 0, 0}, {1, 3, 8, 4}), row}, 1);
  b.write(window, rows);
  const TensorId weights = b.constant(DType::kInt8, {8, 3, 3, 4}, ramp(8 * 3 * 3 * 4, 11, -5));
  const TensorId bias = b.constant(DType::kInt32, {8}, ramp(8, 5, -2));
  const TensorId sums = b.conv2d(rows, weights, bias, {.pad = {1, 1, 1, 1}, .input_zp = -3});
  const TensorId first = b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {36}, .output_zp = 4});
  const TensorId clamped = b.clamp(first, -100, 90);
  const TensorId taps = b.constant(DType::kInt8, {3, 3, 8, 1}, ramp(3 * 3 * 8, 9, -4));
  const TensorId more = b.depthwise_conv2d(clamped, taps, bias, {.pad = {1, 1, 1, 1}, .input_zp = 4});
  const TensorId second = b.rescale(more, DType::kInt8, {.multiplier = {1 << 30}, .shift = {34}});
  const TensorId wide = b.rescale(clamped, DType::kInt32, {.multiplier = {1 << 30}, .shift = {30}, .input_zp = 4});
  const TensorId both = b.add(wide, b.rescale(second, DType::kInt32, {.multiplier = {1 << 30}, .shift = {30}}));
  const TensorId sum = b.rescale(both, DType::kInt8, {.multiplier = {1 << 30}, .shift = {31}});
  const TensorId pooled = b.reshape(b.max_pool2d(sum, {2, 2}, {2, 2}, {0, 0, 0, 0}), {1, 8, 8});
  const TensorId dense = b.matmul(pooled, b.constant(DType::kInt8, {1, 8, 4}, ramp(8 * 4, 13, -6)));
  const TensorId best =
      b.rescale(b.reduce(Op::kReduceMax, dense, 1), DType::kInt8, {.multiplier = {1 << 30}, .shift = {36}});
  b.output(b.table(b.reshape(best, {1, 4}), ramp(256, 251, -120)), "scores");
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
    write_tosa(std::filesystem::path(argv[1]) / "upscaled.tosa", upscaled());
    write_tosa(std::filesystem::path(argv[1]) / "clamped.tosa", clamped());
    write_tosa(std::filesystem::path(argv[1]) / "small_stream.tosa", small_stream());
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
