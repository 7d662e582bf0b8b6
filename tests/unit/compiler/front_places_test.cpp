// SPDX-License-Identifier: Apache-2.0
// Where tensors live: views, parts of a CONCAT, outputs, variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/front_check.h"

namespace npu::compiler::testing {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<const CopyStep*> copies(const Module& module) { return steps_of<CopyStep>(module); }

TEST(Places, PartsOfAConcatAreMadeInPlace) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {2, 3});
  const TensorId left = b.op(Op::kAbs, {x}), right = b.op(Op::kBitwiseNot, {x});
  b.output(b.concat({left, right}, 1));
  const Module module = lowered(b.build());
  EXPECT_THAT(copies(module), IsEmpty());
  for (const Layer& layer : module.layers) EXPECT_EQ(layer.engine, contract::Engine::kVpu);  // no row for the CONCAT
  compare_with_reference(b.build());
}

TEST(Places, NestedConcatsShareOneBuffer) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {2, 3});
  const TensorId inner = b.concat({b.op(Op::kAbs, {x}), b.op(Op::kClz, {x})}, 0);
  b.output(b.concat({inner, b.reshape(b.op(Op::kBitwiseNot, {x}), {2, 3})}, 0));
  EXPECT_THAT(copies(lowered(b.build())), IsEmpty());
  compare_with_reference(b.build());
}

TEST(Places, AnInputTwiceInAConcatIsCopied) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {2, 3});
  b.output(b.concat({x, x}, 0));
  EXPECT_THAT(copies(lowered(b.build())), SizeIs(2));
  compare_with_reference(b.build());
}

TEST(Places, APartThatOthersMustReadDenselyIsMadeOnItsOwn) {
  GraphBuilder b;
  const TensorId x = b.op(Op::kAbs, {b.input("x", DType::kInt32, {2, 3})});
  b.output(b.concat({x, b.input("y", DType::kInt32, {2, 1})}, 1));
  b.output(b.op(Op::kAbs, {b.reshape(x, {6})}));
  EXPECT_THAT(copies(lowered(b.build())), SizeIs(2));
  compare_with_reference(b.build());
}

TEST(Places, TheInteriorOfAPadIsMadeInPlace) {
  GraphBuilder b;
  b.output(b.pad(b.op(Op::kAbs, {b.input("x", DType::kInt32, {2, 3})}), {1, 1, 0, 2}, 7));
  const Module module = lowered(b.build());
  ASSERT_THAT(copies(module), SizeIs(3));
  for (const CopyStep* step : copies(module)) EXPECT_TRUE(step->fill);
  compare_with_reference(b.build());
}

TEST(Places, SlicesAndReshapesMoveNothing) {
  GraphBuilder b;
  const TensorId x = b.slice(b.input("x", DType::kInt8, {1, 6, 5, 8}), {0, 1, 0, 2}, {1, 4, 5, 3});
  b.output(b.max_pool2d(x, {2, 2}, {2, 1}, {0, 0, 0, 0}));
  const Module module = lowered(b.build());
  EXPECT_THAT(module.steps, SizeIs(1));
  compare_with_reference(b.build());
}

TEST(Places, ATranspositionMovesOnlyForThoseWhoNeedIt) {
  GraphBuilder b;
  const TensorId x = b.transpose(b.input("x", DType::kInt32, {4, 5}), {1, 0});
  b.output(b.op(Op::kAbs, {x}));
  EXPECT_THAT(copies(lowered(b.build())), IsEmpty());
  b.output(b.op(Op::kAbs, {b.reshape(x, {20})}));
  const Module module = lowered(b.build());
  ASSERT_THAT(copies(module), SizeIs(1));
  EXPECT_EQ(module.layers[1].operators, "TRANSPOSE");
  EXPECT_EQ(module.layers[1].engine, contract::Engine::kDma);
  compare_with_reference(b.build());
}

TEST(Places, AliasedOutputs) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {4}), y = b.clamp(x, -3, 100);
  b.output(y);
  b.output(y);
  b.output(b.constant(DType::kInt8, {2}, {1., 2.}));
  b.output(x);
  b.output(b.reshape(y, {2, 2}));
  const Module module = lowered(b.build());
  EXPECT_THAT(module.outputs, SizeIs(5));
  EXPECT_EQ(module.output_buffers[0], module.output_buffers[1]);
  EXPECT_THAT(copies(module), SizeIs(3));
  compare_with_reference(b.build());
}

TEST(Places, WhatNobodyNeedsIsNotDone) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {4});
  b.op(Op::kAbs, {b.op(Op::kClz, {x})});
  b.output(b.op(Op::kBitwiseNot, {x}));
  EXPECT_THAT(lowered(b.build()).steps, SizeIs(1));
}

TEST(Variables, AreReadInPlaceUntilTheirNextWrite) {
  GraphBuilder b;
  const TensorId state = b.variable("s", DType::kInt32, {4}, std::vector<double>{3});
  const TensorId sum = b.add(b.read(state), b.input("x", DType::kInt32, {4}));
  b.write(state, sum);
  b.output(sum);
  const Module module = lowered(b.build());
  ASSERT_THAT(copies(module), SizeIs(1));
  EXPECT_TRUE(module.steps.back().commit);
  EXPECT_THAT(steps_of<DeclareStep>(module), SizeIs(1));
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_EQ(module.variables[0].identity, "s");
  EXPECT_EQ(module.variables[0].bytes, 16u);
  EXPECT_EQ(module.variables[0].initial.size(), 16u);
  EXPECT_EQ(module.variables[0].hash, variable_hash(DType::kInt32, {4}));
  EXPECT_EQ(compare_with_reference(b.build(), 5), 5);
}

TEST(Variables, AnOldValueThatIsNeededLaterIsCopied) {
  GraphBuilder b;
  const TensorId state = b.variable("s", DType::kInt32, {4}, std::vector<double>{3});
  const TensorId old = b.read(state), x = b.input("x", DType::kInt32, {4});
  b.write(state, x);
  b.output(b.add(old, b.read(state)));
  EXPECT_THAT(copies(lowered(b.build())), SizeIs(2));
  EXPECT_EQ(compare_with_reference(b.build(), 5), 5);
}

TEST(Variables, SwapsAndTwoWrites) {
  GraphBuilder b;
  const TensorId p = b.variable("p", DType::kInt8, {3}, std::vector<double>{1});
  const TensorId q = b.variable("q", DType::kInt8, {3}, std::vector<double>{2});
  const TensorId old_p = b.read(p), old_q = b.read(q);
  b.write(p, old_q);
  b.write(q, old_p);
  const TensorId now = b.read(p);
  b.write(p, b.input("x", DType::kInt8, {3}));
  b.output(now);
  b.output(b.read(p));
  b.output(b.read(q));
  EXPECT_EQ(compare_with_reference(b.build(), 4), 4);
}

TEST(Variables, AreWrittenWithTheirOwnValueReversed) {
  GraphBuilder b;
  const TensorId p = b.variable("p", DType::kInt8, {3}, std::vector<double>{1, 2, 3});
  b.write(p, b.reverse(b.read(p), 0));
  b.output(b.read(p));
  EXPECT_EQ(compare_with_reference(b.build(), 3), 3);
}

TEST(Variables, WithoutInitialValueHaveNone) {
  GraphBuilder b;
  const TensorId p = b.variable("p", DType::kInt16, {3});
  b.declare(p);
  b.write(p, b.input("x", DType::kInt16, {3}));
  b.output(b.read(p));
  EXPECT_THAT(lowered(b.build()).variables.at(0).initial, IsEmpty());
  EXPECT_EQ(compare_with_reference(b.build(), 3), 3);
}

TEST(Variables, HashTellsTypesAndShapesApart) {
  EXPECT_NE(variable_hash(DType::kInt8, {4, 2}), variable_hash(DType::kInt8, {2, 4}));
  EXPECT_NE(variable_hash(DType::kInt8, {4}), variable_hash(DType::kInt16, {4}));
  EXPECT_NE(variable_hash(DType::kInt8, {4}), variable_hash(DType::kInt8, {4, 1}));
}

TEST(Ports, TakeUnsignedDataWhereARescaleDoes) {
  graph::Rescaling in, out;
  in.input_unsigned = true;
  out.output_unsigned = true;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {2, 2}), y = b.input("y", DType::kInt8, {4});
  const TensorId signed_x = b.rescale(b.reshape(x, {4}), DType::kInt8, in);
  b.output(b.reshape(b.rescale(signed_x, DType::kInt8, out), {2, 2}));
  b.output(b.concat({signed_x, y}, 0));
  const Module module = lowered(b.build());
  EXPECT_TRUE(module.inputs[0].accepts_unsigned);
  EXPECT_FALSE(module.inputs[1].accepts_unsigned);
  EXPECT_TRUE(module.outputs[0].accepts_unsigned);
  EXPECT_FALSE(module.outputs[1].accepts_unsigned);
  compare_with_reference(b.build());
}

}  // namespace
}  // namespace npu::compiler::testing
