// SPDX-License-Identifier: Apache-2.0
// Declarations of several graphs and contexts on the simulated device, beside the reference.
#include <gtest/gtest.h>

#include <iostream>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/gen/registers.h"
#include "sim/reference/reference.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

constexpr int64_t kBytes = 48;

graph::Value filled(uint8_t value) {
  return {graph::DType::kInt8, {kBytes}, std::vector<uint8_t>(static_cast<size_t>(kBytes), value)};
}

// With variables in the persistent SRAM, and in DRAM.
class Declarations : public testing::TestWithParam<bool> {
 protected:
  Declarations() { compile_.schedule.state_in_dram = GetParam(); }
  compiler::Program compiled(const graph::Graph& graph) const {
    return compiler::compile(graph, device_.capabilities(), compile_);
  }

  runtime::Device device_ = open_device(options("edge", model::Mode::kFunctional));
  compiler::Options compile_;
};

// y = v; v = x.
graph::Graph stores(std::optional<double> initial) {
  graph::GraphBuilder b;
  std::vector<double> values;
  if (initial) values.assign(static_cast<size_t>(kBytes), *initial);
  const graph::TensorId v =
      initial ? b.variable("v", graph::DType::kInt8, {kBytes}, values) : b.variable("v", graph::DType::kInt8, {kBytes});
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {kBytes});
  b.output(b.read(v), "y");
  b.write(v, x);
  return b.build();
}

// y = not x, without state.
graph::Graph inverts() {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {kBytes});
  b.output(b.op(graph::Op::kBitwiseNot, {x}), "y");
  return b.build();
}

TEST_P(Declarations, InitialValueIsThatOfTheGraphThatIsExecutedFirst) {
  SideBySide both(device_);
  const size_t first = both.load(stores(100), compile_), second = both.load(stores(7), compile_);
  both.step(second, {filled(1)});
  EXPECT_EQ(both.outputs(second).at(0).bytes, filled(7).bytes);
  both.step(first, {filled(2)});
  EXPECT_EQ(both.outputs(first).at(0).bytes, filled(1).bytes);
  both.step(second, {filled(3)});
  both.report("initial values", 3);
}

TEST_P(Declarations, NoInitialValueOfTheGraphThatIsExecutedFirstIsNone) {
  runtime::Context context = device_.create_context();
  reference::Context state;
  const runtime::LoadedProgram first = context.load(compiled(stores(100)));
  runtime::LoadedProgram second = context.load(compiled(stores(std::nullopt)));
  runtime::Job job = second.create_job();
  job.set_input(0, filled(1));
  EXPECT_EQ(code_of([&] { job.run(); }), ErrorCode::kVariableUnwritten);
  EXPECT_EQ(code_of([&] { static_cast<void>(reference::run(stores(std::nullopt), {filled(1)}, state)); }),
            ErrorCode::kVariableUnwritten);
}

// y = v; VARIABLE v; v = x: v is that of an earlier execution, which another graph declared.
graph::Graph reads_before_it_declares() {
  graph::GraphBuilder b;
  const graph::TensorId v = b.variable("v", graph::DType::kInt8, {kBytes}, std::vector<double>{50});
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {kBytes});
  b.output(b.read(v), "y");
  b.declare(v);
  b.write(v, x);
  return b.build();
}

TEST_P(Declarations, MayStandBehindReads) {
  SideBySide both(device_);
  const size_t late = both.load(reads_before_it_declares(), compile_), first = both.load(stores(100), compile_);
  EXPECT_EQ(code_of([&] { both.run(late, {filled(1)}); }), ErrorCode::kVariableUndeclared);
  reference::Context state;
  EXPECT_EQ(code_of([&] { static_cast<void>(reference::run(reads_before_it_declares(), {filled(1)}, state)); }),
            ErrorCode::kVariableUndeclared);
  both.step(first, {filled(2)});
  both.step(late, {filled(3)});
  EXPECT_EQ(both.outputs(late).at(0).bytes, filled(2).bytes);
  both.step(late, {filled(4)});
  both.report("late declarations", 3);
}

// A branch that reads the variable before the main block declares it, taken in the second invocation only.
TEST_P(Declarations, MayStandBehindBranchesThatRead) {
  graph::GraphBuilder b, reads("reads"), other("other");
  reads.input("x", graph::DType::kInt8, {kBytes});
  reads.output(reads.read(reads.variable("v", graph::DType::kInt8, {kBytes})));
  other.output(other.op(graph::Op::kBitwiseNot, {other.input("x", graph::DType::kInt8, {kBytes})}));
  b.add_region(std::move(reads));
  b.add_region(std::move(other));
  const graph::TensorId flag = b.input("flag", graph::DType::kBool, {1});
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {kBytes});
  b.output(b.cond_if(flag, {x}, "reads", "other")[0], "y");
  const graph::TensorId v = b.variable("v", graph::DType::kInt8, {kBytes}, std::vector<double>{50});
  b.declare(v);
  b.write(v, x);
  SideBySide both(device_);
  const size_t graph = both.load(b.build(), compile_);
  const auto boolean = [](uint8_t value) { return graph::Value{graph::DType::kBool, {1}, {value}}; };
  both.step(graph, {boolean(0), filled(2)});
  both.step(graph, {boolean(1), filled(3)});
  EXPECT_EQ(both.outputs(graph).at(0).bytes, filled(2).bytes);
  both.report("declarations behind branches", 2);
}

TEST(Shapes, OfVariablesMustBeResolved) {
  graph::Graph graph = stores(std::nullopt);
  for (graph::Tensor& tensor : graph.main().tensors) tensor.shape = {-1};
  std::string text;
  EXPECT_EQ(code_of([&] { graph::validate(graph); }, &text), ErrorCode::kFeatureUnsupported);
  EXPECT_NE(text.find("[-1]"), std::string::npos) << text;
}

// Never written, or only by a write that broke off: nothing that the host could read.
TEST_P(Declarations, WhatWasNeverWrittenCannotBeRead) {
  graph::GraphBuilder b;
  const graph::TensorId v = b.variable("v", graph::DType::kInt8, {kBytes});
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {kBytes});
  b.write(v, x);
  b.output(b.read(v), "y");
  runtime::Context context = device_.create_context();
  runtime::LoadedProgram program = context.load(compiled(b.build()));
  const auto read = [&](std::string* text = nullptr) {
    return code_of([&] { static_cast<void>(context.read_variable("v")); }, text);
  };
  std::string text;
  EXPECT_EQ(read(&text), ErrorCode::kVariableUnwritten);
  EXPECT_NE(text.find("'v'"), std::string::npos) << text;
  runtime::Job job = program.create_job();
  job.set_input(0, filled(5));
  device_.write_register(reg::kTestBrownout, 10);
  EXPECT_EQ(code_of([&] { job.run(); }), ErrorCode::kFaultPower);
  ASSERT_TRUE(context.variables().at(0).torn);
  EXPECT_EQ(read(), ErrorCode::kVariableUnwritten);
  EXPECT_FALSE(context.snapshot().variables.at(0).is_written);
  job.run();
  EXPECT_EQ(read(), ErrorCode::kOk);
}

TEST_P(Declarations, ADamagedEntryStopsOtherContextsOnce) {
  SideBySide owner(device_), other(device_);
  const size_t stateful = owner.load(stores(7), compile_), stateless = other.load(inverts());
  owner.step(stateful, {filled(9)});
  for (const uint32_t word : {0u, 8u}) {
    const uint32_t entry = owner.context().variables().at(0).index * 16;
    device_.write_register(reg::kTestFlipAddress, entry + word);
    for (const uint32_t bit : {3u, 9u}) device_.write_register(reg::kTestFlipBit, bit);
    std::string text;
    EXPECT_EQ(code_of([&] { other.run(stateless, {filled(1)}); }, &text), ErrorCode::kFaultEcc);
    EXPECT_NE(text.find("'v' of context 1"), std::string::npos) << text;
    other.step(stateless, {filled(2)});
    // Only the owner meets it now.
    EXPECT_EQ(code_of([&] { owner.run(stateful, {filled(3)}); }, &text), ErrorCode::kVariableTorn);
    EXPECT_NE(text.find("table entry"), std::string::npos) << text;
    owner.context().write_variable("v", owner.state("v"));
    owner.step(stateful, {filled(4)});
    other.step(stateless, {filled(5)});
  }
  owner.report("owner", 2);
  EXPECT_GT(other.compared().outputs, 0);
  EXPECT_EQ(other.compared().differing, 0);
  std::cout << "0 of " << other.compared().outputs << " output elements of the other context differ\n";
}

INSTANTIATE_TEST_SUITE_P(Places, Declarations, testing::Bool(),
                         [](const auto& info) { return info.param ? "Dram" : "Sram"; });

}  // namespace
}  // namespace npu::test
