// SPDX-License-Identifier: Apache-2.0
// Variables that blocks of control flow declare: the device knows at each use what the reference knows.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>

#include "driver/graph/builder.h"
#include "tests/system/control/both.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

constexpr int64_t kElements = 48;

graph::Value all(uint8_t value) {
  return {DType::kInt8, {kElements}, std::vector<uint8_t>(static_cast<size_t>(kElements), value)};
}
graph::Value boolean(bool value) { return {DType::kBool, {1}, {value ? uint8_t{1} : uint8_t{0}}}; }
graph::Value number(int32_t value) {
  graph::Value result{DType::kInt32, {1}, std::vector<uint8_t>(4)};
  std::memcpy(result.bytes.data(), &value, 4);
  return result;
}

// What a branch does with the variable, one behind the other.
struct Does {
  bool declare = false, write = false, read = false;
};

TensorId variable(GraphBuilder& b, std::optional<double> initial) {
  if (!initial) return b.variable("v", DType::kInt8, {kElements});
  return b.variable("v", DType::kInt8, {kElements}, std::vector<double>(static_cast<size_t>(kElements), *initial));
}

std::string branch(GraphBuilder& outer, const std::string& name, const Does& does, std::optional<double> initial) {
  GraphBuilder b(name);
  TensorId x = b.input("x", DType::kInt8, {kElements});
  const TensorId v = variable(b, initial);
  if (does.declare) b.declare(v);
  if (does.read) x = b.op(graph::Op::kBitwiseXor, {x, b.read(v)});
  if (does.write) b.write(v, x);
  b.output(b.op(graph::Op::kBitwiseNot, {x}));
  outer.add_region(std::move(b));
  return name;
}

// Two constructs, each with a flag of its own: `first` where the flag is true, nothing else where it is false.
graph::Graph two_branches(const Does& first, const Does& second, std::optional<double> initial = 5) {
  GraphBuilder b;
  const TensorId p = b.input("p", DType::kBool, {1}), q = b.input("q", DType::kBool, {1});
  const TensorId x = b.input("x", DType::kInt8, {kElements});
  const std::string nothing = branch(b, "nothing", {}, initial);
  const TensorId y = b.cond_if(p, {x}, branch(b, "first", first, initial), nothing)[0];
  b.output(b.cond_if(q, {y}, branch(b, "second", second, initial), nothing)[0], "y");
  return b.build();
}

class LateDeclarations : public testing::TestWithParam<bool> {
 protected:
  void expect(Both& both, size_t graph, const std::vector<graph::Value>& inputs, ErrorCode code) {
    const Both::Ends ends = both.run(graph, inputs);
    EXPECT_EQ(contract::name(ends.reference), contract::name(code));
    EXPECT_EQ(contract::name(ends.device), contract::name(code)) << ends.text;
    if (code == ErrorCode::kOk) {
      EXPECT_EQ(both.difference(graph), "");
    } else {
      EXPECT_NE(ends.text.find("'v'"), std::string::npos) << ends.text;
    }
  }
  [[nodiscard]] static runtime::ContextOptions context_options() {
    runtime::ContextOptions options;
    options.double_buffer = GetParam();
    return options;
  }

  runtime::Device device_ = open_device(options("edge", model::Mode::kFunctional));
};

TEST_P(LateDeclarations, AnEarlierExecutionsValueIsRead) {
  Both both(device_, context_options());
  const size_t graph = both.load(two_branches({.declare = true, .write = true}, {.read = true}));
  expect(both, graph, {boolean(false), boolean(true), all(1)}, ErrorCode::kVariableUndeclared);
  expect(both, graph, {boolean(false), boolean(false), all(2)}, ErrorCode::kOk);
  EXPECT_FALSE(both.context().variables().at(0).is_written);
  EXPECT_EQ(both.context().variables().at(0).invocations, 0U);
  expect(both, graph, {boolean(true), boolean(false), all(3)}, ErrorCode::kOk);
  EXPECT_EQ(both.context().variables().at(0).invocations, 1U);
  expect(both, graph, {boolean(false), boolean(true), all(4)}, ErrorCode::kOk);
  expect(both, graph, {boolean(true), boolean(true), all(5)}, ErrorCode::kOk);
}

TEST_P(LateDeclarations, AWriteNeedsOneInItsExecution) {
  Both both(device_, context_options());
  const size_t graph = both.load(two_branches({.declare = true}, {.write = true}));
  expect(both, graph, {boolean(true), boolean(true), all(1)}, ErrorCode::kOk);
  expect(both, graph, {boolean(false), boolean(true), all(2)}, ErrorCode::kVariableUndeclared);
  expect(both, graph, {boolean(true), boolean(false), all(3)}, ErrorCode::kOk);
}

TEST_P(LateDeclarations, TwoInOneExecutionAreOneTooMany) {
  Both both(device_, context_options());
  const size_t graph = both.load(two_branches({.declare = true}, {.declare = true, .read = true}));
  expect(both, graph, {boolean(true), boolean(true), all(1)}, ErrorCode::kVariableRedeclared);
  expect(both, graph, {boolean(false), boolean(true), all(2)}, ErrorCode::kOk);
  expect(both, graph, {boolean(true), boolean(false), all(3)}, ErrorCode::kOk);
}

TEST_P(LateDeclarations, WithoutInitialValueThereIsNothingToRead) {
  Both both(device_, context_options());
  const size_t graph = both.load(two_branches({.declare = true}, {.read = true}, std::nullopt));
  expect(both, graph, {boolean(true), boolean(true), all(1)}, ErrorCode::kVariableUnwritten);
  expect(both, graph, {boolean(false), boolean(true), all(2)}, ErrorCode::kVariableUnwritten);
}

// The main block declares what a branch before it writes.
TEST_P(LateDeclarations, AWriteBeforeTheMainBlocksIsUndeclared) {
  GraphBuilder b;
  const TensorId p = b.input("p", DType::kBool, {1});
  const TensorId x = b.input("x", DType::kInt8, {kElements});
  const std::string nothing = branch(b, "nothing", {}, 5), writes = branch(b, "writes", {.write = true}, 5);
  const TensorId y = b.cond_if(p, {x}, writes, nothing)[0];
  const TensorId v = variable(b, 5);
  b.declare(v);
  b.output(b.op(graph::Op::kBitwiseXor, {y, b.read(v)}), "y");
  b.write(v, y);
  Both both(device_, context_options());
  const size_t graph = both.load(b.build());
  expect(both, graph, {boolean(true), all(1)}, ErrorCode::kVariableUndeclared);
  expect(both, graph, {boolean(false), all(2)}, ErrorCode::kOk);
  expect(both, graph, {boolean(true), all(3)}, ErrorCode::kVariableUndeclared);
  expect(both, graph, {boolean(false), all(4)}, ErrorCode::kOk);
}

// A body that declares: once is legal, twice is not.
TEST_P(LateDeclarations, ABodyMayRunOnce) {
  GraphBuilder b, more("more"), body("body");
  const TensorId count = b.input("n", DType::kInt32, {1}), x = b.input("x", DType::kInt8, {kElements});
  more.input({}, DType::kInt32, {1});
  more.input({}, DType::kInt8, {kElements});
  more.output(more.op(graph::Op::kGreater, {0, more.constant(DType::kInt32, {1}, {0})}));
  body.input({}, DType::kInt32, {1});
  body.input({}, DType::kInt8, {kElements});
  const TensorId v = variable(body, 5);
  body.declare(v);
  body.output(body.sub(0, body.constant(DType::kInt32, {1}, {1})));
  body.output(body.op(graph::Op::kBitwiseXor, {1, body.read(v)}));
  body.write(v, 1);
  b.add_region(std::move(more));
  b.add_region(std::move(body));
  b.output(b.while_loop({count, x}, "more", "body")[1], "y");
  Both both(device_, context_options());
  const size_t graph = both.load(b.build());
  expect(both, graph, {number(0), all(1)}, ErrorCode::kOk);
  expect(both, graph, {number(1), all(2)}, ErrorCode::kOk);
  expect(both, graph, {number(2), all(3)}, ErrorCode::kVariableRedeclared);
  expect(both, graph, {number(1), all(4)}, ErrorCode::kOk);
}

// Whose initial value counts: that of the graph whose declaration is reached first, not of the one that ran first.
TEST_P(LateDeclarations, InitialValueIsThatOfTheFirstOneReached) {
  const Does whole{.declare = true, .read = true};
  Both both(device_, context_options());
  const size_t five = both.load(two_branches(whole, {}, 5)), nine = both.load(two_branches(whole, {}, 9)),
               none = both.load(two_branches({.declare = true}, {.read = true}, std::nullopt));
  expect(both, five, {boolean(false), boolean(false), all(1)}, ErrorCode::kOk);
  expect(both, none, {boolean(false), boolean(false), all(2)}, ErrorCode::kOk);
  expect(both, nine, {boolean(true), boolean(false), all(3)}, ErrorCode::kOk);
  expect(both, five, {boolean(true), boolean(false), all(4)}, ErrorCode::kOk);
  expect(both, none, {boolean(false), boolean(true), all(5)}, ErrorCode::kOk);
}

// Jobs in flight together decide in their order.
TEST_P(LateDeclarations, AJobWaitsForThoseThatDecideOnItsInitialValue) {
  runtime::Context context = device_.create_context(context_options());
  compiler::Options compiling;
  compiling.schedule.two_places = GetParam();
  const auto load = [&](double initial) {
    const graph::Graph graph = two_branches({.declare = true, .read = true}, {}, initial);
    return context.load(compiler::compile(graph, device_.capabilities(), compiling));
  };
  runtime::LoadedProgram five = load(5), nine = load(9);
  runtime::Job first = five.create_job(), second = nine.create_job();
  for (runtime::Job* job : {&first, &second}) {
    job->set_input(0, boolean(true));
    job->set_input(1, boolean(false));
    job->set_input(2, all(0));
    job->start();
  }
  EXPECT_TRUE(first.wait(std::chrono::minutes(1)));
  EXPECT_TRUE(second.wait(std::chrono::minutes(1)));
  EXPECT_EQ(first.outputs().at(0).bytes, all(5).bytes);
  EXPECT_EQ(second.outputs().at(0).bytes, all(5).bytes);
}

// A context has what it declared itself, and a snapshot says what that is.
TEST_P(LateDeclarations, SnapshotsAndOtherContexts) {
  const graph::Graph graph = two_branches({.declare = true, .write = true}, {.read = true});
  Both both(device_, context_options()), other(device_, context_options()), resumed(device_, context_options());
  const size_t here = both.load(graph), there = other.load(graph), later = resumed.load(graph);
  expect(both, here, {boolean(false), boolean(false), all(1)}, ErrorCode::kOk);
  resumed.context().restore(both.context().snapshot());
  expect(resumed, later, {boolean(false), boolean(true), all(2)}, ErrorCode::kVariableUndeclared);
  expect(both, here, {boolean(true), boolean(false), all(3)}, ErrorCode::kOk);
  expect(other, there, {boolean(false), boolean(true), all(4)}, ErrorCode::kVariableUndeclared);
  resumed.context().restore(both.context().snapshot());
  resumed.state() = both.state();
  expect(resumed, later, {boolean(false), boolean(true), all(5)}, ErrorCode::kOk);
  both.context().clear();
  both.state().variables.clear();
  expect(both, here, {boolean(false), boolean(true), all(6)}, ErrorCode::kVariableUndeclared);
}

INSTANTIATE_TEST_SUITE_P(Places, LateDeclarations, testing::Bool(),
                         [](const auto& info) { return info.param ? "Two" : "One"; });

}  // namespace
}  // namespace npu::test
