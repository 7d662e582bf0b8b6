// SPDX-License-Identifier: Apache-2.0
// Graphs that are compiled once for sizes within bounds: how many programs they become, and what is refused.
#include "driver/compiler/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>

#include "driver/compiler/schedule.h"
#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/stream.h"
#include "hw/presets/preset.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/errors/code_of.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::Graph;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;
using npu::test::code_of;
using ::testing::HasSubstr;

contract::Capabilities machine(const char* preset = "edge") { return presets::load_preset(preset).caps; }

// Opens all dimensions of these sizes but those of constants and variables.
Graph opened(Graph graph, const std::vector<int64_t>& sizes) {
  for (graph::Tensor& tensor : graph.main().tensors) {
    if (tensor.has_data || tensor.variable || tensor.type == DType::kShape) continue;
    for (int64_t& size : tensor.shape) {
      if (std::find(sizes.begin(), sizes.end(), size) != sizes.end()) size = -1;
    }
  }
  graph::validate(graph, graph::Sizes::kMayBeUnknown);
  return graph;
}

std::vector<double> ramp(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i % 7 - 3));
  return values;
}

// x [?, columns] XOR w [?, columns]
Graph two_operands(int64_t columns) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {7, columns}), w = b.input("w", DType::kInt8, {7, columns});
  b.output(b.op(Op::kBitwiseXor, {x, w}));
  return opened(b.build(), {7});
}

// A convolution of x [1, ?, ?, 8], and one behind it.
Graph convolutions() {
  GraphBuilder b;
  TensorId x = b.input("x", DType::kInt8, {1, 7, 9, 8});
  for (int i = 0; i < 2; ++i) {
    const TensorId weights = b.constant(DType::kInt8, {8, 3, 3, 8}, ramp(8L * 3 * 3 * 8));
    x = b.rescale(b.conv2d(x, weights, b.constant(DType::kInt32, {8}, ramp(8)), {.pad = {1, 1, 1, 1}}), DType::kInt8,
                  {.multiplier = {1 << 30}, .shift = {36}});
  }
  b.output(x);
  return opened(b.build(), {7, 9});
}

// How many programs.
size_t programs_of(const Graph& graph, const std::vector<SizeBounds>& bounds, const contract::Capabilities& caps,
                   const Options& options = {}) {
  const std::vector<Program> programs = compile_bounds(graph, bounds, caps, options);
  for (const Program& program : programs) {
    std::vector<int64_t> largest;
    for (const auto& symbol : program.sizes.symbols) largest.push_back(symbol.most);
    EXPECT_EQ(at_sizes(program, largest).commands, program.commands);
  }
  return programs.size();
}

// Of the only variable.
uint32_t declared_hash(const Program& program) {
  uint32_t hash = 0;
  const auto stream = std::span(program.commands).first(program.main_words);
  static_cast<void>(contract::for_each_command(stream, [&](const contract::Header& header, auto command) {
    if (header.opcode == contract::Opcode::kDeclare) hash = contract::DeclareCommand::decode(command).hash;
    return true;
  }));
  return hash;
}

TEST(Bounds, SmallLoadsUseTheQueuesOfLargeOnes) {
  // Inputs of fewer than 4096 bytes would come on another channel.
  EXPECT_EQ(programs_of(two_operands(1024), {{"x.0", 2, 9}, {"w.0", 2, 9}}, machine()), 1U);
}

TEST(Bounds, ConstantsMayStay) {
  Options options;
  options.schedule.resident_constants = true;
  for (const char* preset : {"nano", "edge", "server"}) {
    EXPECT_EQ(programs_of(convolutions(), {{"x.1", 4, 9}, {"x.2", 4, 9}}, machine(preset), options), 1U) << preset;
  }
}

TEST(Bounds, AMachineMustHaveRoomForTheLargest) {
  contract::Capabilities small = machine("nano");
  small.dram_mib = 1;
  std::string text;
  const std::vector<SizeBounds> bounds = {{"x.0", 4095, 4096}, {"w.0", 4095, 4096}};
  EXPECT_EQ(code_of([&] { static_cast<void>(compile_bounds(two_operands(1024), bounds, small)); }, &text),
            ErrorCode::kDramFull);
  EXPECT_THAT(text, HasSubstr("dram_mib"));
  small.dram_mib = 64;
  EXPECT_EQ(programs_of(two_operands(1024), bounds, small), 1U);
}

// To try what a machine would need beside inputs and outputs that it does not hold took minutes.
TEST(Bounds, ThreeGibibytesOfOperandsAreRefusedBeforeTheyAreTried) {
  std::string text;
  EXPECT_EQ(code_of(
                [&] {
                  const std::vector<SizeBounds> bounds = {{"x.0", 1 << 28, 1 << 28}, {"w.0", 1 << 28, 1 << 28}};
                  static_cast<void>(compile_bounds(two_operands(4), bounds, machine()));
                },
                &text),
            ErrorCode::kDramFull);
  EXPECT_THAT(text, HasSubstr("inputs and outputs alone need 3221225472 bytes of DRAM, the device has 1073741824"));
  EXPECT_THAT(text, HasSubstr("a dram_mib of more than 3072"));
}

// x [4, columns] + those columns of a table [4, 64] that begin with `first`.
Module with_table(int64_t columns, int64_t first) {
  compiler::testing::ModuleBuilder b(1);
  const View x = b.input({4, columns});
  View table = b.constant({4, 64});
  table.dims[1] = columns;
  table.offset = first;
  b.add(x, table, b.tensor({4, columns}, contract::Element::kI8, true));
  return std::move(b.module);
}

// Tiles of constants are those of the largest sizes.
TEST(Bounds, OtherPartsOfAConstantAreStepsOfTheirOwn) {
  const auto taken = [](int64_t columns, int64_t first) -> bool {
    const SizedModules modules{2, [&](size_t i) { return i == 0 ? with_table(12, 0) : with_table(columns, first); }};
    return schedule_sizes(modules, {{12, columns}}, machine(), {}).taken[1];
  };
  EXPECT_TRUE(taken(12, 0));
  EXPECT_FALSE(taken(8, 0)) << "rows of another length";
  EXPECT_FALSE(taken(12, 52)) << "another place";
}

TEST(Bounds, AVariableOfOpenSizeHasTheSizesOfTheInput) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {7, 4}), state = b.variable("state", DType::kInt8, {7, 4});
  b.write(state, x);
  Graph graph = b.build();
  for (graph::Tensor& tensor : graph.main().tensors) {
    if (!tensor.has_data && tensor.type != DType::kShape && !tensor.shape.empty())
      tensor.shape[0] = tensor.variable ? 0 : -1;
  }
  graph::validate(graph, graph::Sizes::kMayBeUnknown);
  const std::vector<Program> programs = compile_bounds(graph, std::vector<SizeBounds>{{"x.0", 1, 4}}, machine());
  for (const Program& program : programs) {
    ASSERT_EQ(program.variables.size(), 1U);
    const Variable& variable = program.variables.front();
    EXPECT_EQ(variable.shape, (graph::Shape{4, 4})) << "all of them have room for the largest";
    EXPECT_EQ(variable.bytes, 16U);
    EXPECT_EQ(variable.sizes, program.inputs.front().sizes);
    for (int64_t rows = program.sizes.symbols[0].least; rows <= program.sizes.symbols[0].most; ++rows) {
      const Program fixed = at_sizes(program, std::vector<int64_t>{rows});
      const Variable& sized = fixed.variables.front();
      EXPECT_EQ(sized.shape, (graph::Shape{rows, 4}));
      EXPECT_EQ(sized.hash, variable_hash(DType::kInt8, {rows, 4}));
      EXPECT_TRUE(sized.sizes.empty());
      EXPECT_EQ(declared_hash(fixed), sized.hash) << "the command says what the table has";
    }
  }
}

// A size that only the state has is none that a job brings.
TEST(Bounds, AVariableThatNoInputDecidesIsRefused) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4}), state = b.variable("state", DType::kInt8, {0, 4});
  b.output(b.raw(Op::kVariableRead, {state}, {}, DType::kInt8, {-1, 4}), "old");
  b.output(b.raw(Op::kBitwiseNot, {x}, {}, DType::kInt8, {-1, 4}), "y");
  graph::Graph graph = b.build();
  graph::validate(graph, graph::Sizes::kMayBeUnknown);
  std::string text;
  EXPECT_EQ(code_of(
                [&] {
                  static_cast<void>(compile_bounds(graph, std::vector<SizeBounds>{{"x.0", 1, 4}}, machine()));
                },
                &text),
            ErrorCode::kFeatureUnsupported);
  EXPECT_THAT(text, HasSubstr("'state.0' follows from no size of an input"));
}

TEST(Bounds, ProgressGoesOnToTheEnd) {
  double last = 0;
  uint64_t calls = 0;
  static_cast<void>(compile_bounds(convolutions(), std::vector<SizeBounds>{{"x.1", 1, 4}, {"x.2", 2, 3}}, machine(), {},
                                   [&](uint64_t done, uint64_t all) {
                                     const double part = static_cast<double>(done) / static_cast<double>(all);
                                     EXPECT_GE(part, last);
                                     EXPECT_LT(part, 1);
                                     last = part;
                                     ++calls;
                                   }));
  EXPECT_GE(calls, 8U);
  EXPECT_GE(last, 7.0 / 8);
}

}  // namespace
}  // namespace npu::compiler
