// SPDX-License-Identifier: Apache-2.0
// Blocks that control flow names several times: how often they are put somewhere is bounded, what they need is there
// once, and those of no use are left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "driver/compiler/lower.h"
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/schedule.h"
#include "driver/compiler/support.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::compiler::testing {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;
using ::testing::HasSubstr;

// Adds regions that each name the one below twice, so that the last of them becomes 2^depth - 1 blocks. Its name.
std::string add_doubling_regions(GraphBuilder& main, int depth) {
  std::string inner;
  for (int level = 0; level < depth; ++level) {
    const std::string name = std::string("level").append(std::to_string(level));
    GraphBuilder b(name);
    const TensorId flag = b.input("flag", DType::kBool, {1});
    graph::Attributes both;
    both.then_graph = both.else_graph = inner;
    b.output(level == 0 ? b.op(Op::kLogicalNot, {flag}) : b.raw(Op::kCondIf, {flag, flag}, both, DType::kBool, {1}));
    main.add_region(std::move(b));
    inner = name;
  }
  return inner;
}

// `uses` COND_IFs in a row, each with two times 2^depth - 1 blocks.
graph::Graph doubling(int depth, int uses) {
  GraphBuilder main;
  const std::string inner = add_doubling_regions(main, depth);
  TensorId flag = main.input("flag", DType::kBool, {1});
  for (int i = 0; i < uses; ++i) flag = main.cond_if(flag, {flag}, inner, inner)[0];
  main.output(flag);
  return main.build();
}

std::string refusal_of_lower(const graph::Graph& graph) {
  graph::validate(graph);
  try {
    static_cast<void>(lower(graph, front_machine()));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kArgumentUnsupported);
    return error.what();
  }
  return "not refused";
}

TEST(Blocks, AreNotPutInPlacesWithoutBound) {
  const std::string text = refusal_of_lower(doubling(250, 1));
  EXPECT_THAT(text, HasSubstr("operator 0, COND_IF"));
  EXPECT_THAT(text, HasSubstr("more than 262144 operators, operands and tensors"));
  EXPECT_THAT(text, HasSubstr("name regions less often"));
}

TEST(Blocks, OfAllOperatorsCountTogether) {
  const int uses = 40;
  int64_t steps_of_one = 0;
  for (const int allowed : {1, 2}) {
    const Module module = lowered(doubling(11, allowed));
    EXPECT_LT(std::ssize(module.steps), Regions::kMostParts);
    if (allowed == 1) steps_of_one = std::ssize(module.steps);
  }
  ASSERT_GT(steps_of_one * uses, Regions::kMostParts) << "one alone is allowed, all of them are not";
  EXPECT_THAT(refusal_of_lower(doubling(11, uses)), HasSubstr("COND_IF (BOOL), cannot run on this device: with it"));
}

// Support reports are made of the same answer, and take no longer for a hostile graph.
TEST(Blocks, BeyondTheLimitAreReported) {
  const graph::Graph graph = doubling(11, 40);
  const std::vector<SupportRow> rows = support(graph, front_machine());
  EXPECT_TRUE(rows.front().ok);
  EXPECT_FALSE(rows.back().ok);
  EXPECT_THAT(rows.back().reason, HasSubstr("262144"));
}

TEST(Blocks, StopAtTheMostStepsOfAModule) {
  const graph::Graph graph = doubling(6, 1);
  const contract::Capabilities machine = front_machine();
  const Facts facts(graph, machine);
  const Grouping grouping = make_grouping(facts, machine);
  Emission emission;
  emission.most_steps = 100;
  try {
    const contract::Capabilities machine = front_machine();
    Emitter(facts, grouping, machine, emission).run();
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kArgumentUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("level"));
    EXPECT_THAT(error.what(), HasSubstr("more than 100 steps"));
  }
  EXPECT_EQ(emission.module.steps.size(), 100U);
}

constexpr int64_t kWidth = 512;

// `uses` times x = flag ? x + constant : x + transposed constant, of regions that are the same each time.
graph::Graph with_constants(int uses) {
  GraphBuilder main, plain("plain"), folded("folded");
  std::vector<double> numbers(static_cast<size_t>(kWidth));
  std::iota(numbers.begin(), numbers.end(), 1.0);
  const auto fill = [&](GraphBuilder& b, bool transposed) {
    const TensorId x = b.input("x", DType::kInt32, {2, kWidth / 2});
    b.output(b.add(x, transposed ? b.transpose(b.constant(DType::kInt32, {kWidth / 2, 2}, numbers), {1, 0})
                                 : b.constant(DType::kInt32, {2, kWidth / 2}, numbers)));
  };
  fill(plain, false);
  fill(folded, true);
  main.add_region(std::move(plain));
  main.add_region(std::move(folded));
  TensorId x = main.input("x", DType::kInt32, {2, kWidth / 2});
  const TensorId flag = main.input("flag", DType::kBool, {1});
  for (int i = 0; i < uses; ++i) x = main.cond_if(flag, {x}, "plain", "folded")[0];
  main.output(x);
  return main.build();
}

int64_t constant_bytes(const Module& module) {
  int64_t bytes = 0;
  for (const Buffer& buffer : module.buffers) bytes += std::ssize(buffer.data);
  return bytes;
}

TEST(Blocks, HaveTheirConstantsOnce) {
  const graph::Graph one = with_constants(1), many = with_constants(50);
  const contract::Capabilities& machine = nano_capabilities();
  Module alone = lower(one, machine), repeated = lower(many, machine);
  EXPECT_GE(constant_bytes(alone), 2 * kWidth * 4);
  EXPECT_EQ(constant_bytes(repeated), constant_bytes(alone));
  const size_t bytes = schedule(std::move(alone), machine, {}).constants.size();
  EXPECT_EQ(schedule(std::move(repeated), machine, {}).constants.size(), bytes);
  EXPECT_EQ(compare_with_reference(many), 3);
}

// A constant that comes from outside is the operator's own.
TEST(Blocks, TakeConstantsFromWhereTheyStand) {
  GraphBuilder main, sum("sum");
  const TensorId a = sum.input("a", DType::kInt32, {4}), k = sum.input("k", DType::kInt32, {4});
  sum.output(sum.add(a, sum.op(Op::kIdentity, {k})));
  main.add_region(std::move(sum));
  TensorId x = main.input("x", DType::kInt32, {4});
  const TensorId flag = main.input("flag", DType::kBool, {1});
  for (const double value : {1., 20., 300.}) {
    x = main.cond_if(flag, {x, main.constant(DType::kInt32, {4}, {value})}, "sum", "sum")[0];
  }
  main.output(x);
  EXPECT_EQ(compare_with_reference(main.build()), 3);
  EXPECT_EQ(constant_bytes(lowered(main.build())), 3 * 4 * 4);
}

// A graph whose first input goes out as it is, beside control flow whose results go nowhere.
template <typename Fill>
graph::Graph with_unused(Fill&& fill) {
  GraphBuilder main;
  const TensorId x = main.input("x", DType::kInt32, {1});
  fill(main, x);
  main.output(main.op(Op::kAbs, {x}));
  return main.build();
}

void add_negation(GraphBuilder& main, const std::string& name) {
  GraphBuilder b(name);
  b.output(b.op(Op::kBitwiseNot, {b.input("x", DType::kInt32, {1})}));
  main.add_region(std::move(b));
}

TensorId is_zero(GraphBuilder& b, TensorId x) { return b.op(Op::kEqual, {x, b.constant(DType::kInt32, {1}, {0.})}); }

void use_for_nothing(GraphBuilder& main, TensorId x, const std::string& then_graph) {
  add_negation(main, "other");
  static_cast<void>(main.cond_if(is_zero(main, x), {x}, then_graph, "other"));
}

size_t branches_of(const graph::Graph& graph) {
  EXPECT_EQ(compare_with_reference(graph), 3);
  return steps_of<BranchStep>(lowered(graph)).size();
}

TEST(UnusedBlocks, AreLeftOutWithWhatTheyRead) {
  const graph::Graph graph = with_unused([](GraphBuilder& main, TensorId x) { use_for_nothing(main, x, "other"); });
  EXPECT_EQ(branches_of(graph), 0U);
  EXPECT_EQ(lowered(graph).steps.size(), 1U);
  for (const SupportRow& row : support(graph, front_machine())) {
    EXPECT_EQ(row.engine, row.name == "ABS" ? "vpu" : "unused") << row.name;
  }
}

TEST(UnusedBlocks, OfBlocksOfUseAreLeftOutToo) {
  const graph::Graph graph = with_unused([](GraphBuilder& main, TensorId x) {
    add_negation(main, "inner");
    GraphBuilder outer("outer");
    const TensorId in = outer.input("x", DType::kInt32, {1});
    graph::Attributes both;
    both.then_graph = both.else_graph = "inner";
    static_cast<void>(outer.raw(Op::kCondIf, {is_zero(outer, in), in}, both, DType::kInt32, {1}));
    outer.output(outer.op(Op::kClz, {in}));
    main.add_region(std::move(outer));
    main.output(main.cond_if(is_zero(main, x), {x}, "outer", "outer")[0]);
  });
  EXPECT_EQ(branches_of(graph), 2U) << "the outer one's";
}

TEST(UnusedBlocks, ThatWriteVariablesStay) {
  const graph::Graph graph = with_unused([](GraphBuilder& main, TensorId x) {
    GraphBuilder writes("writes"), outer("outer");
    const TensorId in = writes.input("x", DType::kInt32, {1});
    writes.write(writes.variable("v", DType::kInt32, {1}, std::vector<double>{5}), in);
    writes.output(in);
    const TensorId out = outer.input("x", DType::kInt32, {1});
    graph::Attributes both;
    both.then_graph = both.else_graph = "writes";
    outer.output(outer.raw(Op::kCondIf, {is_zero(outer, out), out}, both, DType::kInt32, {1}));
    main.add_region(std::move(writes));
    main.add_region(std::move(outer));
    use_for_nothing(main, x, "outer");
    main.output(main.read(main.variable("v", DType::kInt32, {1})));
  });
  EXPECT_EQ(branches_of(graph), 4U);
}

// A loop may run into its limit, which is an error of the job.
TEST(UnusedBlocks, ThatMayNeverEndStay) {
  const graph::Graph graph = with_unused([](GraphBuilder& main, TensorId x) {
    GraphBuilder never("never");
    never.output(never.op(Op::kGreater, {never.input("x", DType::kInt32, {1}), 0}));
    main.add_region(std::move(never));
    add_negation(main, "body");
    GraphBuilder outer("outer");
    const TensorId in = outer.input("x", DType::kInt32, {1});
    graph::Attributes loop;
    loop.cond_graph = "never";
    loop.body_graph = "body";
    outer.output(outer.raw(Op::kWhileLoop, {in}, loop, DType::kInt32, {1}));
    main.add_region(std::move(outer));
    use_for_nothing(main, x, "outer");
    static_cast<void>(main.while_loop({x}, "never", "body"));
  });
  EXPECT_EQ(branches_of(graph), 6U) << "two of the branch, and of each loop two";
}

}  // namespace
}  // namespace npu::compiler::testing
