// SPDX-License-Identifier: Apache-2.0
// The run of a whole graph: inputs, constants, aliases, the observer, and errors that name tensors.
#include <set>

#include "sim/reference/operators.h"
#include "tests/unit/reference/graph_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

TEST(Registry, LacksOnlyConstants) {
  // CONST and CONST_SHAPE are the run's own work.
  const std::set<Op> lacking{Op::kUnknown, Op::kConst, Op::kConstShape};
  for (uint32_t number = 0; number < graph::kTensorOpCount; ++number) {
    const Op op = static_cast<Op>(number);
    EXPECT_EQ(find_operator(op) == nullptr, lacking.contains(op)) << graph::name(op);
  }
}

TEST(Run, ConstantsAreWidened) {
  GraphCase g;
  g.output(g.constant("four", DType::kInt4, {3}, {0x78, 0x0f}));
  g.output(g.constant("forty_eight", DType::kInt48, {2}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0x80}));
  Context context;
  const auto results = g.run({}, context);
  EXPECT_EQ(numbers_of(results[0]), (Numbers{-8, 7, -1}));
  EXPECT_EQ(numbers_of(results[1]), (Numbers{-1, 1 - (int64_t{1} << 47)}));
}

TEST(Run, OutputsMayBeInputsConstantsAndNamedTwice) {
  GraphCase g;
  const auto a = g.input("a", DType::kInt32, {1});
  const auto c = g.constant("c", DType::kInt32, {1}, {5, 0, 0, 0});
  const auto sum = g.result(Op::kAdd, {a, c}, "sum", DType::kInt32, {1});
  for (const auto id : {sum, sum, a, c}) {
    g.output(id);
  }
  Context context;
  const auto results = g.run({i32({1}, {2})}, context);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(numbers_of(results[0]), (Numbers{7}));
  EXPECT_EQ(numbers_of(results[1]), (Numbers{7}));
  EXPECT_EQ(numbers_of(results[2]), (Numbers{2}));
  EXPECT_EQ(numbers_of(results[3]), (Numbers{5}));
}

TEST(Run, ObserverSeesEveryOperatorInOrder) {
  GraphCase g;
  const auto a = g.input("a", DType::kInt32, {1});
  const auto c = g.constant("c", DType::kInt32, {1}, {5, 0, 0, 0});
  const auto sum = g.result(Op::kAdd, {a, c}, "sum", DType::kInt32, {1});
  g.result(Op::kAbs, {c}, "unused", DType::kInt32, {1});
  g.output(g.result(Op::kSub, {sum, c}, "difference", DType::kInt32, {1}));
  std::vector<std::string> seen;
  Context context;
  (void)g.run({i32({1}, {2})}, context,
              [&](size_t index, const graph::Operator& op, const std::vector<const Value*>& results) {
                seen.push_back(std::to_string(index) + std::string(graph::name(op.op)) +
                               std::to_string(numbers_of(*results.at(0))[0]));
              });
  EXPECT_EQ(seen, (std::vector<std::string>{"0CONST5", "1ADD7", "2ABS5", "3SUB2"}));
}

TEST(Run, InputsAreChecked) {
  GraphCase g;
  g.output(g.input("x", DType::kInt8, {2}));
  Context context;
  std::string message;
  const auto code = [&](const std::vector<Value>& inputs) {
    return error_of([&] { (void)g.run(inputs, context); }, &message);
  };
  EXPECT_EQ(code({}), ErrorCode::kBadInput);
  EXPECT_EQ(message, "the graph has 1 inputs and 0 were given");
  EXPECT_EQ(code({i8({3}, {1, 2, 3})}), ErrorCode::kBadInput);
  EXPECT_EQ(message, "input 'x' is INT8 [2] and was given INT8 [3]");
  EXPECT_EQ(code({i16({2}, {1, 2})}), ErrorCode::kBadInput);
  EXPECT_EQ(code({Value{DType::kInt8, {2}, {1}}}), ErrorCode::kBadInput);
  EXPECT_EQ(code({i8({2}, {1, 2})}), ErrorCode::kOk);
}

TEST(Run, InputsMustFitTheirType) {
  const auto code = [](const Value& value) {
    GraphCase g;
    g.output(g.input("x", value.type, value.shape));
    Context context;
    return error_of([&] { (void)g.run({value}, context); });
  };
  EXPECT_EQ(code(boolean({1}, {2})), ErrorCode::kBadInput);
  EXPECT_EQ(code(i48({1}, {int64_t{1} << 47})), ErrorCode::kBadInput);
  EXPECT_EQ(code(i48({1}, {-(int64_t{1} << 47)})), ErrorCode::kOk);
  EXPECT_EQ(code(value_of(DType::kInt4, {1}, {8})), ErrorCode::kBadInput);
}

TEST(Run, AbsurdSizesAreRefusedBeforeTheyAreAllocated) {
  GraphCase g;
  const auto a = g.input("a", DType::kInt8, {1, 1});
  const auto multiples = g.input("multiples", DType::kShape, {2});
  g.output(g.result(Op::kTile, {a, multiples}, "huge", DType::kInt8, {1 << 20, 1 << 20}));
  Context context;
  std::string message;
  EXPECT_EQ(error_of(
                [&] {
                  (void)g.run({i8({1, 1}, {1}), dims({1 << 20, 1 << 20})}, context);
                },
                &message),
            ErrorCode::kBudgetExceeded);
  EXPECT_NE(message.find("'huge'"), std::string::npos) << message;
}

TEST(Run, MemoryIsRefusedBeforeTheFirstOperatorRuns) {
  GraphCase g;
  const auto a = g.input("a", DType::kInt8, {1, 1});
  const auto b = g.result(Op::kIdentity, {a}, "b", DType::kInt8, {1, 1});
  const auto multiples = g.input("multiples", DType::kShape, {2});
  g.output(g.result(Op::kTile, {b, multiples}, "late", DType::kInt8, {100, 100}));
  Context context;
  int operators = 0;
  const auto count = [&](size_t, const graph::Operator&, const std::vector<const Value*>&) { ++operators; };
  // The result and its copy.
  const auto run_with = [&](int64_t bytes) {
    (void)reference::run(g.graph(), {i8({1, 1}, {1}), dims({100, 100})}, context, count, {.most_bytes = bytes});
  };
  EXPECT_EQ(error_of([&] { run_with(19'999); }), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(operators, 0);
  run_with(20'000);
  EXPECT_EQ(operators, 2);
}

TEST(Run, ATensorWithoutAValueIsNamed) {
  GraphCase g;
  const auto nothing = g.tensor("nothing", DType::kInt32, {1});
  g.output(g.result(Op::kAbs, {nothing}, "r", DType::kInt32, {1}));
  Context context;
  std::string message;
  EXPECT_EQ(error_of([&] { (void)g.run({}, context); }, &message), ErrorCode::kBadStructure);
  EXPECT_EQ(message, "tensor 'nothing' is read before it has a value");
}

}  // namespace
}  // namespace npu::reference::test
