// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compiler/fold.h"
#include "driver/graph/value.h"
#include "sim/reference/reference.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::compiler::testing {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Rescaling;
using graph::RoundingMode;
using graph::TensorId;
using ::testing::SizeIs;

// The folded value of the only output, which must equal what the reference computes.
void check(GraphBuilder& b, TensorId result) {
  b.output(result);
  const graph::Graph graph = b.build();
  const auto constants = fold_constants(graph.main());
  ASSERT_TRUE(constants[result]);
  reference::Context context;
  const graph::Value want = reference::run(graph, {}, context).at(0);
  EXPECT_EQ(constants[result]->type, want.type);
  EXPECT_EQ(constants[result]->shape, want.shape);
  EXPECT_EQ(*constants[result]->bytes, want.bytes);
}

std::vector<double> numbers(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 53 % 255 - 127));
  return values;
}

TEST(Fold, ByteMoves) {
  for (DType type : {DType::kInt8, DType::kInt16, DType::kInt32}) {
    GraphBuilder b;
    const TensorId x = b.constant(type, {2, 3, 4}, numbers(24));
    const TensorId y = b.slice(b.transpose(b.reshape(x, {4, 3, 2}), {2, 0, 1}), {0, 1, 1}, {2, 3, 2});
    check(b, b.concat({y, b.op(Op::kIdentity, {y}), b.constant(type, {2, 1, 2}, numbers(4))}, 1));
  }
}

TEST(Fold, Casts) {
  for (DType to : {DType::kBool, DType::kInt8, DType::kInt16}) {
    GraphBuilder b;
    check(b, b.cast(b.constant(DType::kInt32, {5}, {0., 1., -1., 40000., -70000.}), to));
  }
}

TEST(Fold, Rescales) {
  for (RoundingMode mode : {RoundingMode::kSingleRound, RoundingMode::kDoubleRound}) {
    for (DType to : {DType::kInt8, DType::kInt16, DType::kInt32}) {
      GraphBuilder b;
      Rescaling how;
      how.multiplier = {1 << 30, 1987654321, 1111111111};
      how.shift = {32, 33, 40};
      how.per_channel = true;
      how.input_zp = 11;
      how.rounding = mode;
      check(b, b.rescale(b.constant(DType::kInt8, {40, 3}, numbers(120)), to, how));
    }
  }
}

TEST(Fold, UnsignedRescales) {
  GraphBuilder b;
  Rescaling in, out;
  in.input_unsigned = true;
  in.input_zp = -1;
  out.output_unsigned = true;
  out.output_zp = -128;
  const TensorId x = b.constant(DType::kInt8, {64}, numbers(64));
  check(b, b.concat({b.rescale(x, DType::kInt8, in), b.rescale(x, DType::kInt8, out)}, 0));
}

TEST(Fold, Int48IsWidened) {
  GraphBuilder b;
  Rescaling how;
  how.multiplier = {30000};
  how.shift = {40};
  how.scale32 = false;
  check(b, b.rescale(b.constant(DType::kInt48, {3}, {-100000000000., 7., 123456789012.}), DType::kInt32, how));
}

TEST(Fold, ReshapedWeightsReachTheConvolution) {
  GraphBuilder b;
  const TensorId weights = b.reshape(b.constant(DType::kInt8, {1, 3, 1, 4}, numbers(12)), {3, 1, 4, 1});
  b.output(b.depthwise_conv2d(b.input("x", DType::kInt8, {1, 3, 1, 4}), weights, b.constant(DType::kInt32, {4}, {1.})));
  EXPECT_THAT(lowered(b.build()).steps, SizeIs(1));
  compare_with_reference(b.build());
}

TEST(Fold, WhatIsNotFoldedRunsOnTheDevice) {
  GraphBuilder b;
  const TensorId c = b.op(Op::kAbs, {b.constant(DType::kInt32, {3}, {-5., 5., 0.})});
  b.output(b.add(b.input("x", DType::kInt32, {3}), c));
  EXPECT_THAT(lowered(b.build()).steps, SizeIs(1));
  compare_with_reference(b.build());
}

// A small file must not make a gigabyte by doubling.
TEST(Fold, StopsAtItsBudget) {
  GraphBuilder b;
  TensorId x = b.constant(DType::kInt8, {1024}, {1.});
  for (int i = 0; i < 20; ++i) x = b.concat({x, x}, 0);
  b.output(b.slice(x, {0}, {1}));
  const auto constants = fold_constants(b.build().main());
  EXPECT_FALSE(constants[x]);
  EXPECT_FALSE(lowered(b.build()).steps.empty());
}

}  // namespace
}  // namespace npu::compiler::testing
