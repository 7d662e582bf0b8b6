// SPDX-License-Identifier: Apache-2.0
// Blocks that control flow names several times: how often they are put somewhere is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compiler/lower.h"
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/support.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
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

}  // namespace
}  // namespace npu::compiler::testing
