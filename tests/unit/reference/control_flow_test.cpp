// SPDX-License-Identifier: Apache-2.0
// COND_IF, WHILE_LOOP and CUSTOM: values, nesting, budgets, and what is said when something is missing.
#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

using graph::GraphBuilder;
using graph::TensorId;
using Numbers = std::vector<int64_t>;

// A region that gives `op`(x, constant) of INT32 [2].
GraphBuilder region_of(const std::string& name, Op op, double constant) {
  GraphBuilder region(name);
  const TensorId x = region.input("x", DType::kInt32, {2});
  region.output(region.op(op, {x, region.constant(DType::kInt32, {2}, {constant})}));
  return region;
}

// A region whose condition is x[0] < limit, for loops over INT32 [2].
GraphBuilder below(const std::string& name, double limit) {
  GraphBuilder region(name);
  const TensorId x = region.input("x", DType::kInt32, {2});
  const TensorId first = region.slice(x, {0}, {1});
  region.output(region.op(Op::kGreater, {region.constant(DType::kInt32, {1}, {limit}), first}));
  return region;
}

std::vector<Value> run_valid(const graph::Graph& graph, const std::vector<Value>& inputs, const Options& options = {}) {
  graph::validate(graph);
  Context context;
  return run(graph, inputs, context, {}, options);
}

graph::Graph branches() {
  GraphBuilder b;
  b.add_region(region_of("plus", Op::kAdd, 10));
  b.add_region(region_of("minus", Op::kSub, 1));
  const TensorId flag = b.input("flag", DType::kBool, {1, 1});
  b.output(b.cond_if(flag, {b.input("x", DType::kInt32, {2})}, "plus", "minus")[0]);
  return b.build();
}

TEST(CondIf, TakesOneBranch) {
  EXPECT_EQ(numbers_of(run_valid(branches(), {boolean({1, 1}, {1}), i32({2}, {1, 2})})[0]), (Numbers{11, 12}));
  EXPECT_EQ(numbers_of(run_valid(branches(), {boolean({1, 1}, {0}), i32({2}, {1, 2})})[0]), (Numbers{0, 1}));
}

TEST(CondIf, OnlyTheTakenBranchCanFail) {
  GraphBuilder b;
  b.add_region(region_of("safe", Op::kAdd, 1));
  b.add_region(region_of("zero", Op::kIntDiv, 0));
  const TensorId flag = b.input("flag", DType::kBool, {});
  b.output(b.cond_if(flag, {b.input("x", DType::kInt32, {2})}, "safe", "zero")[0]);
  const graph::Graph graph = b.build();
  EXPECT_EQ(numbers_of(run_valid(graph, {boolean({}, {1}), i32({2}, {1, 2})})[0]), (Numbers{2, 3}));
  std::string message;
  EXPECT_EQ(error_of(
                [&] {
                  (void)run_valid(graph, {boolean({}, {0}), i32({2}, {1, 2})});
                },
                &message),
            ErrorCode::kRequireFailed);
  EXPECT_NE(message.find("INTDIV"), std::string::npos) << message;
  EXPECT_NE(message.find("(in COND_IF"), std::string::npos) << message;
}

TEST(WhileLoop, RepeatsItsBody) {
  GraphBuilder b;
  b.add_region(below("go_on", 7));
  b.add_region(region_of("step", Op::kAdd, 2));
  b.output(b.while_loop({b.input("x", DType::kInt32, {2})}, "go_on", "step")[0]);
  const graph::Graph graph = b.build();
  EXPECT_EQ(numbers_of(run_valid(graph, {i32({2}, {0, 100})})[0]), (Numbers{8, 108}));
  EXPECT_EQ(numbers_of(run_valid(graph, {i32({2}, {7, 100})})[0]), (Numbers{7, 100})) << "no iteration at all";
}

TEST(WhileLoop, CarriesSeveralValues) {
  // (n, a, b) -> (n - 1, b, a + b): Fibonacci.
  GraphBuilder go_on("go_on"), step("step"), main;
  std::vector<TensorId> inner, outer;
  for (const char* name : {"n", "a", "b"}) {
    go_on.input(name, DType::kInt32, {});
    inner.push_back(step.input(name, DType::kInt32, {}));
    outer.push_back(main.input(name, DType::kInt32, {}));
  }
  go_on.output(go_on.op(Op::kGreater, {0, go_on.constant(DType::kInt32, {}, {0})}));
  step.output(step.sub(inner[0], step.constant(DType::kInt32, {}, {1})));
  step.output(inner[2]);
  step.output(step.add(inner[1], inner[2]));
  main.add_region(go_on);
  main.add_region(step);
  for (const TensorId result : main.while_loop(outer, "go_on", "step")) {
    main.output(result);
  }
  const auto results = run_valid(main.build(), {i32({}, {20}), i32({}, {0}), i32({}, {1})});
  EXPECT_EQ(numbers_of(results[0]), Numbers{0});
  EXPECT_EQ(numbers_of(results[1]), Numbers{6765});
  EXPECT_EQ(numbers_of(results[2]), Numbers{10946});
}

// A loop whose body is a condition whose branch is a loop.
graph::Graph nested() {
  GraphBuilder b;
  b.add_region(below("outer_more", 100));
  b.add_region(below("inner_more", 50));
  b.add_region(region_of("double", Op::kAdd, 5));
  b.add_region(region_of("finish", Op::kAdd, 60));
  GraphBuilder inner("inner");
  inner.add_region(below("inner_more", 50));
  inner.add_region(region_of("double", Op::kAdd, 5));
  inner.output(inner.while_loop({inner.input("x", DType::kInt32, {2})}, "inner_more", "double")[0]);
  graph::Graph inner_alone = inner.build();
  GraphBuilder body("body");
  const TensorId x = body.input("x", DType::kInt32, {2});
  const TensorId small = body.op(Op::kGreater, {body.constant(DType::kInt32, {1}, {50}), body.slice(x, {0}, {1})});
  graph::Attributes branch;
  branch.then_graph = "inner";
  branch.else_graph = "finish";
  body.output(body.raw(Op::kCondIf, {small, x}, branch, DType::kInt32, {2}));
  b.add_region(body);
  graph::Attributes loop;
  loop.cond_graph = "outer_more";
  loop.body_graph = "body";
  b.output(b.raw(Op::kWhileLoop, {b.input("x", DType::kInt32, {2})}, loop, DType::kInt32, {2}));
  graph::Graph graph = b.build();
  graph.regions.push_back(inner_alone.regions.front());
  for (auto& owner : inner_alone.storage) {
    graph.storage.push_back(owner);
  }
  return graph;
}

TEST(ControlFlow, Nests) {
  // 3 -> 53 by fives (10 iterations), then + 60.
  EXPECT_EQ(numbers_of(run_valid(nested(), {i32({2}, {3, 0})})[0]), (Numbers{113, 110}));
}

TEST(ControlFlow, IterationsOfAllLoopsAndBranchesCount) {
  // 2 of the outer loop, 10 of the inner, 2 branches.
  EXPECT_NO_THROW((void)run_valid(nested(), {i32({2}, {3, 0})}, {.most_iterations = 14}));
  std::string message;
  EXPECT_EQ(error_of(
                [] {
                  (void)run_valid(nested(), {i32({2}, {3, 0})}, {.most_iterations = 13});
                },
                &message),
            ErrorCode::kBudgetExceeded);
  EXPECT_NE(message.find("COND_IF"), std::string::npos) << message;
  EXPECT_NE(message.find("the limit of 13 iterations"), std::string::npos) << message;
}

// A few regions that each enter the next one twice: 2^40 branches.
TEST(ControlFlow, BranchesOfBranchesStop) {
  constexpr int kRegions = 40;
  GraphBuilder b;
  const auto name = [](int number) { return std::string("r").append(std::to_string(number)); };
  b.add_region(region_of(name(0), Op::kAdd, 1));
  for (int i = 1; i < kRegions; ++i) {
    GraphBuilder region(name(i));
    graph::Attributes branch;
    branch.then_graph = branch.else_graph = name(i - 1);
    const TensorId flag = region.constant(DType::kBool, {1}, {1});
    TensorId x = region.input("x", DType::kInt32, {2});
    for (int twice = 0; twice < 2; ++twice) {
      x = region.raw(Op::kCondIf, {flag, x}, branch, DType::kInt32, {2});
    }
    region.output(x);
    b.add_region(region);
  }
  const std::string last = name(kRegions - 1);
  const TensorId flag = b.constant(DType::kBool, {1}, {1});
  b.output(b.cond_if(flag, {b.input("x", DType::kInt32, {2})}, last, last)[0]);
  const graph::Graph graph = b.build();
  EXPECT_EQ(error_of([&] {
              (void)run_valid(graph, {i32({2}, {0, 0})}, {.most_iterations = 1000});
            }),
            ErrorCode::kBudgetExceeded);
}

TEST(ControlFlow, AnEndlessLoopStops) {
  GraphBuilder b;
  b.add_region(below("go_on", 7));
  b.add_region(region_of("step", Op::kAdd, 0));
  b.output(b.while_loop({b.input("x", DType::kInt32, {2})}, "go_on", "step")[0]);
  const graph::Graph graph = b.build();
  EXPECT_EQ(error_of([&] {
              (void)run_valid(graph, {i32({2}, {0, 0})}, {.most_iterations = 1000});
            }),
            ErrorCode::kBudgetExceeded);
  std::string message;
  EXPECT_EQ(error_of(
                [&] {
                  (void)run_valid(graph, {i32({2}, {0, 0})}, {.most_work = 1000});
                },
                &message),
            ErrorCode::kBudgetExceeded);
  EXPECT_NE(message.find("elements and products"), std::string::npos) << message;
}

TEST(ControlFlow, WorkAndMemoryAreBoundedBeforeTheyAreSpent) {
  GraphBuilder b;
  const TensorId a = b.input("a", DType::kInt8, {1, 100, 100});
  b.output(b.matmul(a, b.input("b", DType::kInt8, {1, 100, 100})));
  const graph::Graph graph = b.build();
  const Value zeros = i8({1, 100, 100}, Numbers(10000, 0));
  EXPECT_EQ(error_of([&] {
              (void)run_valid(graph, {zeros, zeros}, {.most_work = 1'000'000});
            }),
            ErrorCode::kBudgetExceeded);
  EXPECT_NO_THROW((void)run_valid(graph, {zeros, zeros}, {.most_work = 1'100'000}));
  EXPECT_EQ(error_of([&] {
              (void)run_valid(graph, {zeros, zeros}, {.most_bytes = 39'999});
            }),
            ErrorCode::kBudgetExceeded);
}

// Each copy of an output takes memory, and a file can name one output any number of times.
TEST(ControlFlow, MemoryOfRepeatedOutputsIsBounded) {
  constexpr int kOutputs = 100;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1000});
  for (int i = 0; i < kOutputs; ++i) {
    b.output(x);
  }
  const graph::Graph graph = b.build();
  const Value zeros = i8({1000}, Numbers(1000, 0));
  EXPECT_EQ(error_of([&] { (void)run_valid(graph, {zeros}, {.most_bytes = 99'999}); }), ErrorCode::kBudgetExceeded);
  EXPECT_EQ(run_valid(graph, {zeros}, {.most_bytes = 100'000}).size(), static_cast<size_t>(kOutputs));
}

TEST(ControlFlow, ARegionThatIsNotThereOrCallsItselfIsAnError) {
  graph::Graph graph = branches();
  graph.main().operators.back().attributes.then_graph = "nowhere";
  Context context;
  EXPECT_EQ(error_of([&] {
              (void)run(graph, {boolean({1, 1}, {1}), i32({2}, {1, 2})}, context);
            }),
            ErrorCode::kBadStructure);
  // Not validated: the recursion must still end.
  graph.main().operators.back().attributes.then_graph = graph.regions.front().name;
  graph.main().inputs = {graph.main().inputs[1], graph.main().inputs[0]};
  graph.main().operators.back().inputs = {graph.main().inputs[1], graph.main().inputs[0], graph.main().inputs[1]};
  std::string message;
  EXPECT_EQ(error_of(
                [&] {
                  (void)run(graph, {i32({2}, {1, 2}), boolean({1, 1}, {1})}, context);
                },
                &message),
            ErrorCode::kBadStructure);
  EXPECT_NE(message.find("nested deeper than 256"), std::string::npos) << message;
}

TEST(ControlFlow, TheLevelIsCheckedBeforeAnythingRuns) {
  GraphBuilder b;
  b.output(b.op(Op::kAbs, {b.input("x", DType::kInt32, {1, 1, 1, 1, 1, 1, 2})}));
  const graph::Graph graph = b.build();
  const Value x = i32({1, 1, 1, 1, 1, 1, 2}, {-1, 2});
  EXPECT_EQ(numbers_of(run_valid(graph, {x}, {.level = graph::Level::kNone})[0]), (Numbers{1, 2}));
  EXPECT_EQ(error_of([&] { (void)run_valid(graph, {x}, {.level = graph::Level::k8K}); }), ErrorCode::kBadShape);
}

graph::Graph custom_graph() {
  GraphBuilder b;
  graph::Attributes a;
  a.custom_domain = "test";
  a.custom_operator = "swap";
  const auto results = b.ops(Op::kCustom, {b.input("x", DType::kInt32, {2}), b.input("y", DType::kInt32, {2})}, a,
                             {DType::kInt32, DType::kInt32});
  b.output(results[0]);
  b.output(results[1]);
  graph::Graph graph = b.build();
  for (const TensorId id : results) {
    graph.main().tensors[id].shape = {2};
  }
  return graph;
}

TEST(Custom, RunsWhatIsRegistered) {
  CustomOperators custom;
  custom.add("test", "swap", [](Call& call) {
    call.output(0).bytes = call.input(1).bytes;
    call.output(1).bytes = call.input(0).bytes;
  });
  const std::vector<Value> inputs = {i32({2}, {1, 2}), i32({2}, {3, 4})};
  const auto results = run_valid(custom_graph(), inputs, {.custom = &custom});
  EXPECT_EQ(numbers_of(results[0]), (Numbers{3, 4}));
  EXPECT_EQ(numbers_of(results[1]), (Numbers{1, 2}));
  custom.add("test", "swap", [](Call& call) { call.output(0).bytes.clear(); });
  EXPECT_EQ(error_of([&] { (void)run_valid(custom_graph(), inputs, {.custom = &custom}); }), ErrorCode::kBadInput);
}

TEST(Custom, UnknownOnesAreNamed) {
  CustomOperators custom;
  custom.add("other", "swap", [](Call&) {});
  std::string message;
  for (const CustomOperators* known : {static_cast<const CustomOperators*>(nullptr), &std::as_const(custom)}) {
    EXPECT_EQ(error_of(
                  [&] {
                    (void)run_valid(custom_graph(), {i32({2}, {1, 2}), i32({2}, {3, 4})}, {.custom = known});
                  },
                  &message),
              ErrorCode::kOperatorUnsupported);
    EXPECT_NE(message.find("'swap' of 'test'"), std::string::npos) << message;
  }
}

// Operands that must be constant without EXT-DYNAMIC may come as inputs; their rules hold when they are known.
TEST(Dynamic, ZeroPointsAreCheckedAtRunTime) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt16, {2});
  const TensorId zp = b.input("zp", DType::kInt16, {1});
  b.output(b.op(Op::kNegate, {x, zp, zp}));
  const graph::Graph graph = b.build();
  EXPECT_EQ(numbers_of(run_valid(graph, {i16({2}, {5, -6}), i16({1}, {0})})[0]), (Numbers{-5, 6}));
  EXPECT_EQ(error_of([&] { (void)run_valid(graph, {i16({2}, {5, -6}), i16({1}, {1})}); }), ErrorCode::kBadArgument);
}

TEST(Dynamic, ShiftsAndMultipliersAreRequirements) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {2});
  const TensorId zero = b.constant(DType::kInt32, {1}, {0});
  graph::Attributes a;
  a.scale32 = true;
  a.rounding_mode = graph::RoundingMode::kInexactRound;  // executed as SINGLE_ROUND
  b.output(b.op(Op::kRescale,
                {x, b.input("multiplier", DType::kInt32, {1}), b.input("shift", DType::kInt8, {1}), zero, zero}, a,
                DType::kInt32));
  const graph::Graph graph = b.build();
  const Value value = i32({2}, {6, -7});
  EXPECT_EQ(numbers_of(run_valid(graph, {value, i32({1}, {1 << 30}), i8({1}, {31})})[0]), (Numbers{3, -3}));
  EXPECT_EQ(error_of([&] {
              (void)run_valid(graph, {value, i32({1}, {1 << 30}), i8({1}, {1})});
            }),
            ErrorCode::kRequireFailed);
  EXPECT_EQ(error_of([&] {
              (void)run_valid(graph, {value, i32({1}, {-1}), i8({1}, {31})});
            }),
            ErrorCode::kRequireFailed);
}

}  // namespace
}  // namespace npu::reference::test
