// SPDX-License-Identifier: Apache-2.0
// Operators that compute shapes: what they give, what is refused, and what is left of them in a graph that runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/graph/level.h"
#include "driver/graph/reader.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;
using samples::on_shapes;

constexpr int64_t kMost = INT64_MAX;

Shape output_shape(const Graph& graph) { return graph.main().tensors[graph.main().outputs[0]].shape; }

size_t count(const Graph& graph, Op op) {
  const auto& operators = graph.main().operators;
  return static_cast<size_t>(
      std::count_if(operators.begin(), operators.end(), [&](const Operator& one) { return one.op == op; }));
}

// The name of the error with which a graph is refused, then what it says; nothing for one that is not.
std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(contract::name(error.code())) + ": " + error.what();
  }
  return {};
}

void expect_refused(const std::function<void()>& body, const std::string& code, const std::string& words) {
  const std::string got = refusal(body);
  EXPECT_TRUE(got.starts_with(code + ": ")) << got;
  EXPECT_NE(got.find(words), std::string::npos) << got;
}

// A network with an operator on shapes that nothing else needs.
Graph of_shapes(Op op, const std::vector<Shape>& operands, const Attributes& attributes = {}) {
  GraphBuilder b;
  b.output(b.input("x", DType::kInt8, {1}));
  std::vector<TensorId> ids;
  for (const Shape& operand : operands) ids.push_back(b.shape(operand));
  static_cast<void>(on_shapes(b, op, ids, attributes));
  b.locate("here");
  return b.build();
}

Shape value_of(Op op, const std::vector<Shape>& operands) {
  const Graph graph = static_form(of_shapes(op, operands));
  const Operator& last = graph.main().operators.back();
  EXPECT_EQ(last.op, Op::kConstShape) << name(op);
  EXPECT_EQ(last.location, "here");
  const auto data = graph.main().tensors[last.outputs[0]].data;
  Shape sizes(data.size() / sizeof(int64_t));
  std::copy(data.begin(), data.end(), reinterpret_cast<uint8_t*>(sizes.data()));
  return sizes;
}

TEST(ShapeOperators, BecomeConstants) {
  for (const Op op : samples::shape_operators()) {
    SCOPED_TRACE(name(op));
    const Graph declared = samples::of(op);
    EXPECT_EQ(count(declared, op), 1u);
    EXPECT_NO_THROW(validate(declared, Sizes::kMayBeUnknown));
    const Graph graph = static_form(declared);
    EXPECT_FALSE(has_shape_operators(graph));
    EXPECT_NO_THROW(validate(graph));
    EXPECT_EQ(output_shape(graph), output_shape(declared));
    expect_refused([&] { validate(declared); }, "feature_unsupported", "computes a shape");
  }
}

TEST(ShapeOperators, GiveTheirValues) {
  EXPECT_EQ(value_of(Op::kAddShape, {{}, {}}), Shape{});
  EXPECT_EQ(value_of(Op::kAddShape, {{1, kMost}, {-3, 0}}), (Shape{-2, kMost}));
  EXPECT_EQ(value_of(Op::kSubShape, {{0}, {kMost}}), Shape{-kMost});
  EXPECT_EQ(value_of(Op::kMulShape, {{int64_t{1} << 61}, {-4}}), Shape{INT64_MIN});
  EXPECT_EQ(value_of(Op::kDivFloorShape, {{0, 7, kMost}, {3, 8, 2}}), (Shape{0, 0, kMost / 2}));
  EXPECT_EQ(value_of(Op::kDivCeilShape, {{0, 7, kMost, 8}, {3, 8, 2, 4}}), (Shape{0, 1, kMost / 2 + 1, 2}));
  EXPECT_EQ(value_of(Op::kDivFloorShape, {{-7, -8, 0}, {-4, -4, -3}}), (Shape{1, 2, 0}));
  EXPECT_EQ(value_of(Op::kDivCeilShape, {{-7, -8, 0}, {-4, -4, -3}}), (Shape{2, 2, 0}));
  EXPECT_EQ(value_of(Op::kModShape, {{0, 7, 9}, {3, 8, 3}}), (Shape{0, 7, 0}));
  EXPECT_EQ(value_of(Op::kMaxShape, {{-1, 4}, {-2, 5}}), (Shape{-1, 5}));
  EXPECT_EQ(value_of(Op::kMinShape, {{-1, 4}, {-2, 5}}), (Shape{-2, 4}));
  EXPECT_EQ(value_of(Op::kExp2Shape, {{0, 62}}), (Shape{1, int64_t{1} << 62}));
  EXPECT_EQ(value_of(Op::kLog2FloorShape, {{1, 2, 3, 4, kMost}}), (Shape{0, 1, 1, 2, 62}));
  EXPECT_EQ(value_of(Op::kLog2CeilShape, {{1, 2, 3, 4, 5, kMost}}), (Shape{0, 1, 2, 2, 3, 63}));
  EXPECT_EQ(value_of(Op::kConcatShape, {{1}, {2, 3}, {4}}), (Shape{1, 2, 3, 4}));
}

TEST(ShapeOperators, RefuseValuesThatTheyAreNotDefinedFor) {
  const auto refuses = [](Op op, const std::vector<Shape>& operands, const std::string& words) {
    SCOPED_TRACE(name(op));
    expect_refused([&] { static_cast<void>(static_form(of_shapes(op, operands))); }, "require_failed", words);
  };
  refuses(Op::kDivFloorShape, {{6, 5}, {2, 0}}, "(DIV_FLOOR_SHAPE, here): input1 'layer_0' is [6, 5] and input2");
  refuses(Op::kDivFloorShape, {{6, 5}, {2, 0}}, "at index 1, input2 must not be 0");
  refuses(Op::kDivFloorShape, {{-1}, {2}}, "must not differ in sign");
  refuses(Op::kDivFloorShape, {{INT64_MIN}, {-1}}, "64 bits");
  refuses(Op::kDivCeilShape, {{6}, {0}}, "input2 must not be 0");
  refuses(Op::kDivCeilShape, {{6}, {-2}}, "must not differ in sign");
  refuses(Op::kDivCeilShape, {{INT64_MIN}, {-1}}, "64 bits");
  refuses(Op::kModShape, {{6}, {0}}, "input2 must be at least 1");
  refuses(Op::kModShape, {{-6}, {4}}, "input1 must not be negative");
  refuses(Op::kAddShape, {{kMost}, {1}}, "64 bits");
  refuses(Op::kSubShape, {{-2}, {kMost}}, "64 bits");
  refuses(Op::kMulShape, {{int64_t{1} << 62}, {2}}, "64 bits");
  refuses(Op::kExp2Shape, {{63}}, "from 0 to 62");
  refuses(Op::kExp2Shape, {{-1}}, "from 0 to 62");
  refuses(Op::kLog2CeilShape, {{0}}, "at least 1");
  refuses(Op::kLog2FloorShape, {{-8}}, "at least 1");
}

TEST(ShapeOperators, CompareShapes) {
  const auto asserts = [](const Shape& a, const Shape& b, bool may_broadcast) {
    Attributes attributes;
    attributes.allow_broadcast = may_broadcast;
    return static_form(of_shapes(Op::kAssertEqualShape, {a, b}, attributes));
  };
  EXPECT_EQ(count(asserts({2, 3}, {2, 3}, false), Op::kAssertEqualShape), 0u);
  EXPECT_NO_THROW(static_cast<void>(asserts({}, {}, false)));
  EXPECT_NO_THROW(static_cast<void>(asserts({1, 3, 4}, {2, 3, 1}, true)));
  expect_refused(
      [&] {
        static_cast<void>(asserts({1, 3}, {2, 3}, false));
      },
      "bad_argument", "(ASSERT_EQUAL_SHAPE): input1 'layer_0' is [1, 3] and input2 'layer_1' is [2, 3]");
  expect_refused([&] { static_cast<void>(asserts({4, 3}, {2, 3}, true)); }, "bad_argument", "which broadcast");
}

TEST(ShapeOperators, HaveRulesOnLengths) {
  const Shape longest(64, 1);
  EXPECT_EQ(value_of(Op::kMulShape, {longest, longest}), longest);
  const auto refuses = [](Op op, const std::vector<Shape>& operands, const std::string& code,
                          const std::string& words) {
    expect_refused([&] { static_cast<void>(of_shapes(op, operands)); }, code, words);
  };
  refuses(Op::kMulShape, {{1, 2}, {1}}, "bad_shape", "input1 'layer_0' has 2 sizes, and input2 'layer_1' 1");
  refuses(Op::kAssertEqualShape, {{1, 2}, {1}}, "bad_shape", "as many");
  refuses(Op::kExp2Shape, {Shape(65, 1)}, "bad_shape", "65 sizes");
  refuses(Op::kConcatShape, {longest, {1}}, "bad_shape", "65 sizes");
  refuses(Op::kConcatShape, {{2}, {}}, "bad_shape", "'layer_1' has no sizes");
  refuses(Op::kConcatShape, {}, "bad_argument", "0 inputs, but needs 1 or more");
}

TEST(ShapeOperators, ComputeShapesOfNoSizes) {
  GraphBuilder b;
  const TensorId none = on_shapes(b, Op::kMulShape, {b.shape({}), b.shape({})});
  b.output(b.raw(Op::kReshape, {b.input("x", DType::kInt8, {1, 1}), none}, {}, DType::kInt8, {}));
  EXPECT_EQ(output_shape(static_form(b.build())), Shape{});
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(serialize(b.build()));
  EXPECT_EQ(output_shape(static_form(parse_tosa(bytes, "no sizes"))), Shape{});
}

TEST(ShapeOperators, SlicesLieInside) {
  const auto sliced = [](int32_t start, int32_t size) {
    GraphBuilder b;
    const TensorId first = b.constant(DType::kInt32, {1}, std::vector<int32_t>{start});
    const TensorId length = b.constant(DType::kInt32, {1}, std::vector<int32_t>{size});
    static_cast<void>(on_shapes(b, Op::kSliceShape, {b.shape({5, 6, 7}), first, length}));
  };
  EXPECT_NO_THROW(sliced(0, 3));
  EXPECT_NO_THROW(sliced(2, 1));
  for (const auto& [start, size] : {std::pair{-1, 2}, {0, 0}, {0, -1}, {3, 1}, {2, 2}, {INT32_MAX, INT32_MAX}}) {
    expect_refused([&, s = start, n = size] { sliced(s, n); }, "bad_argument", "leave the 3 sizes");
  }
}

TEST(ShapeOperators, TakeShapesAndTheTypesOfTheirTable) {
  GraphBuilder b;
  b.output(b.input("x", DType::kInt8, {1}));
  const TensorId number = b.constant(DType::kInt32, {1}, {1}), wide = b.constant(DType::kInt48, {1}, {1});
  expect_refused([&] { on_shapes(b, Op::kExp2Shape, {number}); }, "bad_argument", "is a tensor, but must be a shape");
  expect_refused([&] { on_shapes(b, Op::kDim, {b.shape({1})}); }, "bad_argument", "is a shape, but must be a tensor");
  Graph graph = b.build();
  graph.version.minor = 1;  // where other operators may have more types
  graph.main().operators.push_back({Op::kDim, {}, {wide}, {}, {}});
  graph.main().tensors.push_back({"s", DType::kShape, {1}, {}, false, false, {}});
  graph.main().operators.back().outputs = {static_cast<TensorId>(graph.main().tensors.size() - 1)};
  expect_refused([&] { static_cast<void>(static_form(graph)); }, "bad_type", "INT48");
}

TEST(ShapeOperators, AnotherShapeThanTheFileSaysIsIllegal) {
  Graph graph = samples::of(Op::kAddShape);
  graph.main().tensors[graph.main().outputs[0]].shape = {3, 5};
  expect_refused([&] { static_cast<void>(static_form(graph)); }, "bad_shape",
                 "has shape [3, 5] in the file, but its operands make it [5, 3]");
}

TEST(ShapeOperators, AComputedSizeOfMinusOneLeavesNothingToTheOthers) {
  GraphBuilder b;
  const TensorId sizes = on_shapes(b, Op::kSubShape, {b.shape({2, 0}), b.shape({0, 1})});
  b.output(b.raw(Op::kReshape, {b.input("x", DType::kInt8, {6}), sizes}, {}, DType::kInt8, {2, 3}));
  expect_refused([&] { static_cast<void>(static_form(b.build())); }, "bad_shape", "cannot take the shape [2, -1]");
}

// x[?, 4] as [4, ?], with the size from DIM; asserts that it is 3 if that is asked for.
Graph turned(bool asserted) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4});
  const TensorId size = on_shapes(b, Op::kDim, {x});
  if (asserted) on_shapes(b, Op::kAssertEqualShape, {size, b.shape({3})});
  const TensorId sizes = on_shapes(b, Op::kConcatShape, {b.shape({4}), size});
  b.output(b.raw(Op::kReshape, {x, sizes}, {}, DType::kInt8, {4, -1}));
  return b.build();
}

TEST(ShapeOperators, FollowOpenSizes) {
  for (const int64_t size : {1, 3, 10}) {
    const Graph graph = resolve(turned(false), {{"x", {size, 4}}});
    EXPECT_NO_THROW(validate(graph));
    EXPECT_EQ(output_shape(graph), (Shape{4, size}));
  }
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(serialize(turned(true)));
  const Graph read = parse_tosa(bytes, "open");
  EXPECT_NO_THROW(validate(read, Sizes::kMayBeUnknown));
  EXPECT_EQ(output_shape(resolve(read, {{"x", {3, 4}}})), (Shape{4, 3}));
  expect_refused(
      [&] {
        static_cast<void>(resolve(read, {{"x", {2, 4}}}));
      },
      "size_mismatch", "(ASSERT_EQUAL_SHAPE): input1 'layer_0' is [2] and input2 'layer_1' is [3]; they must be equal");
  expect_refused([&] { static_cast<void>(static_form(read)); }, "feature_unsupported", "of which a size is unknown");
}

// Operands that have no room for a size are a matter of the size that was given.
TEST(ShapeOperators, ArgumentsFromOpenSizesAreSizeMismatches) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1});
  const TensorId less = on_shapes(b, Op::kSubShape, {on_shapes(b, Op::kDim, {x}), b.shape({2})});
  b.output(b.raw(Op::kTile, {b.input("y", DType::kInt8, {2}), less}, {}, DType::kInt8, {-1}));
  const Graph open = b.build();
  EXPECT_EQ(output_shape(resolve(open, {{"x", {5}}})), Shape{6});
  expect_refused([&] { static_cast<void>(resolve(open, {{"x", {2}}})); }, "size_mismatch", "multiple 0");
}

// A branch that takes x[2, 3] and gives it as [6], with the size from DIM.
GraphBuilder flattening(const std::string& name) {
  GraphBuilder b(name);
  const TensorId x = b.input("x", DType::kInt8, {2, 3});
  Attributes columns;
  columns.axis = 1;
  const TensorId sizes = on_shapes(b, Op::kMulShape, {on_shapes(b, Op::kDim, {x}, columns), b.shape({2})});
  b.output(b.raw(Op::kReshape, {x, sizes}, {}, DType::kInt8, {6}));
  return b;
}

TEST(ShapeOperators, ComputeInBlocksOfControlFlowAndInThoseThatNothingEnters) {
  GraphBuilder b;
  for (const char* region : {"then", "else", "unused"}) b.add_region(flattening(region));
  const TensorId flag = b.input("flag", DType::kBool, {1});
  b.output(b.cond_if(flag, {b.input("x", DType::kInt8, {2, 3})}, "then", "else")[0]);
  const Graph graph = static_form(b.build());
  EXPECT_FALSE(has_shape_operators(graph));
  EXPECT_EQ(graph.regions.size(), 4u);
}

TEST(ShapeOperators, LevelsBoundTheLengthOfShapes) {
  const auto excesses = [](size_t length, int32_t minor) {
    Graph graph = of_shapes(Op::kMaxShape, {Shape(length, 1), Shape(length, 1)});
    graph.version.minor = minor;
    return above(static_form(graph), Level::k8K);
  };
  EXPECT_TRUE(excesses(16, 1).empty());
  ASSERT_FALSE(excesses(17, 1).empty());
  EXPECT_NE(excesses(17, 1)[0].text.find("number of sizes of 17 is above level 8K's 16"), std::string::npos);
  EXPECT_TRUE(excesses(17, 0).empty());  // no level of 1.0 bounds it
}

}  // namespace
}  // namespace npu::graph
