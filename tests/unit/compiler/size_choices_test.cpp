// SPDX-License-Identifier: Apache-2.0
// Bounds for open sizes: which choices they leave, what must hold of them, and which bounds are refused.
#include "driver/compiler/size_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/unit/errors/code_of.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::Graph;
using graph::GraphBuilder;
using graph::Op;
using npu::test::code_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Bounds = std::vector<SizeBounds>;
using Sizes = std::vector<int64_t>;

Graph checked(Graph graph) {
  graph::validate(graph, graph::Sizes::kMayBeUnknown);
  return graph;
}

// x [?, 4] XOR w [?, 4]
Graph equal_sizes() {
  GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, 4}), w = b.input("w", DType::kInt8, {-1, 4});
  b.output(b.raw(Op::kBitwiseXor, {x, w}, {}, DType::kInt8, {-1, 4}));
  return checked(b.build());
}

// x [?, ?] that is reversed
Graph two_sizes() {
  GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, -1});
  b.output(b.raw(Op::kReverse, {x}, {}, DType::kInt8, {-1, -1}));
  return checked(b.build());
}

// Windows of 2 with stride 2 over x [1, ?, 4, 2].
Graph strided() {
  GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {1, 8, 4, 2});
  b.output(b.max_pool2d(x, {2, 2}, {2, 2}, {0, 0, 0, 0}));
  Graph graph = b.build();
  for (graph::Tensor& tensor : graph.main().tensors) tensor.shape[1] = -1;
  return checked(std::move(graph));
}

// Of both inputs of [?, 2] and [?, 3], one behind the other in a known number of rows.
Graph joined(int64_t rows) {
  GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, 2}), y = b.input("y", DType::kInt8, {-1, 2});
  const graph::TensorId all = b.raw(Op::kConcat, {x, y}, {}, DType::kInt8, {rows, 2});
  b.output(all);
  return checked(b.build());
}

class Choices {
 public:
  Choices(const Graph& graph, const Bounds& bounds) : inference_(infer(graph)), choices_(graph, inference_, bounds) {}
  const SizeChoices* operator->() const { return &choices_; }
  [[nodiscard]] const graph::Inference& inference() const { return inference_; }

 private:
  graph::Inference inference_;
  SizeChoices choices_;
};

ErrorCode refusal(const Graph& graph, const Bounds& bounds, std::string& text) {
  return code_of([&] { static_cast<void>(Choices(graph, bounds)); }, &text);
}

TEST(SizeChoices, AllOfARangeTheLargestFirst) {
  const Graph graph = two_sizes();
  const Choices choices(graph, {{"x.0", 2, 3}, {"x.1", 5, 6}});
  EXPECT_THAT(choices->choices(), ElementsAre(Sizes{3, 6}, Sizes{3, 5}, Sizes{2, 6}, Sizes{2, 5}));
  EXPECT_TRUE(choices->demands(choices->ranges()).empty());
}

TEST(SizeChoices, TheOrderOfBoundsIsAllTheSame) {
  const Graph graph = two_sizes();
  const Choices choices(graph, {{"x.1", 5, 6}, {"x.0", 2, 3}});
  EXPECT_EQ(choices->choices().front(), (Sizes{3, 6}));
}

TEST(SizeChoices, EqualSizesAreOneSymbolWithTheBoundsOfBoth) {
  const Graph graph = equal_sizes();
  const Choices choices(graph, {{"x.0", 2, 6}, {"w.0", 4, 9}});
  ASSERT_EQ(choices->symbols().size(), 1U);
  EXPECT_THAT(choices->choices(), ElementsAre(Sizes{6}, Sizes{5}, Sizes{4}));
  const Choices one(graph, {{"x.0", 2, 3}});
  EXPECT_THAT(one->choices(), ElementsAre(Sizes{3}, Sizes{2}));
}

TEST(SizeChoices, OnlyMultiplesOfAStride) {
  const Graph graph = strided();
  const Choices choices(graph, {{"x.1", 1, 9}});
  EXPECT_THAT(choices->choices(), ElementsAre(Sizes{8}, Sizes{6}, Sizes{4}, Sizes{2}));
  const std::vector<SizeRange> all = {{2, 9}}, one = {{6, 6}};
  const std::vector<SizeDemand> demands = choices->demands(all);
  ASSERT_EQ(demands.size(), 1U);
  EXPECT_EQ(demands[0].relation, contract::SizeRelation::kMultiple);
  EXPECT_THAT(demands[0].text, HasSubstr("MAX_POOL2D"));
  EXPECT_TRUE(choices->demands(one).empty()) << "all sizes of that box fulfil it";
}

TEST(SizeChoices, WhatFollowsFromOthersStaysWithinItsBounds) {
  const Graph graph = joined(10);
  const Choices choices(graph, {{"x.0", 1, 9}, {"y.0", 3, 5}});
  ASSERT_EQ(choices->symbols().size(), 1U);
  ASSERT_EQ(choices->choices().size(), 3U);
  const size_t id = choices->symbols()[0];
  EXPECT_TRUE(choices.inference().open.symbols()[id].name == "x.0" ||
              choices.inference().open.symbols()[id].name == "y.0");
  EXPECT_FALSE(choices->demands(std::vector<SizeRange>{{1, 9}}).empty());
}

TEST(SizeChoices, ValuesOfAChoice) {
  const Graph graph = two_sizes();
  const Choices choices(graph, {{"x.0", 2, 3}, {"x.1", 5, 6}});
  const graph::Dim first = graph::Dim::symbol(choices->symbols()[0]),
                   second = graph::Dim::symbol(choices->symbols()[1]);
  EXPECT_EQ(choices->evaluate(first * second, 1), 15);
  EXPECT_EQ(choices->evaluate(first.quotient(2), 0), std::nullopt);
}

TEST(SizeChoices, RefusesBoundsThatAreNone) {
  const Graph graph = two_sizes();
  std::string text;
  EXPECT_EQ(refusal(graph, {{"x.0", 1, 3}}, text), ErrorCode::kBadOption);
  EXPECT_THAT(text, HasSubstr("'x.1'"));
  EXPECT_EQ(refusal(graph, {{"x.0", 1, 3}, {"x.1", 1, 3}, {"x.0", 1, 3}}, text), ErrorCode::kBadOption);
  EXPECT_THAT(text, HasSubstr("twice"));
  EXPECT_EQ(refusal(graph, {{"x.0", 1, 3}, {"x.2", 1, 3}}, text), ErrorCode::kBadOption);
  EXPECT_THAT(text, HasSubstr("x.0, x.1"));
  for (const auto& [least, most] : {std::pair<int64_t, int64_t>{0, 3}, {4, 3}, {1, int64_t{1} << 32}, {-2, -1}}) {
    EXPECT_EQ(refusal(graph, {{"x.0", least, most}, {"x.1", 1, 1}}, text), ErrorCode::kBadOption);
    EXPECT_THAT(text, HasSubstr("no bounds for size 'x.0'"));
  }
}

TEST(SizeChoices, RefusesBoundsThatNoSizesFit) {
  std::string text;
  EXPECT_EQ(refusal(equal_sizes(), {{"x.0", 1, 3}, {"w.0", 4, 9}}, text), ErrorCode::kSizeMismatch);
  EXPECT_THAT(text, HasSubstr("sizes 'x.0' and 'w.0' are equal in this network, but no size is in both 1..3 and 4..9"));
  EXPECT_EQ(refusal(strided(), {{"x.1", 3, 3}}, text), ErrorCode::kSizeMismatch);
  EXPECT_EQ(refusal(joined(10), {{"x.0", 1, 3}, {"y.0", 1, 3}}, text), ErrorCode::kSizeMismatch);
}

TEST(SizeChoices, RefusesBoundsForASizeThatIsDecided) {
  GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, -1}), w = b.input("w", DType::kInt8, {-1, 4});
  b.output(b.raw(Op::kBitwiseXor, {x, w}, {}, DType::kInt8, {-1, -1}));
  const Graph graph = checked(b.build());
  std::string text;
  EXPECT_EQ(refusal(graph, {{"x.0", 1, 3}, {"x.1", 1, 8}}, text), ErrorCode::kBadOption);
  EXPECT_THAT(text, HasSubstr("size 'x.1' is 4 in this network, whatever the other sizes are, not 1..8"));
  EXPECT_EQ(refusal(graph, {{"x.0", 1, 3}, {"x.1", 5, 8}}, text), ErrorCode::kSizeMismatch);
  const Choices choices(graph, {{"x.0", 1, 3}, {"x.1", 4, 4}});
  EXPECT_EQ(choices->choices().size(), 3U);
}

TEST(SizeChoices, RefusesAGraphOfKnownSizes) {
  GraphBuilder b;
  b.output(b.reverse(b.input("x", DType::kInt8, {2, 2}), 0));
  std::string text;
  EXPECT_EQ(refusal(checked(b.build()), {}, text), ErrorCode::kBadOption);
  EXPECT_THAT(text, HasSubstr("no size open"));
  EXPECT_EQ(refusal(checked(b.build()), {{"x.0", 1, 2}}, text), ErrorCode::kBadOption);
  EXPECT_THAT(text, HasSubstr("none"));
}

TEST(SizeChoices, RefusesMoreChoicesThanItLooksAt) {
  const Graph graph = two_sizes();
  std::string text;
  EXPECT_EQ(refusal(graph, {{"x.0", 1, 1 << 10}, {"x.1", 1, 17}}, text), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(refusal(graph, {{"x.0", 1, graph::kMostSize}, {"x.1", 1, graph::kMostSize}}, text),
            ErrorCode::kBudgetExceeded);
  const Choices most(graph, {{"x.0", 1, 1 << 10}, {"x.1", 1, 16}});
  EXPECT_EQ(most->choices().size(), kMostChoices);
}

TEST(SizeChoices, AsManySizesAsAJobBrings) {
  const auto inputs = [](uint32_t count) {
    GraphBuilder b;
    for (uint32_t i = 0; i < count; ++i) {
      const graph::TensorId x = b.input("x" + std::to_string(i), DType::kInt8, {-1});
      b.output(b.raw(Op::kReverse, {x}, {}, DType::kInt8, {-1}));
    }
    return checked(b.build());
  };
  const auto bounds = [](uint32_t count) {
    Bounds bounds;
    for (uint32_t i = 0; i < count; ++i) bounds.push_back({"x" + std::to_string(i) + ".0", 1, 1});
    return bounds;
  };
  std::string text;
  EXPECT_EQ(refusal(inputs(contract::kMostSymbols), bounds(contract::kMostSymbols), text), ErrorCode::kOk) << text;
  EXPECT_EQ(refusal(inputs(contract::kMostSymbols + 1), bounds(contract::kMostSymbols + 1), text),
            ErrorCode::kArgumentUnsupported);
}

TEST(BoxOf, HoldsAllThatAreTaken) {
  const std::vector<Sizes> choices = {{3, 4}, {3, 2}, {2, 4}, {1, 1}};
  std::vector<bool> taken(4, true);
  const std::vector<SizeRange> box = box_of(choices, 0, taken);
  EXPECT_EQ(box[0].least, 1);
  EXPECT_EQ(box[0].most, 3);
  EXPECT_EQ(box[1].least, 1);
  EXPECT_EQ(box[1].most, 4);
  EXPECT_THAT(taken, ElementsAre(true, true, true, true));
}

TEST(BoxOf, LeavesOutWhatIsNotTaken) {
  std::vector<Sizes> choices;
  for (int64_t x = 5; x >= 1; --x) {
    for (int64_t y = 5; y >= 1; --y) choices.push_back({x, y});
  }
  std::vector<bool> taken;
  for (const Sizes& choice : choices) taken.push_back(choice != Sizes{5, 1} && choice[0] != 1);
  const std::vector<SizeRange> box = box_of(choices, 0, taken);
  EXPECT_EQ(box[0].least, 2);
  EXPECT_EQ(box[1].least, 2);
  for (size_t c = 0; c < choices.size(); ++c) EXPECT_EQ(taken[c], choices[c][0] >= 2 && choices[c][1] >= 2);
}

TEST(BoxOf, RandomBoxesHoldTheLargestAndNothingThatIsNotTaken) {
  std::mt19937 random(5);
  int kept = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Sizes> choices;
    for (int64_t x = 6; x >= 1; --x) {
      for (int64_t y = 5; y >= 1; --y) {
        if (random() % 4 > 0 || choices.empty()) choices.push_back({x, y});
      }
    }
    std::vector<bool> before(choices.size());
    for (size_t c = 0; c < choices.size(); ++c) before[c] = c == 0 || random() % 8 > 0;
    std::vector<bool> taken = before;
    const std::vector<SizeRange> box = box_of(choices, 0, taken);
    EXPECT_TRUE(taken[0]);
    for (size_t c = 0; c < choices.size(); ++c) {
      const bool inside = choices[c][0] >= box[0].least && choices[c][0] <= box[0].most &&
                          choices[c][1] >= box[1].least && choices[c][1] <= box[1].most;
      EXPECT_EQ(taken[c], inside);
      EXPECT_TRUE(before[c] || !inside);
      kept += taken[c] ? 1 : 0;
    }
    if (HasFailure()) FAIL() << "trial " << trial;
  }
  std::cout << kept << " choices kept\n";
  EXPECT_GT(kept, 1500);
}

}  // namespace
}  // namespace npu::compiler
