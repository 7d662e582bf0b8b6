// SPDX-License-Identifier: Apache-2.0
// The rules of persistent variables across executions and graphs of one context.
#include <iostream>

#include "tests/unit/reference/graph_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

// state = state + x, gives the old and the new state.
struct Counter : GraphCase {
  explicit Counter(const std::vector<uint8_t>& initial, const std::string& identity = "state") {
    const auto x = input("x", DType::kInt32, {1});
    const auto state = variable(identity, DType::kInt32, {1}, initial);
    const auto before = result(Op::kVariableRead, {state}, "before", DType::kInt32, {1});
    const auto sum = result(Op::kAdd, {before, x}, "sum", DType::kInt32, {1});
    write(sum, state);
    const auto after = result(Op::kVariableRead, {state}, "after", DType::kInt32, {1});
    output(before);
    output(after);
  }
  Numbers step(int64_t x, Context& context) const {
    const auto results = run({i32({1}, {x})}, context);
    return {numbers_of(results[0])[0], numbers_of(results[1])[0]};
  }
};

TEST(ReferenceVariables, LiveAcrossExecutions) {
  const Counter counter({100, 0, 0, 0});
  Context context;
  EXPECT_EQ(counter.step(1, context), (Numbers{100, 101}));
  EXPECT_EQ(counter.step(10, context), (Numbers{101, 111}));
  context.clear();  // the initial value applies again
  EXPECT_EQ(counter.step(1, context), (Numbers{100, 101}));
}

TEST(ReferenceVariables, ClearOfOneLeavesTheOthers) {
  const Counter one({100, 0, 0, 0}), other({7, 0, 0, 0}, "other");
  Context context;
  (void)one.step(1, context);
  (void)other.step(1, context);
  EXPECT_FALSE(context.clear("third"));
  EXPECT_TRUE(context.clear("state"));
  EXPECT_FALSE(context.clear("state"));
  EXPECT_EQ(other.step(1, context), (Numbers{8, 9}));
  EXPECT_EQ(one.step(1, context), (Numbers{100, 101}));
}

TEST(ReferenceVariables, ContextsDoNotSeeEachOther) {
  const Counter counter({100, 0, 0, 0});
  Context one, other;
  (void)counter.step(1, one);
  EXPECT_EQ(counter.step(1, other), (Numbers{100, 101}));
}

TEST(ReferenceVariables, GraphsOfAContextShareByIdentity) {
  const Counter first({100, 0, 0, 0});
  const Counter second({7, 0, 0, 0});  // comes too late: the variable exists
  const Counter apart({7, 0, 0, 0}, "other");
  Context context;
  (void)first.step(1, context);
  EXPECT_EQ(second.step(1, context), (Numbers{101, 102}));
  EXPECT_EQ(apart.step(1, context), (Numbers{7, 8}));
}

TEST(ReferenceVariables, MemoryIsBounded) {
  const Counter counter({100, 0, 0, 0});
  Context context;
  const auto run_with = [&](int64_t most_bytes) {
    return run(counter.graph(), {i32({1}, {1})}, context, {}, {.most_bytes = most_bytes});
  };
  EXPECT_EQ(error_of([&] { (void)run_with(3); }), ErrorCode::kBudgetExceeded);
  EXPECT_TRUE(context.variables.empty());
  EXPECT_NO_THROW((void)run_with(1000));
}

TEST(ReferenceVariables, NothingStaysAfterAFailureOrAClear) {
  const Counter counter({1, 0, 0, 0});
  GraphCase other;
  other.variable("new", DType::kInt32, {1});
  other.variable("state", DType::kInt32, {2});
  Context context;
  (void)counter.step(1, context);
  EXPECT_EQ(error_of([&] { (void)other.run({}, context); }), ErrorCode::kVariableMismatch);
  EXPECT_EQ(context.variables.size(), 1u);
  context.clear();
  EXPECT_TRUE(context.variables.empty());
}

TEST(ReferenceVariables, ReadBeforeWriteIsUnpredictable) {
  const Counter counter({});
  Context context;
  std::string message;
  EXPECT_EQ(error_of([&] { (void)counter.step(1, context); }, &message), ErrorCode::kVariableUnwritten);
  EXPECT_NE(message.find("VARIABLE_READ 'before'"), std::string::npos) << message;
  EXPECT_NE(message.find("'state'"), std::string::npos) << message;
  EXPECT_FALSE(context.variables.at("state").is_written);
}

TEST(ReferenceVariables, WriteMakesItReadable) {
  GraphCase g;
  const auto x = g.input("x", DType::kInt8, {2});
  const auto state = g.variable("state", DType::kInt8, {2});
  g.write(x, state);
  g.output(g.result(Op::kVariableRead, {state}, "after", DType::kInt8, {2}));
  Context context;
  EXPECT_EQ(numbers_of(g.run({i8({2}, {3, -4})}, context)[0]), (Numbers{3, -4}));
  EXPECT_TRUE(context.variables.at("state").is_written);
  EXPECT_EQ(numbers_of(context.variables.at("state").value), (Numbers{3, -4}));
}

TEST(ReferenceVariables, TwoWritesKeepTheirOrder) {
  GraphCase g;
  const auto x = g.input("x", DType::kInt32, {1});
  const auto state = g.variable("state", DType::kInt32, {1}, {5, 0, 0, 0});
  g.write(x, state);
  const auto first = g.result(Op::kVariableRead, {state}, "first", DType::kInt32, {1});
  const auto twice = g.result(Op::kAdd, {first, x}, "twice", DType::kInt32, {1});
  g.write(twice, state);
  const auto second = g.result(Op::kVariableRead, {state}, "second", DType::kInt32, {1});
  g.output(first);
  g.output(second);
  Context context;
  const auto results = g.run({i32({1}, {4})}, context);
  EXPECT_EQ(numbers_of(results[0]), (Numbers{4}));
  EXPECT_EQ(numbers_of(results[1]), (Numbers{8}));
}

TEST(ReferenceVariables, DeclarationByOperatorMustComeFirst) {
  GraphCase g;
  const auto state = g.variable("state", DType::kInt32, {1}, {5, 0, 0, 0});
  const auto early = g.result(Op::kVariableRead, {state}, "early", DType::kInt32, {1});
  g.declare(state);
  g.output(early);
  Context context;
  EXPECT_EQ(error_of([&] { (void)g.run({}, context); }), ErrorCode::kVariableUndeclared);
}

TEST(ReferenceVariables, DeclarationByOperator) {
  GraphCase g;
  const auto state = g.variable("state", DType::kInt32, {1}, {5, 0, 0, 0});
  g.declare(state);
  g.output(g.result(Op::kVariableRead, {state}, "value", DType::kInt32, {1}));
  Context context;
  EXPECT_EQ(numbers_of(g.run({}, context)[0]), (Numbers{5}));
  EXPECT_EQ(numbers_of(g.run({}, context)[0]), (Numbers{5}));  // declared again in the next execution
  g.declare(state);
  std::string message;
  EXPECT_EQ(error_of([&] { (void)g.run({}, context); }, &message), ErrorCode::kVariableRedeclared);
  EXPECT_NE(message.find("'state' is declared twice in one execution"), std::string::npos) << message;
}

TEST(ReferenceVariables, RedeclaringWithAnotherShapeNamesBoth) {
  const Counter counter({1, 0, 0, 0});
  GraphCase other;
  other.variable("state", DType::kInt32, {2});
  Context context;
  (void)counter.step(1, context);
  std::string message;
  EXPECT_EQ(error_of([&] { (void)other.run({}, context); }, &message), ErrorCode::kVariableMismatch);
  EXPECT_NE(message.find("'state' is declared as INT32 [2], but this context already holds it as INT32 [1]"),
            std::string::npos)
      << message;
}

TEST(ReferenceVariables, AccessWithAnotherTypeOrShapeFails) {
  GraphCase reads;
  const auto a = reads.variable("state", DType::kInt8, {1, 2}, {1, 2});
  reads.output(reads.result(Op::kVariableRead, {a}, "r", DType::kInt8, {2, 1}));
  GraphCase writes;
  const auto x = writes.input("x", DType::kInt16, {1, 2});
  writes.write(x, writes.variable("state", DType::kInt8, {1, 2}, {1, 2}));
  Context context;
  EXPECT_EQ(error_of([&] { (void)reads.run({}, context); }), ErrorCode::kVariableMismatch);
  EXPECT_EQ(error_of([&] { (void)writes.run({i16({1, 2}, {1, 2})}, context); }), ErrorCode::kVariableMismatch);
}

class VariableTypes : public testing::TestWithParam<DType> {};

// Each execution gives the old value and writes its input.
TEST_P(VariableTypes, LiveAcrossExecutions) {
  constexpr int64_t kLength = 5, kSteps = 4;
  const auto bytes = static_cast<size_t>(kLength * graph::machine_width(GetParam()));
  GraphCase g;
  const auto x = g.input("x", GetParam(), {kLength});
  const auto state = g.variable("state", GetParam(), {kLength}, std::vector<uint8_t>(bytes));
  g.output(g.result(Op::kVariableRead, {state}, "before", GetParam(), {kLength}));
  g.write(x, state);
  Context context;
  std::vector<uint8_t> held(bytes);
  int64_t compared = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    Value value{GetParam(), {kLength}, std::vector<uint8_t>(bytes)};
    for (size_t i = 0; i < bytes; ++i) {
      const size_t pattern = 29 * i + 11 * static_cast<size_t>(step) + 1;
      value.bytes[i] = static_cast<uint8_t>(pattern % (GetParam() == DType::kBool ? 2 : 64));  // no NaN
    }
    const auto results = g.run({value}, context);
    EXPECT_EQ(results.at(0).bytes, held) << "step " << step;
    held = value.bytes;
    EXPECT_EQ(context.variables.at("state").value.bytes, held) << "step " << step;
    compared += 2 * kLength;
  }
  std::cout << compared << " elements compared\n";
}

INSTANTIATE_TEST_SUITE_P(All, VariableTypes,
                         testing::Values(DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32, DType::kBf16,
                                         DType::kFp16, DType::kFp32),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

}  // namespace
}  // namespace npu::reference::test
