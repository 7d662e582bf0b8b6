// SPDX-License-Identifier: Apache-2.0
// validate() on the whole: the graphs that it accepts, and how it refuses.
#include "driver/graph/validate.h"

#include "tests/unit/graph/validate_cases.h"

namespace npu::graph {
namespace {

using samples::find;

TEST_P(Illegal, IsRefused) {
  Graph graph = samples::of(GetParam().op);
  ASSERT_NO_THROW(validate(graph));
  GetParam().change(graph);
  try {
    validate(graph);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(contract::name(error.code()), contract::name(GetParam().code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one sentence";
  }
}

TEST(Validate, AcceptsEveryOperator) {
  for (const Op op : samples::all_operators()) {
    Graph graph = samples::of(op);
    EXPECT_NO_THROW(validate(graph)) << name(op);
    EXPECT_NO_THROW(static_cast<void>(find(graph, op))) << name(op);
  }
  EXPECT_NO_THROW(validate(samples::network()));
  EXPECT_NO_THROW(validate(samples::nested_control_flow()));
}

TEST(Validate, AcceptsAReadBeforeTheDeclaration) {
  GraphBuilder b;
  const TensorId state = b.variable("state", DType::kInt8, {1});
  b.output(b.read(state));
  b.declare(state);
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsUnsignedSixteenBitZeroPoints) {
  GraphBuilder b;
  Rescaling options;
  options.input_unsigned = true;
  options.input_zp = -32768;  // the bits of 32768
  b.output(b.rescale(b.input("x", DType::kInt16, {3}), DType::kInt8, options));
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsNegativeZeroAsZeroPoint) {
  GraphBuilder b;
  b.output(b.negate(b.input("x", DType::kFp16, {3}), -0.0, 0));
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsRunTimeZeroPoint) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {3});
  const TensorId zp = b.input("zp", DType::kInt8, {1});
  b.output(b.op(Op::kNegate, {x, zp, zp}));
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsAliases) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {1});
  const TensorId one = b.constant(DType::kInt32, {1}, {1});
  for (const TensorId id : {x, one, x, b.add(one, one)}) {
    b.output(id);
  }
  EXPECT_NO_THROW(validate(b.build()));
}

std::string numbered(const char* name, int number) {
  std::string text = name;
  text += std::to_string(number);
  return text;
}

TEST(Validate, RefusesDeepNestingWithoutDeepRecursion) {
  // Region k runs region k - 1 twice: reached over many ways, and too deep.
  constexpr int kDepth = 2000;
  GraphBuilder b;
  const auto add_level = [](GraphBuilder& region, int inner) {
    const TensorId x = region.input(numbered("x", inner), DType::kInt32, {1});
    Operator op;
    op.op = Op::kCondIf;
    op.attributes.then_graph = op.attributes.else_graph = numbered("r", inner);
    const TensorId flag = region.op(Op::kEqual, {x, x});
    const TensorId y = region.raw(Op::kCondIf, {flag, x}, op.attributes, DType::kInt32, {1});
    region.output(y);
  };
  GraphBuilder leaf("r0");
  const TensorId x = leaf.input("x", DType::kInt32, {1});
  leaf.output(leaf.add(x, x));
  add_level(b, kDepth - 1);
  b.add_region(leaf);
  for (int i = 1; i < kDepth; ++i) {
    GraphBuilder region(numbered("r", i));
    add_level(region, i - 1);
    b.add_region(region);
  }
  try {
    validate(b.build());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kStructure) << error.what();
    EXPECT_NE(std::string(error.what()).find("deeper than 256"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace npu::graph
