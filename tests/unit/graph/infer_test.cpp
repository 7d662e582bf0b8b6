// SPDX-License-Identifier: Apache-2.0
// Graphs whose files leave sizes open, without any sizes given.
#include "driver/graph/infer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

Inference inferred(const Graph& graph, Level level = Level::kNone) {
  validate(graph, Sizes::kMayBeUnknown);
  return infer(graph, {}, level);
}

std::string sizes_of(const Graph& graph, const Inference& inference, const std::string& tensor) {
  for (TensorId id = 0; id < graph.main().tensors.size(); ++id) {
    if (graph.main().tensors[id].name == tensor) return inference.open.text(inference.sizes[0][id]);
  }
  return "no such tensor";
}

// Of the first output.
std::string result(const Graph& graph) {
  return sizes_of(graph, inferred(graph), graph.main().tensors[graph.main().outputs[0]].name);
}

// "y.0 = x.0" of each symbol that has a value, then what must hold with the operator's position before it.
std::vector<std::string> facts(const Inference& inference) {
  std::vector<std::string> all;
  for (const Symbol& symbol : inference.open.symbols()) {
    if (symbol.value) all.push_back(symbol.name + " = " + inference.open.text(*symbol.value));
  }
  for (const Condition& condition : inference.open.conditions()) {
    all.push_back(std::to_string(condition.place.position) + ": " + inference.open.text(condition));
  }
  return all;
}

using Facts = std::vector<std::string>;

// One operator, with inputs of these shapes; type INT8 or INT32.
Graph of(Op op, const std::vector<Shape>& inputs, const Shape& output, DType type, const Attributes& attributes = {}) {
  GraphBuilder b;
  std::vector<TensorId> ids;
  for (size_t i = 0; i < inputs.size(); ++i)
    ids.push_back(b.input(std::string(1, static_cast<char>('x' + i)), type, inputs[i]));
  b.output(b.raw(op, ids, attributes, type, output), "out");
  return b.build();
}

std::string refusal(const Graph& graph) {
  try {
    static_cast<void>(inferred(graph));
  } catch (const Error& error) {
    EXPECT_EQ(contract::name(error.code()), "size_mismatch");
    return error.what();
  }
  return "";
}

TEST(Infer, SizesThatMustBeEqual) {
  const Graph graph = of(Op::kAdd, {{-1, 4}, {-1, -1}}, {-1, -1}, DType::kInt32);
  EXPECT_EQ(facts(inferred(graph)), (Facts{"y.0 = x.0", "y.1 = 4"}));
  EXPECT_EQ(result(graph), "[x.0, 4]");
}

TEST(Infer, ALiteralOneBroadcastsAndASymbolDoesNot) {
  EXPECT_EQ(result(of(Op::kAdd, {{-1, 4}, {1, 4}}, {-1, -1}, DType::kInt32)), "[x.0, 4]");
  EXPECT_EQ(result(of(Op::kAdd, {{1, 1}, {-1, 4}}, {-1, -1}, DType::kInt32)), "[y.0, 4]");
  EXPECT_EQ(facts(inferred(of(Op::kAdd, {{-1, 4}, {3, 4}}, {-1, -1}, DType::kInt32))), Facts{"x.0 = 3"});
}

TEST(Infer, DecidedInputs) {
  EXPECT_EQ(decided_inputs(of(Op::kAdd, {{-1, 4}, {3, 4}}, {-1, -1}, DType::kInt32)), (GivenShapes{{"x", {3, 4}}}));
  EXPECT_EQ(decided_inputs(of(Op::kAdd, {{-1, -1}, {-1, 4}}, {-1, -1}, DType::kInt32)),
            (GivenShapes{{"x", {-1, 4}}, {"y", {-1, 4}}}));
  EXPECT_EQ(decided_inputs(of(Op::kAdd, {{3, 4}, {3, 4}}, {-1, -1}, DType::kInt32)), GivenShapes{});
}

TEST(Infer, ContradictionsNeedNoSizes) {
  EXPECT_NE(refusal(of(Op::kAdd, {{-1, 4}, {3, 5}}, {-1, -1}, DType::kInt32)).find("operator 0 (ADD): input1 'x' ["),
            std::string::npos);
  EXPECT_NE(refusal(of(Op::kAdd, {{-1, 4}, {3, 4}}, {5, 4}, DType::kInt32))
                .find("operator 0 (ADD): its output 'out' has shape [5, 4] in the file"),
            std::string::npos);
  // x.0 = x.0 + 2
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1});
  const TensorId more = b.raw(Op::kConcat, {x, b.constant(DType::kInt8, {2}, {1.0, 2.0})}, {}, DType::kInt8, {-1});
  b.output(b.raw(Op::kBitwiseXor, {x, more}, {}, DType::kInt8, {-1}), "out");
  EXPECT_NE(refusal(b.build()).find("[x.0] and input2"), std::string::npos) << refusal(b.build());
}

Graph pooled(const Shape& input, std::vector<int32_t> kernel, std::vector<int32_t> stride, std::vector<int32_t> pad) {
  Attributes a;
  a.kernel = std::move(kernel);
  a.stride = std::move(stride);
  a.pad = std::move(pad);
  a.nan_mode = NanMode::kPropagate;
  return of(Op::kMaxPool2d, {input}, {-1, -1, -1, -1}, DType::kInt8, a);
}

TEST(Infer, WindowsThatMove) {
  const Graph graph = pooled({1, -1, 8, 4}, {3, 2}, {2, 2}, {1, 1, 0, 0});
  EXPECT_EQ(result(graph), "[1, (x.1 + 1) / 2, 4, 4]");
  EXPECT_EQ(facts(inferred(graph)), Facts{"0: x.1 - 1 must be a multiple of 2 (stride)"});
  EXPECT_EQ(facts(inferred(pooled({1, -1, 8, 4}, {3, 2}, {1, 2}, {0, 0, 0, 0}))), Facts{"0: x.1 must be at least 3"});
}

TEST(Infer, WhatIsMadeTwiceIsTheSame) {
  // Halved, doubled, and joined with what it was.
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, -1, 2, 4});
  Attributes pool;
  pool.kernel = pool.stride = {2, 1};
  pool.pad = {0, 0, 0, 0};
  pool.nan_mode = NanMode::kPropagate;
  const TensorId half = b.raw(Op::kMaxPool2d, {x}, pool, DType::kInt8, {1, -1, 2, 4});
  const TensorId twice = b.raw(Op::kTile, {half, b.shape({1, 2, 1, 1})}, {}, DType::kInt8, {-1, -1, -1, -1});
  b.output(b.raw(Op::kBitwiseXor, {twice, x}, {}, DType::kInt8, {-1, -1, -1, -1}), "out");
  EXPECT_EQ(result(b.build()), "[1, x.1, 2, 4]");
  EXPECT_EQ(facts(inferred(b.build())),
            (Facts{"0: x.1 must be at least 2", "0: x.1 must be a multiple of 2 (stride)"}));
}

TEST(Infer, WhatFollowsFromAnotherConditionIsLeftOut) {
  GraphBuilder b;
  TensorId x = b.input("x", DType::kInt8, {1, -1, -1, 3});
  Attributes pool;
  pool.kernel = pool.stride = {2, 2};
  pool.pad = {0, 0, 0, 0};
  pool.nan_mode = NanMode::kPropagate;
  for (int i = 0; i < 3; ++i) x = b.raw(Op::kMaxPool2d, {x}, pool, DType::kInt8, {1, -1, -1, 3});
  b.output(x, "out");
  EXPECT_EQ(result(b.build()), "[1, x.1 / 8, x.2 / 8, 3]");
  EXPECT_EQ(facts(inferred(b.build())),
            (Facts{"0: x.1*x.2 must be at most 1466015503701 (number of elements)", "2: x.1 must be at least 8",
                   "2: x.1 must be a multiple of 8 (stride)", "2: x.2 must be at least 8",
                   "2: x.2 must be a multiple of 8 (stride)"}));
}

TEST(Infer, SumsAndProducts) {
  Attributes axis;
  axis.axis = 0;
  EXPECT_EQ(result(of(Op::kConcat, {{-1, 4}, {3, -1}, {-1, 4}}, {-1, -1}, DType::kInt8, axis)), "[x.0 + z.0 + 3, 4]");
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, -1, 6});
  const TensorId padded = b.raw(Op::kPad, {x, b.shape({1, 2, 0, 0, 0, 0}), b.constant(DType::kInt8, {1}, {0.0})}, {},
                                DType::kInt8, {-1, -1, -1});
  b.output(b.raw(Op::kReshape, {padded, b.shape({-1, 4})}, {}, DType::kInt8, {-1, -1}), "out");
  EXPECT_EQ(result(b.build()), "[(3*x.0*x.1 + 9*x.1) / 2, 4]");
  const Facts all = facts(inferred(b.build()));
  EXPECT_NE(std::find(all.begin(), all.end(), "4: x.0*x.1 + x.1 must be a multiple of 2 (the other sizes)"), all.end())
      << testing::PrintToString(all);
}

TEST(Infer, MatrixProductsAgreeInTheMiddle) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, -1, -1}), y = b.input("y", DType::kInt8, {-1, 16, -1});
  const TensorId zero = b.constant(DType::kInt8, {1}, {0.0});
  b.output(b.raw(Op::kMatMul, {x, y, zero, zero}, {}, DType::kInt32, {-1, -1, -1}), "out");
  EXPECT_EQ(result(b.build()), "[x.0, x.1, y.2]");
  const Facts all = facts(inferred(b.build()));
  EXPECT_EQ(Facts(all.begin(), all.begin() + 2), (Facts{"x.2 = 16", "y.0 = x.0"}));
}

Graph reshaped(const Shape& input, const std::vector<int64_t>& sizes, const Shape& output) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, input);
  b.output(b.raw(Op::kReshape, {x, b.shape(sizes)}, {}, DType::kInt8, output), "out");
  return b.build();
}

TEST(Infer, AReshapeLeavesSizesToTheOthers) {
  EXPECT_EQ(result(reshaped({-1, 2, 3}, {-1, 6}, {-1, -1})), "[x.0, 6]");
  EXPECT_EQ(result(reshaped({-1, -1}, {-1, 1, 1}, {-1, 1, 1})), "[x.0*x.1, 1, 1]");
  EXPECT_EQ(result(reshaped({-1, -1, 3}, {-1, 4, -1}, {-1, 4, 3})), "[x.0*x.1 / 4, 4, 3]");
  EXPECT_EQ(result(reshaped({-1, 3}, {5, 6}, {5, 6})), "[5, 6]");
  EXPECT_EQ(facts(inferred(reshaped({-1, 3}, {5, 6}, {5, 6}))), Facts{"x.0 = 10"});
  EXPECT_NE(refusal(reshaped({-1, 3}, {5, 7}, {5, 7})).find("cannot take the shape [5, 7]"), std::string::npos);
  EXPECT_NE(refusal(reshaped({-1, 4}, {-1, -7}, {-1, 7})).find("cannot take the shape"), std::string::npos);
}

TEST(Infer, AReshapeWithSeveralOpenSizesTakesThemFromOtherOperators) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 8});
  const TensorId y = b.raw(Op::kReshape, {x, b.shape({-1, 4, -1})}, {}, DType::kInt8, {-1, 4, -1});
  b.rename(y, "y");
  b.output(y);
  EXPECT_EQ(result(b.build()), "[y.0, 4, y.2]");
  const TensorId z = b.input("z", DType::kInt8, {-1, 4, -1});
  b.output(b.raw(Op::kBitwiseXor, {y, z}, {}, DType::kInt8, {-1, -1, -1}), "out");
  const Inference inference = inferred(b.build());
  EXPECT_EQ(sizes_of(b.build(), inference, "y"), "[z.0, 4, z.2]");
  const Facts all = facts(inference);
  EXPECT_NE(std::find(all.begin(), all.end(), "1: 2*x.0 must equal z.0*z.2 (number of elements)"), all.end())
      << testing::PrintToString(all);
}

TEST(Infer, TransformsHalve) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp32, {1, -1, -1});
  const TensorId real = b.raw(Op::kRfft2d, {x}, {}, DType::kFp32, {-1, -1, -1});
  b.output(real, "out");
  Graph graph = b.build();
  graph.main().tensors.push_back(graph.main().tensors[real]);
  graph.main().tensors.back().name = "imaginary";
  graph.main().operators.back().outputs.push_back(static_cast<TensorId>(graph.main().tensors.size() - 1));
  EXPECT_EQ(result(graph), "[1, x.1, floor(x.2 / 2) + 1]");
  const Facts all = facts(inferred(graph));
  EXPECT_EQ(all[0], "0: x.1 must be a power of two");
}

TEST(Infer, ShapesThatAreComputed) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 6});
  Attributes first;
  first.axis = 0;
  const TensorId rows = samples::on_shapes(b, Op::kDim, {x}, first);
  const TensorId half = samples::on_shapes(b, Op::kDivFloorShape, {rows, b.shape({2})});
  const TensorId sizes = samples::on_shapes(b, Op::kConcatShape, {half, b.shape({12})});
  b.output(b.raw(Op::kReshape, {x, sizes}, {}, DType::kInt8, {-1, -1}), "out");
  EXPECT_EQ(result(b.build()), "[floor(x.0 / 2), 12]");
  const Facts all = facts(inferred(b.build()));
  EXPECT_NE(std::find(all.begin(), all.end(), "5: x.0 must equal 2*floor(x.0 / 2) (number of elements)"), all.end())
      << testing::PrintToString(all);
}

TEST(Infer, AnAssertedRestIsAMultiple) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1});
  const TensorId rest = samples::on_shapes(b, Op::kModShape, {samples::on_shapes(b, Op::kDim, {x}), b.shape({4})});
  static_cast<void>(samples::on_shapes(b, Op::kAssertEqualShape, {rest, b.shape({0})}));
  b.output(x);
  EXPECT_EQ(facts(inferred(b.build())), Facts{"4: x.0 must be a multiple of 4"});
}

// A state is what is written to it, though the input has a value in terms of the state that takes no division.
TEST(Infer, AVariableFollowsFromAnInput) {
  Graph graph = pooled({1, -1, 1, 1}, {2, 1}, {2, 1}, {0, 0, 0, 0});
  Tensor state = graph.main().tensors[graph.main().outputs[0]];
  state.name = state.variable_name = "s";
  state.variable = true;
  state.shape = {1, 0, 1, 1};
  graph.main().tensors.push_back(state);
  Operator write;
  write.op = Op::kVariableWrite;
  write.inputs = {graph.main().outputs[0]};
  write.outputs = {static_cast<TensorId>(graph.main().tensors.size() - 1)};
  graph.main().operators.push_back(write);
  EXPECT_EQ(facts(inferred(graph))[0], "s.1 = x.1 / 2");
}

TEST(Infer, AVariableIsWhatIsWrittenToIt) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4});
  const TensorId h = b.variable("h", DType::kInt8, {0, 4});
  const TensorId old = b.raw(Op::kVariableRead, {h}, {}, DType::kInt8, {-1, -1});
  b.output(old, "out");
  EXPECT_EQ(result(b.build()), "[h.0, 4]");
  b.write(h, x);
  EXPECT_EQ(result(b.build()), "[x.0, 4]");
  EXPECT_EQ(facts(inferred(b.build()))[0], "h.0 = x.0");
}

// Though x may have made it anything.
TEST(Infer, AOneOfTheFileBroadcasts) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1});
  const TensorId row = b.raw(Op::kReshape, {x, b.shape({-1, 4})}, {}, DType::kInt8, {1, 4});
  b.output(b.raw(Op::kBitwiseXor, {row, b.input("y", DType::kInt8, {3, 4})}, {}, DType::kInt8, {-1, -1}), "out");
  EXPECT_EQ(result(b.build()), "[3, 4]");
  EXPECT_EQ(facts(inferred(b.build())), (Facts{"x.0 = 4"}));
}

TEST(Infer, WhatNoRuleGivesIsASymbolOfItsOwn) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4});
  Attributes custom;
  custom.custom_operator = custom.custom_domain = "own";
  const TensorId y = b.raw(Op::kCustom, {x}, custom, DType::kInt8, {-1, 4});
  b.rename(y, "y");
  b.output(b.raw(Op::kBitwiseNot, {y}, {}, DType::kInt8, {-1, -1}), "out");
  EXPECT_EQ(result(b.build()), "[y.0, 4]");
  const Inference inference = inferred(b.build());
  ASSERT_EQ(inference.without_expression.size(), 1u);
  EXPECT_EQ(inference.without_expression[0].place.position, 0u);
  EXPECT_EQ(inference.open.symbols()[1].of, Symbol::Of::kResult);
}

TEST(Infer, ALevelBoundsBytes) {
  const Graph graph = of(Op::kAdd, {{-1, 64}, {-1, 64}}, {-1, 64}, DType::kInt32);
  const Facts all = facts(inferred(graph, Level::k8K));
  EXPECT_NE(std::find(all.begin(), all.end(), "0: x.0 must be at most 8388607 (bytes)"), all.end())
      << testing::PrintToString(all);
}

// Opened as resolve's tests do it: with the sizes that were there, the expressions give the shapes that were there.
TEST(Infer, GivesEveryOperatorItsShapesBack) {
  int operators = 0;
  for (const Op op : samples::all_operators()) {
    if (op == Op::kCustom) continue;
    SCOPED_TRACE(name(op));
    const Graph graph = samples::of(op);
    Graph open = graph;
    for (Region& region : open.regions) {
      for (Tensor& tensor : region.blocks.front().tensors) {
        if (tensor.has_data || tensor.type == DType::kShape) continue;
        for (int64_t& size : tensor.shape) size = size == 1 ? 1 : tensor.variable ? 0 : -1;
      }
    }
    if (!has_unknown_sizes(open)) continue;
    ++operators;
    const Inference inference = inferred(open, Level::k8K);
    std::vector<int64_t> values(inference.open.symbols().size(), 1);
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string& symbol = inference.open.symbols()[i].name;
      for (const Tensor& tensor : graph.main().tensors) {
        for (size_t d = 0; d < tensor.shape.size(); ++d) {
          const std::string& owner = tensor.variable ? variable_identity(tensor) : tensor.name;
          if (owner + "." + std::to_string(d) == symbol) values[i] = tensor.shape[d];
        }
      }
    }
    for (size_t region = 0; region < graph.regions.size(); ++region) {
      const auto& tensors = graph.regions[region].blocks.front().tensors;
      for (TensorId id = 0; id < tensors.size(); ++id) {
        Shape shape;
        for (const Dim& dim : inference.sizes[region][id]) shape.push_back(dim.evaluate(values).value_or(-1));
        EXPECT_EQ(shape, tensors[id].shape)
            << tensors[id].name << ' ' << inference.open.text(inference.sizes[region][id]);
      }
    }
    for (const Condition& condition : inference.open.conditions()) {
      EXPECT_TRUE(holds(condition, values)) << inference.open.text(condition);
    }
  }
  EXPECT_GT(operators, 60);
}

// A size without an expression is a symbol of its own, and a condition on it is kept as it is.
TEST(Infer, ExpressionsThatGrowTooLarge) {
  GraphBuilder b;
  std::vector<TensorId> parts;
  for (int i = 0; i < 400; ++i) parts.push_back(b.input("x" + std::to_string(i), DType::kInt8, {-1}));
  const TensorId all = b.raw(Op::kConcat, parts, {}, DType::kInt8, {-1});
  b.rename(all, "all");
  b.output(b.raw(Op::kBitwiseXor, {all, b.input("y", DType::kInt8, {-1})}, {}, DType::kInt8, {-1}), "out");
  const Inference inference = inferred(b.build());
  ASSERT_EQ(inference.without_expression.size(), 1u);
  EXPECT_EQ(inference.without_expression[0].why, "its expression has too many terms");
  EXPECT_EQ(sizes_of(b.build(), inference, "all"), "[y.0]");
}

TEST(Infer, RegionsThatContainThemselvesAreIllegalThoughNothingEntersThem) {
  GraphBuilder b;
  b.output(b.input("x", DType::kInt8, {-1}), "out");
  GraphBuilder inner("own");
  Attributes blocks;
  blocks.then_graph = blocks.else_graph = "own";
  const TensorId flag = inner.input("flag", DType::kBool, {1});
  inner.output(inner.raw(Op::kCondIf, {flag, flag}, blocks, DType::kBool, {1}), "y");
  b.add_region(std::move(inner));
  try {
    static_cast<void>(inferred(b.build()));
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("contains itself"), std::string::npos) << error.what();
  }
}

TEST(Infer, HostileGraphsEnd) {
  GraphBuilder b;
  TensorId x = b.input("x", DType::kInt8, {-1});
  for (int i = 0; i < 70; ++i) x = b.raw(Op::kConcat, {x, x}, {}, DType::kInt8, {-1});
  b.output(x, "y");
  EXPECT_NE(refusal(b.build()), "") << "2^70 elements fit nowhere";
}

}  // namespace
}  // namespace npu::graph
