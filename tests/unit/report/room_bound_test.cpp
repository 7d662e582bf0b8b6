// SPDX-License-Identifier: Apache-2.0
#include "sim/report/room_bound.h"

#include <gtest/gtest.h>

#include "driver/graph/builder.h"

namespace npu::report {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

// 2.5 bytes of DRAM a cycle, 16 products, room for 1,000 bytes, 128 in the array and 32 in a DMA channel.
presets::Preset machine() {
  presets::Preset machine;
  machine.caps.clock_mhz = 1000;
  machine.caps.dma_port_bytes = 16;
  machine.caps.mxu_cols = 2;
  machine.caps.mxu_depth = 8;
  machine.caps.mxu_dw_taps = 4;
  machine.caps.spm_bytes = 700;
  machine.caps.psram_bytes = 300;
  machine.caps.dma_channels = 1;
  machine.caps.dma_outstanding = 2;
  machine.caps.dma_burst_bytes = 16;
  machine.dram.data_rate_mts = 1250;
  machine.dram.bus_bits = 16;
  return machine;
}
constexpr uint64_t kChip = 1160;
// Of a layer: 16 pixels with 64 products each for 64 channels.
constexpr uint64_t kCycles = 16 * 64 * 64 / 16, kWeights = 64 * 64;

class RoomBoundTest : public testing::Test {
 protected:
  TensorId input() { return graph_.input("x", DType::kInt8, {1, 4, 4, 64}); }
  // A convolution whose weights are all `value`, and the name of its result.
  TensorId layer(TensorId x, int value) {
    const TensorId weights = graph_.constant(DType::kInt8, {64, 1, 1, 64}, std::vector<int>(kWeights, value));
    const TensorId bias = graph_.constant(DType::kInt32, {1}, std::vector<int>{0});
    return graph_.rescale(graph_.conv2d(x, weights, bias), DType::kInt8);
  }
  TensorId join(TensorId a, TensorId b) {
    return graph_.select(graph_.constant(DType::kBool, {1, 1, 1, 1}, std::vector<int>{1}), a, b);
  }
  std::optional<RoomBound> bound(TensorId result) {
    graph_.output(result);
    return room_bound(graph_.build(), machine());
  }

  GraphBuilder graph_;
};

TEST_F(RoomBoundTest, WhatHasNoRoomComesBehindTheWorkBeforeIt) {
  const std::optional<RoomBound> bound = this->bound(layer(layer(layer(input(), 1), 2), 3));
  ASSERT_TRUE(bound);
  // Behind the first layer two are to come, of which the second one computes, too; behind the second one only one.
  EXPECT_EQ(bound->weight_bytes, kWeights);
  EXPECT_EQ(bound->chip_bytes, kChip);
  EXPECT_EQ(bound->cycles, 2 * kCycles + ((kWeights - kChip) * 4 + 9) / 10);
}

TEST_F(RoomBoundTest, EqualWeightsAreLoadedOnce) { EXPECT_FALSE(bound(layer(layer(input(), 1), 1))); }

TEST_F(RoomBoundTest, WhatCanBeLoadedBeforeIsNotBehind) {
  // Both layers read the input.
  const TensorId x = input();
  EXPECT_FALSE(bound(join(layer(x, 1), layer(x, 2))));
}

TEST_F(RoomBoundTest, AResidualClosesWithItsSum) {
  const TensorId x = layer(input(), 1);
  const TensorId sum = join(x, layer(x, 2));
  const std::optional<RoomBound> bound = this->bound(layer(sum, 3));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->cycles, 2 * kCycles + ((kWeights - kChip) * 4 + 9) / 10);
  EXPECT_EQ(bound->tensor, graph_.tensor(sum).name);
}

TEST_F(RoomBoundTest, StateIsThereFromTheStart) {
  const TensorId state = graph_.variable("s", DType::kInt8, {1, 4, 4, 64});
  const TensorId x = layer(input(), 1);
  EXPECT_FALSE(bound(join(x, layer(graph_.read(state), 2))));
}

TEST_F(RoomBoundTest, ConstantsInAnotherOrderAreConstants) {
  const TensorId x = layer(input(), 1);
  const TensorId values = graph_.constant(DType::kInt8, {1, 64, 64}, std::vector<int>(kWeights, 2));
  const TensorId weights = graph_.transpose(values, {0, 2, 1});
  const TensorId rows = graph_.reshape(x, {1, 16, 64});
  const std::optional<RoomBound> bound = this->bound(graph_.matmul(rows, weights));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->cycles, kCycles + ((kWeights - kChip) * 4 + 9) / 10);
}

TEST_F(RoomBoundTest, WhatNobodyReadsIsNotThere) {
  const TensorId x = layer(input(), 1);
  layer(x, 2);
  EXPECT_FALSE(bound(graph_.clamp(x, -5, 5)));
}

TEST_F(RoomBoundTest, AConvolutionOfAConstantIsDoneBefore) {
  const TensorId x = layer(input(), 1);
  const TensorId fixed = layer(graph_.constant(DType::kInt8, {1, 4, 4, 64}, std::vector<int>(1024, 3)), 2);
  EXPECT_FALSE(bound(join(x, fixed)));
}

// The last element of a batch needs the weights of its own matrix only.
TEST_F(RoomBoundTest, MatricesOfABatchAreDoneOneByOne) {
  const TensorId x = graph_.reshape(layer(input(), 1), {2, 8, 64});
  const TensorId weights = graph_.constant(DType::kInt8, {2, 64, 64}, std::vector<int>(2 * kWeights, 2));
  EXPECT_FALSE(bound(graph_.matmul(x, weights)));
}

TEST_F(RoomBoundTest, AGroupOfChannelsDoesNotNeedTheOthers) {
  const TensorId x = layer(input(), 1), bias = graph_.constant(DType::kInt32, {1}, std::vector<int>{0});
  const auto group = [&](int64_t first) {
    const TensorId weights = graph_.constant(DType::kInt8, {64, 1, 1, 32}, std::vector<int>(2048, 2 + (first > 0)));
    return graph_.conv2d(graph_.slice(x, {0, 0, 0, first}, {1, 4, 4, 32}), weights, bias);
  };
  EXPECT_FALSE(bound(graph_.concat({group(0), group(32)}, 3)));
}

TEST_F(RoomBoundTest, WeightsOfADepthwiseConvolutionDoNotCount) {
  const TensorId weights = graph_.constant(DType::kInt8, {4, 4, 64, 2}, std::vector<int>(2048, 2));
  const TensorId bias = graph_.constant(DType::kInt32, {1}, std::vector<int>{0});
  EXPECT_FALSE(bound(graph_.depthwise_conv2d(layer(input(), 1), weights, bias)));
}

}  // namespace
}  // namespace npu::report
