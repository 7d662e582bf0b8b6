// SPDX-License-Identifier: Apache-2.0
// Graphs whose files leave sizes open, with sizes given.
#include "driver/graph/resolve.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

// Leaves every size above 1 open that the file need not have: a 1 is one that broadcasts.
size_t open_sizes(Graph& graph) {
  size_t opened = 0;
  for (Region& region : graph.regions) {
    for (Tensor& tensor : region.blocks.front().tensors) {
      if (tensor.has_data || tensor.type == DType::kShape) continue;
      for (int64_t& size : tensor.shape) {
        if (size == 1) continue;
        size = tensor.variable ? 0 : -1;
        ++opened;
      }
    }
  }
  return opened;
}

GivenShapes shapes_of_inputs(const Graph& graph) {
  GivenShapes shapes;
  for (const TensorId id : graph.main().inputs) {
    shapes[graph.main().tensors[id].name] = graph.main().tensors[id].shape;
  }
  return shapes;
}

GivenShapes shapes_of_inputs_and_variables(const Graph& graph) {
  GivenShapes shapes = shapes_of_inputs(graph);
  for (const Tensor& tensor : graph.main().tensors) {
    if (tensor.variable) shapes[variable_identity(tensor)] = tensor.shape;
  }
  return shapes;
}

Graph opened(Graph graph) {
  EXPECT_GT(open_sizes(graph), 0u);
  EXPECT_TRUE(has_unknown_sizes(graph));
  EXPECT_NO_THROW(validate(graph, Sizes::kMayBeUnknown));
  return graph;
}

TEST(Resolve, GivesEveryOperatorItsShapesBack) {
  int operators = 0;
  for (const Op op : samples::all_operators()) {
    if (op == Op::kCustom) continue;
    SCOPED_TRACE(name(op));
    const Graph graph = samples::of(op);
    Graph open = graph;
    if (open_sizes(open) == 0) continue;
    ++operators;
    validate(open, Sizes::kMayBeUnknown);
    const Graph resolved = resolve(open, shapes_of_inputs_and_variables(graph));
    EXPECT_NO_THROW(validate(resolved));
    EXPECT_EQ(samples::difference(graph, resolved), "");
  }
  EXPECT_GT(operators, 60);
}

TEST(Resolve, GivesNetworksTheirShapesBack) {
  for (const Graph& graph : {samples::network(), samples::nested_control_flow()}) {
    EXPECT_EQ(samples::difference(graph, resolve(opened(graph), shapes_of_inputs_and_variables(graph))), "");
  }
}

TEST(Resolve, AnOpenFileIsReadAndWritten) {
  const Graph graph = samples::of(Op::kConv2d);
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(serialize(opened(graph)));
  EXPECT_EQ(samples::difference(graph, resolve(parse_tosa(bytes, "open"), shapes_of_inputs(graph))), "");
}

// x[?, 4] + y[?, 4], and twice that.
Graph sum(const Shape& x, const Shape& y, const Shape& result) {
  GraphBuilder builder;
  const TensorId a = builder.input("x", DType::kInt32, x), b = builder.input("y", DType::kInt32, y);
  const TensorId both = builder.raw(Op::kAdd, {a, b}, {}, DType::kInt32, result);
  builder.output(builder.raw(Op::kAdd, {both, both}, {}, DType::kInt32, result), "z");
  return builder.build();
}

Shape output_shape(const Graph& graph) { return graph.main().tensors[graph.main().outputs[0]].shape; }

struct Refusal {
  ErrorCode code = ErrorCode::kOk;
  std::string text;
};

Refusal refusal(const Graph& graph, const GivenShapes& given) {
  try {
    validate(graph, Sizes::kMayBeUnknown);
    validate(resolve(graph, given));
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

void expect_refused(const Graph& graph, const GivenShapes& given, ErrorCode code, const std::string& words) {
  const Refusal got = refusal(graph, given);
  EXPECT_EQ(contract::name(got.code), contract::name(code)) << got.text;
  EXPECT_NE(got.text.find(words), std::string::npos) << got.text;
}

TEST(Resolve, OneFileForManySizes) {
  const Graph graph = sum({-1, 4}, {-1, 4}, {-1, 4});
  for (const int64_t rows : {1, 2, 7, 1000}) {
    const Graph fixed = resolve(graph, {{"x", {rows, 4}}, {"y", {rows, 4}}});
    EXPECT_FALSE(has_unknown_sizes(fixed));
    EXPECT_NO_THROW(validate(fixed));
    EXPECT_EQ(output_shape(fixed), (Shape{rows, 4}));
  }
}

TEST(Resolve, OnlyALiteralOneBroadcasts) {
  EXPECT_EQ(output_shape(resolve(sum({-1, 4}, {1, 4}, {-1, 4}), {{"x", {5, 4}}, {"y", {1, 4}}})), (Shape{5, 4}));
  expect_refused(sum({-1, 4}, {-1, 4}, {-1, 4}), {{"x", {5, 4}}, {"y", {1, 4}}}, ErrorCode::kSizeMismatch,
                 "in dimension 0, whose size is unknown in the file: only a size that the file gives as 1 broadcasts");
  // 1 and 1 is no broadcast.
  EXPECT_EQ(output_shape(resolve(sum({-1, 4}, {-1, 4}, {-1, 4}), {{"x", {1, 4}}, {"y", {1, 4}}})), (Shape{1, 4}));
}

TEST(Resolve, ARuleThatDoesNotHoldNamesOperatorAndSizes) {
  expect_refused(
      sum({-1, 4}, {-1, 4}, {-1, 4}), {{"x", {5, 4}}, {"y", {6, 4}}}, ErrorCode::kSizeMismatch,
      "operator 0 (ADD): input1 'x' [5, 4] and input2 'y' [6, 4] do not broadcast: dimension 0 must be equal, "
      "because a size that is unknown in the file never broadcasts");
  expect_refused(sum({-1, 4}, {-1, 3}, {-1, 4}), {{"x", {5, 4}}, {"y", {5, 3}}}, ErrorCode::kSizeMismatch,
                 "do not broadcast: ranks must be equal, dimensions equal or 1");
  expect_refused(sum({-1, 4}, {-1, 4}, {3, 4}), {{"x", {5, 4}}, {"y", {5, 4}}}, ErrorCode::kSizeMismatch,
                 "has shape [3, 4] in the file, but these sizes make it [5, 4]");
}

TEST(Resolve, WhatIsGivenHasToFit) {
  const Graph graph = sum({-1, 4}, {-1, 4}, {-1, 4});
  const auto with = [](const Shape& x) { return GivenShapes{{"x", x}, {"y", {5, 4}}}; };
  expect_refused(graph, {{"x", {5, 4}}}, ErrorCode::kBadInput, "the sizes of input 'y' (INT32[-1, 4]) are not given");
  expect_refused(graph, with({5, 3}), ErrorCode::kBadInput, "input 'x' is INT32[-1, 4], not [5, 3]");
  expect_refused(graph, with({5}), ErrorCode::kBadInput, "not [5]");
  for (const int64_t size : {int64_t{0}, int64_t{-1}, int64_t{1} << 31, INT64_MAX}) {
    expect_refused(graph, with({size, 4}), ErrorCode::kBadInput, "has the size " + std::to_string(size));
  }
  GivenShapes more = with({5, 4});
  more["w"] = {1};
  expect_refused(graph, more, ErrorCode::kBadInput, "no input and no variable 'w'");
}

Graph reshaped(const std::vector<int64_t>& sizes, const Shape& result) {
  GraphBuilder builder;
  const TensorId x = builder.input("x", DType::kInt8, {-1, 2, 3});
  const TensorId shape = builder.shape(sizes);
  builder.output(builder.raw(Op::kReshape, {x, shape}, {}, DType::kInt8, result), "y");
  builder.output(builder.raw(Op::kReshape, {x, shape}, {}, DType::kInt8, result), "z");
  return builder.build();
}

TEST(Resolve, AReshapeLeavesOneSizeToTheOthers) {
  const Graph fixed = resolve(reshaped({-1, 6}, {-1, 6}), {{"x", {4, 2, 3}}});
  EXPECT_NO_THROW(validate(fixed));
  EXPECT_EQ(output_shape(fixed), (Shape{4, 6}));
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(serialize(fixed));
  EXPECT_NO_THROW(validate(parse_tosa(bytes, "fixed")));
  expect_refused(reshaped({-1, 4}, {-1, 4}), {{"x", {3, 2, 3}}}, ErrorCode::kSizeMismatch, "cannot take the shape");
  expect_refused(reshaped({-1, -1}, {-1, -1}), {{"x", {3, 2, 3}}}, ErrorCode::kFeatureUnsupported,
                 "leaves more than one size to the others");
  expect_refused(reshaped({6, 3}, {6, 3}), {{"x", {4, 2, 3}}}, ErrorCode::kSizeMismatch,
                 "cannot take the shape [6, 3]");
}

// x[?, 8] as [?, 4, ?], which goes together with z where that has a shape.
Graph reshaped_like(const Shape& output, const Shape& z) {
  GraphBuilder builder;
  const TensorId x = builder.input("x", DType::kInt8, {-1, 8});
  const TensorId y = builder.raw(Op::kReshape, {x, builder.shape({-1, 4, -1})}, {}, DType::kInt8, output);
  builder.output(y, "y");
  if (z.empty()) return builder.build();
  const TensorId other = builder.input("z", DType::kInt8, z);
  builder.output(builder.raw(Op::kBitwiseXor, {y, other}, {}, DType::kInt8, output));
  return builder.build();
}

TEST(Resolve, AReshapeTakesSeveralSizesFromWhatOtherOperatorsDemand) {
  const auto shape_of_y = [](const Graph& graph, const GivenShapes& given) {
    const Graph fixed = resolve(graph, given);
    EXPECT_NO_THROW(validate(fixed));
    return output_shape(fixed);
  };
  // The file says one.
  EXPECT_EQ(shape_of_y(reshaped_like({-1, 4, 16}, {}), {{"x", {24, 8}}}), (Shape{3, 4, 16}));
  // Another operator does.
  const Graph with_z = reshaped_like({-1, 4, -1}, {-1, 4, -1});
  EXPECT_EQ(shape_of_y(with_z, {{"x", {24, 8}}, {"z", {6, 4, 8}}}), (Shape{6, 4, 8}));
  expect_refused(with_z, {{"x", {24, 8}}, {"z", {6, 4, 9}}}, ErrorCode::kSizeMismatch, "no sizes fit");
  // Nothing says one.
  expect_refused(reshaped_like({-1, 4, -1}, {}), {{"x", {24, 8}}}, ErrorCode::kFeatureUnsupported,
                 "'x' [24, 8] becomes [y.0, 4, y.2]");
  expect_refused(reshaped_like({-1, 4, 7}, {}), {{"x", {24, 8}}}, ErrorCode::kSizeMismatch,
                 "operator 1 (RESHAPE): input1 'x' [24, 8] cannot take the shape [y.0, 4, 7]");
}

// A state that a step changes: h = h ^ x.
Graph toggled(const Shape& state, const Shape& read) {
  GraphBuilder builder;
  const TensorId x = builder.input("x", DType::kInt8, {-1, 4});
  const TensorId h = builder.variable("h", DType::kInt8, state);
  const TensorId old = builder.raw(Op::kVariableRead, {h}, {}, DType::kInt8, read);
  const TensorId next = builder.raw(Op::kBitwiseXor, {old, x}, {}, DType::kInt8, {-1, 4});
  builder.output(next, "y");
  builder.write(h, next);
  return builder.build();
}

TEST(Resolve, AVariableHasTheShapeOfWhatIsReadAndWritten) {
  const auto variable = [](const Graph& graph) {
    for (const Tensor& tensor : graph.main().tensors) {
      if (tensor.variable) return tensor.shape;
    }
    return Shape{};
  };
  EXPECT_EQ(variable(resolve(toggled({0, 4}, {5, 4}), {{"x", {5, 4}}})), (Shape{5, 4}));
  EXPECT_EQ(variable(resolve(toggled({0, 4}, {-1, 4}), {{"x", {5, 4}}, {"h", {5, 4}}})), (Shape{5, 4}));
  // What is written follows from what is read, which x has to be as large as.
  EXPECT_EQ(variable(resolve(toggled({0, 4}, {-1, 4}), {{"x", {5, 4}}})), (Shape{5, 4}));
  expect_refused(toggled({0, 4}, {5, 4}), {{"x", {6, 4}}}, ErrorCode::kSizeMismatch, "do not broadcast");
}

TEST(Resolve, AVariableThatIsDeclaredTakesTheShapeOfWhatIsWritten) {
  GraphBuilder builder;
  const TensorId x = builder.input("x", DType::kInt8, {-1, 4});
  const TensorId h = builder.variable("h", DType::kInt8, {0, 4});
  builder.declare(h);
  builder.write(h, x);
  const Graph fixed = resolve(builder.build(), {{"x", {3, 4}}});
  EXPECT_NO_THROW(validate(fixed));
  EXPECT_EQ(fixed.main().tensors[h].shape, (Shape{3, 4}));
}

TEST(Resolve, AVariableThatNothingUsesHasToBeGiven) {
  GraphBuilder builder;
  builder.output(builder.input("x", DType::kInt8, {-1}), "x");
  builder.variable("v", DType::kInt8, {0});
  expect_refused(builder.build(), {{"x", {4}}}, ErrorCode::kBadInput, "variable 'v'");
  EXPECT_NO_THROW(validate(resolve(builder.build(), {{"x", {4}}, {"v", {2}}})));
}

// Each variable is read before what is written to it is known: a look through the graph for each of them.
TEST(Resolve, VariablesThatFollowFromEachOther) {
  constexpr int kVariables = 80;
  GraphBuilder builder;
  const TensorId x = builder.input("x", DType::kInt8, {-1});
  std::vector<TensorId> variables, values;
  for (int i = 0; i < kVariables; ++i)
    variables.push_back(builder.variable("v" + std::to_string(i), DType::kInt8, {0}));
  for (const TensorId variable : variables) {
    values.push_back(builder.raw(Op::kVariableRead, {variable}, {}, DType::kInt8, {-1}));
  }
  for (int i = 0; i + 1 < kVariables; ++i)
    builder.write(variables[static_cast<size_t>(i)], values[static_cast<size_t>(i) + 1]);
  builder.write(variables.back(), x);
  const Graph fixed = resolve(builder.build(), {{"x", {7}}});
  EXPECT_NO_THROW(validate(fixed));
  EXPECT_EQ(fixed.main().tensors[variables[0]].shape, Shape{7});
}

// A scalar is no open size.
TEST(Resolve, AReshapeToAScalarStaysOne) {
  GraphBuilder builder;
  builder.output(builder.input("x", DType::kInt8, {-1}), "x");
  builder.output(builder.reshape(builder.input("y", DType::kInt8, {1, 1}), {}), "s");
  EXPECT_NO_THROW(validate(resolve(builder.build(), {{"x", {4}}})));
}

TEST(Resolve, SizesThatGrowTooLargeAreNamed) {
  GraphBuilder builder;
  TensorId x = builder.input("x", DType::kInt8, {-1});
  for (int i = 0; i < 70; ++i) x = builder.raw(Op::kConcat, {x, x}, {}, DType::kInt8, {-1});
  builder.output(x, "y");
  expect_refused(builder.build(), {{"x", {4}}}, ErrorCode::kSizeMismatch, "which is too large");
  expect_refused(builder.build(), {{"x", {4, 4}}}, ErrorCode::kBadInput, "not [4, 4]");
}

TEST(Resolve, ABiasOfOpenSizeDoesNotStretch) {
  Graph graph = samples::of(Op::kConv2d);
  Tensor& bias = samples::input(graph, Op::kConv2d, 2);
  for (Operator& op : graph.main().operators) {
    if (op.op == Op::kConst && &graph.main().tensors[op.outputs[0]] == &bias) op.op = Op::kUnknown;
  }
  std::erase_if(graph.main().operators, [](const Operator& op) { return op.op == Op::kUnknown; });
  bias.has_data = false;
  bias.data = {};
  const int64_t channels = bias.shape[0];
  bias.shape = {-1};
  const std::string name = bias.name;
  graph.main().inputs.push_back(samples::find(graph, Op::kConv2d).inputs[2]);
  ASSERT_GT(channels, 1);
  GivenShapes given = shapes_of_inputs(samples::of(Op::kConv2d));
  given[name] = {channels};
  EXPECT_NO_THROW(validate(resolve(graph, given)));
  given[name] = {1};
  expect_refused(graph, given, ErrorCode::kSizeMismatch, "only a size that the file gives as 1 broadcasts");
}

// Blocks whose every use is another block's, 40 levels deep, and an operand that nothing decides at the bottom.
Graph deep(const std::string& missing) {
  constexpr int kLevels = 40;
  GraphBuilder builder;
  const auto level = [&](GraphBuilder& b, const std::string& inner, bool last) {
    const TensorId flag = b.input("flag", DType::kBool, {1}), x = b.input("x", DType::kInt8, {-1});
    if (last) {
      const TensorId open = b.raw(Op::kVariableRead, {b.variable("v", DType::kInt8, {0})}, {}, DType::kInt8, {-1});
      b.output(b.raw(Op::kBitwiseXor, {x, open}, {}, DType::kInt8, {-1}), "y");
      return;
    }
    Attributes blocks;
    blocks.then_graph = blocks.else_graph = inner;
    b.output(b.raw(Op::kCondIf, {flag, flag, x}, blocks, DType::kInt8, {-1}), "y");
  };
  level(builder, missing.empty() ? "r0" : missing, false);
  for (int i = 0; missing.empty() && i < kLevels; ++i) {
    GraphBuilder region("r" + std::to_string(i));
    level(region, "r" + std::to_string(i + 1), i + 1 == kLevels);
    builder.add_region(std::move(region));
  }
  return builder.build();
}

TEST(Resolve, DeepControlFlowIsLookedThroughOnce) {
  EXPECT_NO_THROW(validate(resolve(deep(""), {{"flag", {1}}, {"x", {4}}})));
  EXPECT_NO_THROW(validate(resolve(deep(""), {{"flag", {1}}, {"x", {4}}, {"v", {4}}})));
}

TEST(Resolve, ControlFlowHasToBeWellFormedWhateverItsSizes) {
  expect_refused(deep("nowhere"), {{"flag", {1}}, {"x", {4}}}, ErrorCode::kBadStructure, "does not exist");
  Graph graph = deep("");
  graph.regions[1].blocks.front().outputs.clear();
  expect_refused(graph, {{"flag", {1}}, {"x", {4}}, {"v", {4}}}, ErrorCode::kBadStructure, "has 0 outputs");
}

TEST(Resolve, EachBlockOfControlFlowHasToExistBeforeSizesAreKnown) {
  const std::pair<const char*, std::string Attributes::*> kBlocks[] = {{"then_graph", &Attributes::then_graph},
                                                                       {"else_graph", &Attributes::else_graph},
                                                                       {"cond_graph", &Attributes::cond_graph},
                                                                       {"body_graph", &Attributes::body_graph}};
  for (const auto& [name, attribute] : kBlocks) {
    SCOPED_TRACE(name);
    Graph graph = samples::nested_control_flow();
    ASSERT_GT(open_sizes(graph), 0u);
    ASSERT_NO_THROW(validate(graph, Sizes::kMayBeUnknown));
    for (Region& region : graph.regions) {
      for (Operator& op : region.blocks.front().operators) {
        if (!(op.attributes.*attribute).empty()) op.attributes.*attribute = "nowhere";
      }
    }
    try {
      validate(graph, Sizes::kMayBeUnknown);
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadStructure);
      EXPECT_NE(std::string(error.what()).find(std::string(name) + " names the region 'nowhere'"), std::string::npos)
          << error.what();
    }
  }
}

// The operator's own sizes are known, those of the block are not.
TEST(Resolve, ABlockTakesTheShapesOfTheOperandsThatItGets) {
  Graph graph = samples::nested_control_flow();
  const Graph whole = graph;
  for (size_t i = 1; i < graph.regions.size(); ++i) {
    for (Tensor& tensor : graph.regions[i].blocks.front().tensors) {
      if (tensor.has_data) continue;
      for (int64_t& size : tensor.shape) size = size == 1 ? 1 : -1;
    }
  }
  ASSERT_TRUE(has_unknown_sizes(graph));
  ASSERT_NO_THROW(validate(graph, Sizes::kMayBeUnknown));
  EXPECT_EQ(samples::difference(whole, resolve(graph, shapes_of_inputs(whole))), "");
}

}  // namespace
}  // namespace npu::graph
