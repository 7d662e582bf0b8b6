// SPDX-License-Identifier: Apache-2.0
// Random control flow: legal, defined for any data, the same for the same seed, and as rich as it says.
#include "sim/generator/random_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "sim/reference/reference.h"

namespace npu::generator {
namespace {

using graph::DType;
using graph::Op;

// Every element the same: the ends of the type, where sums and products are largest.
graph::Value filled(const graph::Tensor& tensor, bool lowest) {
  const DataRange range = tensor.type == DType::kInt32 ? DataRange{INT32_MIN, INT32_MAX} : usual_range(tensor.type);
  const int64_t number = lowest ? range.low : range.high;
  cosim::Random none(1);
  graph::Value value = random_value(tensor.type, tensor.shape, 1, {number, number}, none);
  value.shape = tensor.shape;
  return value;
}

void run_with_ends(const graph::Graph& graph) {
  for (const bool lowest : {false, true}) {
    std::vector<graph::Value> inputs;
    for (const graph::TensorId id : graph.main().inputs) inputs.push_back(filled(graph.main().tensors[id], lowest));
    reference::Context state;
    for (int invocation = 0; invocation < 2; ++invocation) {
      ASSERT_NO_THROW(static_cast<void>(reference::run(graph, inputs, state)));
    }
  }
}

ControlSize size_of(uint64_t seed) {
  static const graph::Shape kShapes[] = {{1, 6}, {7}, {3, 2, 2}, {2, 1, 5, 2}, {1}, {1, 300}};
  return {kShapes[seed % std::size(kShapes)], static_cast<int>(4 + seed % 40)};
}

TEST(RandomControl, IsDefinedForTheEndsOfEachType) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const graph::Graph graph = random_control(seed, size_of(seed));
    ASSERT_NO_THROW(graph::validate(graph));
    run_with_ends(graph);
  }
}

TEST(RandomControl, IsAFunctionOfItsArguments) {
  EXPECT_EQ(graph::serialize(random_control(5)), graph::serialize(random_control(5)));
  EXPECT_NE(graph::serialize(random_control(5)), graph::serialize(random_control(6)));
  const auto operators = [](int count) { return random_control(5, {.operators = count}).main().operators.size(); };
  EXPECT_LT(operators(6), operators(60));
  EXPECT_LT(operators(60), operators(300));
}

// What many seeds draw.
struct Drawn {
  std::set<Op> operators;     // of all blocks
  std::set<DType> variables;  // that blocks of control flow write
  int deepest = 0, loops_in_loops = 0;
};

void add(const graph::Graph& graph, const graph::Block& block, int depth, bool in_loop, Drawn& drawn) {
  drawn.deepest = std::max(drawn.deepest, depth);
  for (const graph::Operator& op : block.operators) {
    drawn.operators.insert(op.op);
    if (op.op == Op::kVariableWrite && depth > 0) drawn.variables.insert(block.tensors[op.inputs.front()].type);
    const auto inner = [&](const std::string& name, bool loop) {
      const auto region = std::find_if(graph.regions.begin(), graph.regions.end(),
                                       [&](const graph::Region& r) { return r.name == name; });
      ASSERT_NE(region, graph.regions.end()) << name;
      add(graph, region->blocks.front(), depth + 1, in_loop || loop, drawn);
    };
    if (op.op == Op::kCondIf) {
      inner(op.attributes.then_graph, false);
      inner(op.attributes.else_graph, false);
    } else if (op.op == Op::kWhileLoop) {
      drawn.loops_in_loops += in_loop ? 1 : 0;
      inner(op.attributes.body_graph, true);
    }
  }
}

TEST(RandomControl, DrawsItsOperatorsInBlocksThatNest) {
  Drawn drawn;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const graph::Graph graph = random_control(seed, {.shape = {2, 6}, .operators = 20});
    add(graph, graph.main(), 0, false, drawn);
  }
  for (const Op op : {Op::kAdd,
                      Op::kSub,
                      Op::kMul,
                      Op::kMaximum,
                      Op::kMinimum,
                      Op::kBitwiseAnd,
                      Op::kBitwiseOr,
                      Op::kBitwiseXor,
                      Op::kBitwiseNot,
                      Op::kIntDiv,
                      Op::kLogicalLeftShift,
                      Op::kLogicalRightShift,
                      Op::kArithmeticRightShift,
                      Op::kAbs,
                      Op::kClz,
                      Op::kNegate,
                      Op::kClamp,
                      Op::kTable,
                      Op::kRescale,
                      Op::kCast,
                      Op::kGreater,
                      Op::kGreaterEqual,
                      Op::kEqual,
                      Op::kLogicalNot,
                      Op::kSelect,
                      Op::kReverse,
                      Op::kTranspose,
                      Op::kPad,
                      Op::kSlice,
                      Op::kConcat,
                      Op::kReduceSum,
                      Op::kReduceMax,
                      Op::kReduceMin,
                      Op::kArgMax,
                      Op::kConv2d,
                      Op::kMatMul,
                      Op::kGather,
                      Op::kScatter,
                      Op::kVariableRead,
                      Op::kVariableWrite,
                      Op::kCondIf,
                      Op::kWhileLoop}) {
    EXPECT_TRUE(drawn.operators.count(op) > 0) << name(op);
  }
  EXPECT_EQ(drawn.variables, (std::set{DType::kInt8, DType::kInt16, DType::kInt32}));
  EXPECT_EQ(drawn.deepest, 3);
  EXPECT_GT(drawn.loops_in_loops, 20);
}

TEST(RandomControl, OfANetworkIsDefinedAndHasResults) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomNetwork net(seed);
    for (int i = 0; i < 3; ++i) {  // side by side
      for (const auto& results : {random_cond_if(net), random_while_loop(net)}) {
        ASSERT_FALSE(results.empty());
        for (const graph::TensorId id : results) net.builder.output(id);
      }
    }
    const graph::Graph graph = net.builder.build();
    ASSERT_NO_THROW(graph::validate(graph));
    std::vector<graph::Value> inputs;
    const graph::Block& block = graph.main();
    for (size_t i = 0; i < block.inputs.size(); ++i) {
      const graph::Tensor& tensor = block.tensors[block.inputs[i]];
      inputs.push_back(random_value(tensor.type, tensor.shape, 1, net.ranges()[i], net.random));
      inputs.back().shape = tensor.shape;
    }
    reference::Context state;
    ASSERT_NO_THROW(static_cast<void>(reference::run(graph, inputs, state)));
  }
}

}  // namespace
}  // namespace npu::generator
