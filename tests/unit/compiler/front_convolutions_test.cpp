// SPDX-License-Identifier: Apache-2.0
// Convolutions that become several steps: against the reference, and what the steps are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "driver/compiler/lower/phases.h"
#include "driver/graph/analyse.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::compiler::testing {
namespace {

using graph::Convolution;
using graph::DType;
using graph::Graph;
using graph::GraphBuilder;
using graph::Op;
using graph::Shape;
using graph::TensorId;
using ::testing::Each;
using ::testing::SizeIs;

std::vector<double> values(const Shape& shape, int64_t modulus = 251, int64_t offset = -120) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  std::vector<double> result;
  for (int64_t i = 0; i < count; ++i) result.push_back(static_cast<double>(i * 37 % modulus + offset));
  return result;
}

// Every result of a dimension is in one phase, which lists its taps and the inputs that they meet.
void expect_phases(const TransposedAxis& axis, int64_t inputs, bool wide) {
  std::vector<int> seen(static_cast<size_t>(axis.results));
  for (const Phase& phase : phases_of(axis, wide)) {
    EXPECT_TRUE(wide || phase.taps == 0 || phase.width == 1);
    for (int64_t i = 0; i < phase.count; ++i) {
      for (int64_t j = 0; j < phase.width; ++j) {
        const int64_t result = phase.first + j + i * axis.stride;
        ASSERT_LT(result, axis.results);
        ++seen[static_cast<size_t>(result)];
        std::vector<std::pair<int64_t, int64_t>> got, want;  // tap, input
        for (int64_t t = phase.taps; t-- > 0;) {
          const int64_t input = i - phase.padding + phase.taps - 1 - t;
          if (input >= 0 && input < inputs) got.emplace_back(phase.first_tap + j + t * axis.stride, input);
        }
        for (int64_t input = 0; input < inputs; ++input) {
          const int64_t tap = result - axis.pad - input * axis.stride;
          if (tap >= 0 && tap < axis.kernel) want.emplace_back(tap, input);
        }
        EXPECT_EQ(got, want) << "result " << result;
      }
    }
  }
  EXPECT_THAT(seen, Each(1));
}

TEST(Phases, HaveEachProductOnce) {
  constexpr int64_t kInputs = 4;
  for (int64_t kernel = 1; kernel <= 6; ++kernel) {
    for (int64_t stride = 1; stride <= 5; ++stride) {
      for (int64_t pad = 1 - kernel; pad <= 7; ++pad) {
        for (int64_t after = 1 - kernel; after <= 6; ++after) {
          const int64_t results = (kInputs - 1) * stride + pad + after + kernel;
          if (results < 1) continue;
          SCOPED_TRACE(::testing::Message() << kernel << " by " << stride << ", pad " << pad << " and " << after);
          for (const bool wide : {false, true}) expect_phases({kernel, stride, pad, results}, kInputs, wide);
        }
      }
    }
  }
}

TEST(Phases, JoinNeighboursThatReadTheSameInputs) {
  EXPECT_THAT(phases_of({2, 2, 0, 8}, true), SizeIs(1));
  EXPECT_THAT(phases_of({2, 2, 0, 8}, false), SizeIs(2));
  EXPECT_THAT(phases_of({8, 8, 0, 64}, true), SizeIs(1));
  EXPECT_THAT(phases_of({3, 2, 0, 9}, true), SizeIs(2));
  EXPECT_THAT(phases_of({4, 2, -1, 8}, true), SizeIs(3));  // the first and the last result have no neighbour
  EXPECT_THAT(phases_of({1, 8192, 0, 8192 * 3 + 1}, false), SizeIs(2));  // one with a tap, the others without
}

using Convolve = TensorId (GraphBuilder::*)(TensorId x, TensorId weight, TensorId bias, const Convolution& options);

// With INT8 weights, constant or not; the kernel without its channels.
Graph convolved(Convolve convolve, const Shape& x, Shape kernel, const Convolution& how, DType type, bool run_time) {
  GraphBuilder b;
  const TensorId in = b.input("x", type, x);
  kernel.push_back(x.back());
  const TensorId weight =
      run_time ? b.input("w", DType::kInt8, kernel) : b.constant(DType::kInt8, kernel, values(kernel));
  const DType acc = type == DType::kInt8 ? DType::kInt32 : DType::kInt48;
  const TensorId bias = b.constant(acc, {kernel[0]}, values({kernel[0]}));
  b.output((b.*convolve)(in, weight, bias, how));
  return b.build();
}

Graph transposed(const Shape& x, Shape kernel, const Convolution& how, DType type = DType::kInt8,
                 bool run_time = false) {
  return convolved(&GraphBuilder::transpose_conv2d, x, std::move(kernel), how, type, run_time);
}

TEST(TransposeConv, EqualsTheReference) {
  struct Case {
    Shape kernel;  // OC, KH, KW
    std::vector<int32_t> pad, stride;
  };
  const Case cases[] = {
      {{3, 2, 2}, {0, 0, 0, 0}, {2, 2}},   {{3, 3, 3}, {0, 0, 0, 0}, {2, 2}},     {{3, 4, 4}, {-1, -1, -1, -1}, {2, 2}},
      {{2, 1, 1}, {0, 0, 0, 0}, {3, 2}},   {{2, 1, 1}, {5, 1, 0, 7}, {4, 3}},     {{1, 5, 3}, {-4, -2, -2, -2}, {1, 1}},
      {{4, 2, 5}, {-1, 3, 2, -4}, {3, 3}}, {{4, 8, 8}, {-2, -2, -2, -2}, {4, 4}}, {{2, 3, 2}, {9, 9, 9, 9}, {1, 5}},
      {{3, 6, 4}, {-5, 0, -3, 0}, {6, 4}},
  };
  for (const Case& c : cases) {
    for (const DType type : {DType::kInt8, DType::kInt16}) {
      for (const bool run_time : {false, true}) {
        Convolution how;
        how.pad = c.pad;
        how.stride = c.stride;
        if (type == DType::kInt8) how.input_zp = -7, how.weight_zp = 3;
        EXPECT_EQ(compare_with_reference(transposed({2, 3, 4, 3}, c.kernel, how, type, run_time)), 3);
      }
    }
  }
}

TEST(TransposeConv, MultipliesNoInsertedZero) {
  for (const int32_t kernel : {1, 2, 3, 4, 7}) {
    for (const int32_t stride : {1, 2, 3, 4}) {
      Convolution how;
      how.stride = {stride, stride};
      const Graph graph = transposed({1, 5, 6, 4}, {3, kernel, kernel}, how);
      const Module module = lowered(graph);
      int64_t products = 0, windows = 0;
      for (const MxuStep* step : steps_of<MxuStep>(module)) {
        const auto& d = step->dst.dims;
        const int64_t all = d[0] * d[1] * d[2] * d[3] * step->kernel_h * step->kernel_w * step->src.dims[3];
        const bool bias_only = step->pad_top < 0;
        (bias_only ? windows : products) += all;
      }
      EXPECT_EQ(products, graph::macs(graph)) << kernel << " by " << stride;
      EXPECT_EQ(windows == 0, kernel >= stride) << kernel << " by " << stride;
    }
  }
}

TEST(TransposeConv, WritesNeighboursAsOnePixel) {
  Convolution how;
  how.stride = {2, 2};
  const Module module = lowered(transposed({1, 4, 4, 8}, {3, 2, 2}, how));
  const auto steps = steps_of<MxuStep>(module);
  ASSERT_THAT(steps, SizeIs(2));  // one for each row of two
  for (const MxuStep* step : steps) {
    EXPECT_EQ(step->dst.dims, (Shape{1, 4, 4, 6}));
    EXPECT_EQ(step->weights.dims, (Shape{6, 1, 1, 8}));
    EXPECT_THAT(step->params.entries, SizeIs(6));
  }
  EXPECT_THAT(steps_of<CopyStep>(module), SizeIs(0));
  EXPECT_EQ(module.layers[0].kind, "TRANSPOSE_CONV2D");
  EXPECT_EQ(module.layers[0].kernel, (std::vector<int32_t>{2, 2}));
}

// More rows than become steps of their own.
TEST(TransposeConv, WritesManyRowsByCopies) {
  for (const int32_t kernel : {65, 70, 135}) {
    for (const int32_t pad : {0, -1, -5, 3, 65, -63}) {
      for (const int32_t columns : {1, 2, 3}) {
        Convolution how;
        how.stride = {66, 2};
        how.pad = {pad, -2, -1, 0};
        how.input_zp = 9;
        const Graph graph = transposed({2, 3, 2, 2}, {3, kernel, columns + 1}, how, DType::kInt8, kernel == 70);
        EXPECT_EQ(compare_with_reference(graph, 1), 1) << kernel << " " << pad << " " << columns;
        EXPECT_LT(lowered(graph).steps.size(), 50);
      }
    }
  }
}

// Behind it a CONCAT of channels, as of a U-Net: columns do not lie side by side.
TEST(TransposeConv, WritesIntoAPartOfALargerTensor) {
  for (const int32_t axis : {0, 1, 2, 3}) {
    for (const bool clamped : {false, true}) {
      GraphBuilder b;
      const TensorId x = b.input("x", DType::kInt8, {1, 3, 4, 3});
      const TensorId w = b.constant(DType::kInt8, {5, 2, 3, 3}, values({5, 2, 3, 3}));
      Convolution how;
      how.stride = {3, 3};
      TensorId y = b.transpose_conv2d(x, w, b.constant(DType::kInt32, {5}, values({5})), how);
      y = b.rescale(y, DType::kInt8, {.multiplier = {1 << 30}, .shift = {37}});
      if (clamped) y = b.clamp(y, -90, 70);
      b.output(b.concat({b.input("other", DType::kInt8, b.tensor(y).shape), y}, axis));
      const Graph graph = b.build();
      EXPECT_EQ(compare_with_reference(graph), 3);
      EXPECT_THAT(steps_of<CopyStep>(lowered(graph)), SizeIs(1));  // of the other part
    }
  }
}

Graph volume(const Shape& x, Shape kernel, const Convolution& how, DType type = DType::kInt8, bool run_time = false) {
  return convolved(&GraphBuilder::conv3d, x, std::move(kernel), how, type, run_time);
}

TEST(Conv3d, EqualsTheReference) {
  struct Case {
    Shape size, kernel;  // OC, KD, KH, KW
    std::vector<int32_t> pad, stride, dilation;
  };
  const Case cases[] = {
      {{4, 5, 6}, {3, 2, 3, 2}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}, {1, 1, 1}},
      {{4, 5, 6}, {3, 3, 3, 3}, {1, 1, 1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {{5, 5, 7}, {2, 2, 2, 2}, {1, 0, 0, 1, 2, 0}, {2, 2, 2}, {1, 1, 2}},
      {{5, 5, 8}, {2, 2, 1, 3}, {0, 0, 0, 0, 0, 1}, {1, 1, 2}, {2, 1, 3}},
      {{6, 4, 9}, {4, 2, 2, 2}, {1, 1, 0, 0, 3, 3}, {3, 1, 4}, {1, 2, 6}},
      {{3, 4, 5}, {2, 1, 2, 3}, {0, 0, 1, 0, 1, 0}, {1, 1, 1}, {1, 1, 1}},
      {{3, 4, 5}, {2, 1, 2, 3}, {3, 3, 1, 0, 1, 0}, {2, 1, 1}, {1, 1, 1}},
      {{1, 4, 5}, {2, 1, 1, 1}, {4, 4, 2, 2, 3, 3}, {4, 1, 1}, {1, 1, 3}},
      {{2, 2, 1}, {5, 2, 2, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}, {1, 1, 5}},
      {{2, 2, 3}, {5, 2, 1, 1}, {0, 0, 0, 0, 2, 0}, {1, 1, 2}, {1, 1, 4}},
  };
  for (const Case& c : cases) {
    for (const int64_t batch : {1, 3}) {
      for (const bool run_time : {false, true}) {
        const DType type = batch == 3 && run_time ? DType::kInt16 : DType::kInt8;
        Convolution how{.pad = c.pad, .stride = c.stride, .dilation = c.dilation};
        if (type == DType::kInt8) how.input_zp = -7, how.weight_zp = 3;
        const Graph graph = volume({batch, c.size[0], c.size[1], c.size[2], 3}, c.kernel, how, type, run_time);
        EXPECT_EQ(compare_with_reference(graph), 3);
      }
    }
  }
}

Convolution volume_window() { return {.pad = std::vector<int32_t>(6), .stride = {1, 1, 1}, .dilation = {1, 1, 1}}; }

TEST(Conv3d, IsOneStepWithoutCopies) {
  const Graph graph = volume({1, 6, 6, 6, 4}, {8, 3, 3, 3}, volume_window());
  const Module module = lowered(graph);
  EXPECT_THAT(module.steps, SizeIs(1));
  const auto steps = steps_of<MxuStep>(module);
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0]->src.dims, (Shape{4, 6, 6, 12}));  // columns are the batch, a row of taps the channels
  EXPECT_EQ(steps[0]->dst.dims, (Shape{4, 4, 4, 8}));
  EXPECT_EQ(module.layers[0].macs, graph::macs(graph));
  EXPECT_EQ(module.layers[0].kernel, (std::vector<int32_t>{3, 3, 3}));
}

TEST(Conv3d, WithoutDepthConvolvesSlices) {
  Convolution how = volume_window();
  how.pad = {0, 0, 1, 1, 1, 1};
  const Module module = lowered(volume({1, 6, 6, 6, 4}, {8, 1, 3, 3}, how));
  EXPECT_THAT(module.steps, SizeIs(1));
  EXPECT_THAT(steps_of<MxuStep>(module)[0]->src.dims, (Shape{6, 6, 6, 4}));
}

// An image is copied once, whatever the kernel: not once a tap.
TEST(Conv3d, CopiesPaddedColumnsOnce) {
  Convolution how = volume_window();
  how.pad = {1, 1, 1, 1, 1, 1};
  how.dilation = {1, 1, 1};
  const Module module = lowered(volume({1, 6, 6, 6, 4}, {8, 3, 3, 3}, how));
  int64_t copied = 0;
  for (const CopyStep* copy : steps_of<CopyStep>(module)) {
    copied += std::accumulate(copy->dst.dims.begin(), copy->dst.dims.end(), int64_t{1}, std::multiplies<>());
  }
  EXPECT_EQ(copied, 6 * 6 * 8 * 4);
  EXPECT_THAT(steps_of<MxuStep>(module), SizeIs(1));
}

TEST(Int4, IsStoredAByteAnElement) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt4, {3, 5});
  b.output(b.op(Op::kIdentity, {x}));
  b.output(b.constant(DType::kInt4, {7}, values({7}, 15, -7)));
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

TEST(Int4, WeightsMayComeAtRunTime) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 4, 4, 2});
  const TensorId w = b.op(Op::kIdentity, {b.input("w", DType::kInt4, {3, 2, 2, 2})});
  const TensorId bias = b.constant(DType::kInt32, {3}, values({3}));
  Convolution how;
  how.stride = {2, 2};
  b.output(b.conv2d(x, w, bias, {}));
  b.output(b.transpose_conv2d(x, w, bias, how));
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

}  // namespace
}  // namespace npu::compiler::testing
