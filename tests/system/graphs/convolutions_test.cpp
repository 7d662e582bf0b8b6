// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV2D and CONV3D of sizes that random operators do not have: larger than the scratchpad, and windows as
// large as the fields of commands hold.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "sim/generator/run_time_operands.h"
#include "tests/system/graphs/graph_bench.h"

namespace npu::test {
namespace {

using graph::Convolution;
using graph::DType;
using graph::GraphBuilder;
using graph::Shape;
using graph::TensorId;

int64_t product_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

class Convolutions : public testing::TestWithParam<const char*> {
 protected:
  Convolutions() : device_(open_graph_device(presets::load_preset(GetParam()))) {}

  using Make = std::function<TensorId(GraphBuilder&, TensorId x, TensorId weights, TensorId bias)>;

  // A convolution with constant weights and a RESCALE behind it; one that gets weights when it runs; and one that gets
  // bias and zero points, too, and all values of its RESCALE.
  void expect_equal(DType type, const Shape& x, const Shape& weights, const Make& make) {
    const bool narrow = type == DType::kInt8;
    enum class AtRunTime : uint8_t { kNothing, kWeights, kAll };
    for (const AtRunTime what : {AtRunTime::kNothing, AtRunTime::kWeights, AtRunTime::kAll}) {
      const bool run_time = what != AtRunTime::kNothing, all = what == AtRunTime::kAll;
      GraphBuilder b;
      const TensorId in = b.input("x", type, x);
      std::vector<double> values;
      for (int64_t i = 0; i < product_of(weights); ++i) values.push_back(static_cast<double>(i * 37 % 251 - 120));
      const TensorId w = run_time ? b.input("w", DType::kInt8, weights) : b.constant(DType::kInt8, weights, values);
      const TensorId bias = b.constant(narrow ? DType::kInt32 : DType::kInt48, {1}, {-77.});
      TensorId y = make(b, in, w, bias);
      if (narrow && (all || !run_time)) y = b.rescale(y, DType::kInt8, {.multiplier = {1 << 30}, .shift = {41}});
      b.output(y, "y");
      graph::Graph graph = b.build();
      cosim::Random every(1);
      EXPECT_EQ(all, all && generator::make_run_time_operands(graph, every, 100) > 0);
      graph::validate(graph);
      std::mt19937 random(1);
      int64_t compared = 0;
      EXPECT_TRUE(equals_reference(graph, device_, random, compared));
      EXPECT_GT(compared, 0);
      device_.cold_reset();
    }
  }

  void expect_transposed(const Shape& x, const Shape& weights, std::vector<int32_t> stride, std::vector<int32_t> pad,
                         DType type = DType::kInt8) {
    SCOPED_TRACE(testing::Message() << weights[1] << " by " << weights[2] << " in steps of " << stride[0] << " by "
                                    << stride[1]);
    expect_equal(type, x, weights, [&](GraphBuilder& b, TensorId in, TensorId w, TensorId bias) {
      Convolution how{.pad = pad, .stride = stride};
      if (type == DType::kInt8) how.input_zp = 5, how.weight_zp = -3;
      return b.transpose_conv2d(in, w, bias, how);
    });
  }

  void expect_volume(const Shape& x, const Shape& weights, std::vector<int32_t> stride, std::vector<int32_t> dilation,
                     std::vector<int32_t> pad, DType type = DType::kInt8) {
    expect_equal(type, x, weights, [&](GraphBuilder& b, TensorId in, TensorId w, TensorId bias) {
      Convolution how{.pad = pad, .stride = stride, .dilation = dilation};
      if (type == DType::kInt8) how.input_zp = 5, how.weight_zp = -3;
      return b.conv3d(in, w, bias, how);
    });
  }

  runtime::Device device_;
};

// nano has 64 KiB of it, edge 1 MiB; sums of INT32 take four times as much as results.
TEST_P(Convolutions, TransposedOnesLargerThanTheScratchpad) {
  expect_transposed({1, 70, 60, 20}, {12, 2, 2, 20}, {2, 2}, {0, 0, 0, 0});
  expect_transposed({2, 40, 60, 20}, {20, 3, 3, 20}, {2, 2}, {0, 1, 0, 1});
  expect_transposed({1, 40, 50, 9}, {7, 4, 5, 9}, {2, 3}, {-1, -1, -2, 0}, DType::kInt16);
}

TEST_P(Convolutions, VolumesLargerThanTheScratchpad) {
  expect_volume({1, 10, 40, 50, 8}, {12, 3, 3, 3, 8}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1});
  expect_volume({2, 9, 40, 41, 7}, {9, 2, 2, 2, 7}, {1, 2, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0});
  expect_volume({1, 9, 30, 41, 7}, {9, 2, 3, 3, 7}, {2, 1, 2}, {2, 1, 3}, {1, 1, 0, 0, 0, 0}, DType::kInt16);
  expect_volume({1, 12, 40, 60, 6}, {9, 1, 3, 3, 6}, {1, 1, 1}, {1, 1, 1}, {2, 2, 1, 1, 1, 1});
}

// The second one's operand comes from the first one, row by row.
TEST_P(Convolutions, VolumesInARow) {
  GraphBuilder b;
  TensorId x = b.input("x", DType::kInt8, {1, 12, 40, 50, 6});
  for (int layer = 0; layer < 3; ++layer) {
    const int64_t channels = b.tensor(x).shape[4];
    const Shape shape = {9, 3, 2, 3, channels};
    const TensorId w = b.constant(DType::kInt8, shape, std::vector<double>(static_cast<size_t>(product_of(shape)), 3));
    const Convolution how{.pad = std::vector<int32_t>(6), .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    x = b.conv3d(x, w, b.constant(DType::kInt32, {1}, {-77.}), how);
    x = b.rescale(x, DType::kInt8, {.multiplier = {1 << 30}, .shift = {38}});
  }
  b.output(x, "y");
  std::mt19937 random(1);
  int64_t compared = 0;
  EXPECT_TRUE(equals_reference(b.build(), device_, random, compared));
}

TEST_P(Convolutions, WindowsAsLargeAsTheFieldsHold) {
  expect_transposed({1, 1, 3, 2}, {1, 1, 1, 2}, {1, 8192}, {0, 0, 0, 0});
  expect_transposed({1, 1, 2, 1}, {1, 1, 9000, 1}, {1, 4096}, {0, 0, -3, 5});
  expect_transposed({1, 1, 2, 1}, {2, 1, 2, 1}, {2, 1}, {0, 0, 0, 32767});
  expect_transposed({1, 1, 2, 1}, {2, 1, 2, 1}, {1, 2}, {0, 0, 32767, 0});
  expect_volume({1, 1, 1, 20001, 1}, {2, 1, 1, 3, 1}, {1, 1, 1}, {1, 1, 10000}, {0, 0, 0, 0, 0, 0});
  expect_volume({1, 2, 1, 20001, 1}, {2, 2, 1, 2, 1}, {1, 1, 5000}, {1, 1, 15000}, {0, 0, 0, 0, 0, 0});
  expect_volume({1, 5001, 1, 2, 3}, {2, 2, 1, 2, 3}, {1, 1, 1}, {5000, 1, 1}, {0, 0, 0, 0, 3, 0});
}

INSTANTIATE_TEST_SUITE_P(Machines, Convolutions, testing::Values("nano", "edge"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace npu::test
