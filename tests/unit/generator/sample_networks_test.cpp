// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/sample_networks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "driver/graph/validate.h"
#include "driver/graph/writer.h"

namespace npu::generator {
namespace {

using graph::DType;
using graph::Op;

int64_t count_of(const graph::Graph& graph, Op op) {
  const std::vector<graph::Operator>& all = graph.main().operators;
  return std::count_if(all.begin(), all.end(), [&](const graph::Operator& one) { return one.op == op; });
}

const graph::Tensor& output_of(const graph::Graph& graph, size_t index) {
  return graph.main().tensors.at(graph.main().outputs.at(index));
}

TEST(SampleNetworks, AreLegalAndTheSameEachTime) {
  std::vector<SampleNetwork> again = sample_networks();
  ASSERT_EQ(again.size(), 3u);
  for (size_t i = 0; const SampleNetwork& network : sample_networks()) {
    EXPECT_NO_THROW(graph::validate(network.graph)) << network.name;
    EXPECT_EQ(network.name, again[i].name);
    EXPECT_EQ(graph::serialize(network.graph), graph::serialize(again[i++].graph)) << network.name;
  }
}

TEST(SampleNetworks, UnetJoinsWhatItHasMadeBefore) {
  const graph::Graph graph = unet();
  EXPECT_EQ(count_of(graph, Op::kMaxPool2d), 3);
  EXPECT_EQ(count_of(graph, Op::kTransposeConv2d), 3);
  EXPECT_EQ(count_of(graph, Op::kConcat), 3);
  EXPECT_EQ(count_of(graph, Op::kConv2d), 15);
  EXPECT_EQ(output_of(graph, 0).shape, (graph::Shape{1, 64, 64, 2}));
}

TEST(SampleNetworks, SuperResolutionDoublesHeightAndWidth) {
  const graph::Graph graph = super_resolution();
  EXPECT_EQ(count_of(graph, Op::kTransposeConv2d), 1);
  EXPECT_EQ(count_of(graph, Op::kResize), 1);
  EXPECT_EQ(output_of(graph, 0).shape, (graph::Shape{1, 128, 128, 1}));
  EXPECT_EQ(output_of(graph, 0).type, DType::kInt8);
}

TEST(SampleNetworks, GreedyDecoderHasTheSizesItIsGiven) {
  const graph::Graph graph = greedy_decoder({.tokens = 5, .units = 3, .longest = 9});
  graph::validate(graph);
  EXPECT_EQ(output_of(graph, 1).shape, (graph::Shape{9}));
  EXPECT_EQ(count_of(graph, Op::kWhileLoop), 1);
}

}  // namespace
}  // namespace npu::generator
