// SPDX-License-Identifier: Apache-2.0
// Programs that were compiled once for sizes within bounds, over a device that records what it gets.
#include "driver/specialise/bounded_programs.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "driver/runtime/mock_hal.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "tests/unit/errors/code_of.h"

namespace npu::specialise {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::TensorId;
using test::code_of;

// x [?, 4] XOR a state [1, 4], which then takes the largest of each column: of one row that is no work.
graph::Graph open_columns() {
  graph::GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4});
  const TensorId state = b.variable("state", DType::kInt8, {1, 4}, std::vector<double>{1, 2, 3, 4});
  const TensorId y = b.raw(graph::Op::kBitwiseXor, {x, b.read(state)}, {}, DType::kInt8, {-1, 4});
  b.output(y, "y");
  graph::Attributes axis;
  axis.axis = 0;
  b.write(state, b.raw(graph::Op::kReduceMax, {y}, axis, DType::kInt8, {1, 4}));
  graph::Graph graph = b.build();
  graph::validate(graph, graph::Sizes::kMayBeUnknown);
  return graph;
}

graph::GivenShapes row_count(int64_t count) { return {{"x", {count, 4}}}; }

struct Bounded {
  Bounded()
      : caps(presets::load_preset("nano").caps),
        device(runtime::Device::open(std::make_unique<runtime::MockHal>(caps), {.bypass_firmware = true})),
        programs(device.create_context(), compile(caps), false) {}

  static std::vector<compiler::Program> compile(const contract::Capabilities& caps) {
    compiler::Options options;
    options.firmware = false;
    const std::vector<compiler::SizeBounds> bounds = {{"x.0", 1, 20}};
    return compiler::compile_bounds(open_columns(), bounds, caps, options);
  }

  contract::Capabilities caps;
  runtime::Device device;
  BoundedPrograms programs;
};

TEST(BoundedPrograms, LoadEachProgramWhenItIsFirstAskedFor) {
  Bounded bounded;
  EXPECT_GE(bounded.programs.counts().compiled, 2U);
  EXPECT_EQ(bounded.programs.counts().programs, 0U);
  const auto twenty = bounded.programs.get(row_count(20));
  EXPECT_EQ(bounded.programs.get(row_count(19)), twenty);
  const auto one = bounded.programs.get(row_count(1));
  EXPECT_NE(one, twenty);
  EXPECT_EQ(bounded.programs.get(row_count(1)), one);
  const CacheCounts& counts = bounded.programs.counts();
  EXPECT_EQ(counts.hits, 2U);
  EXPECT_EQ(counts.misses, 2U);
  EXPECT_EQ(counts.programs, 2U);
  EXPECT_EQ(counts.evictions, 0U);
  EXPECT_EQ(counts.bytes, twenty->bytes + one->bytes);
  EXPECT_EQ(counts.most_bytes, counts.bytes);
  EXPECT_EQ(bounded.programs.loaded(), (std::vector{twenty, one}));
}

TEST(BoundedPrograms, BeginWithTheLargestSizes) {
  Bounded bounded;
  EXPECT_TRUE(bounded.programs.loaded().empty());
  const auto first = bounded.programs.largest();
  EXPECT_EQ(bounded.programs.get(row_count(20)), first);
  EXPECT_EQ(bounded.programs.loaded(), std::vector{first});
}

// A program of fixed sizes is one choice.
TEST(BoundedPrograms, OfFixedSizesAreOne) {
  Bounded bounded;
  compiler::Program fixed = compiler::at_sizes(Bounded::compile(bounded.caps).front(), std::vector<int64_t>{20});
  BoundedPrograms programs(bounded.device.create_context(), {std::move(fixed)}, false);
  EXPECT_EQ(programs.get({}), programs.largest());
  EXPECT_EQ(programs.get(row_count(20)), programs.largest());
  EXPECT_TRUE(bounds_of({programs.largest()->program.program()}).empty());
}

TEST(BoundedPrograms, AreOfOneOfTheSizesEach) {
  const std::vector<compiler::Program> programs = Bounded::compile(presets::load_preset("nano").caps);
  for (int64_t count = 1; count <= 20; ++count) {
    size_t fitting = 0;
    for (const compiler::Program& program : programs) {
      const auto& symbol = program.sizes.symbols.at(0);
      if (count < symbol.least || count > symbol.most) continue;
      ++fitting;
      EXPECT_EQ(BoundedPrograms::symbols_of(program, row_count(count)), std::vector<int64_t>{count});
    }
    EXPECT_EQ(fitting, 1U) << count;
  }
}

TEST(BoundedPrograms, GiveOneOfFixedSizes) {
  const std::vector<compiler::Program> programs = Bounded::compile(presets::load_preset("nano").caps);
  for (const int64_t count : {1, 2, 7, 20}) {
    const compiler::Program fixed = fixed_program(programs, row_count(count));
    EXPECT_TRUE(fixed.sizes.empty());
    EXPECT_EQ(fixed.inputs.at(0).shape, (graph::Shape{count, 4}));
    EXPECT_EQ(fixed.outputs.at(0).shape, (graph::Shape{count, 4}));
    const size_t at =
        count > programs.front().sizes.symbols.at(0).most || count < programs.front().sizes.symbols.at(0).least;
    EXPECT_EQ(fixed.commands, compiler::at_sizes(programs.at(at), std::vector<int64_t>{count}).commands) << count;
  }
  std::string text;
  EXPECT_EQ(code_of([&] { static_cast<void>(fixed_program(programs, row_count(21))); }), ErrorCode::kSizeOutOfBounds);
  EXPECT_EQ(code_of([&] { static_cast<void>(fixed_program(programs, {{"x", {5, 3}}})); }, &text), ErrorCode::kBadInput);
  EXPECT_EQ(text, "input 'x' is INT8[-1, 4], not [5, 3]");
  EXPECT_EQ(code_of([&] { static_cast<void>(fixed_program(programs, {})); }), ErrorCode::kBadInput);
}

TEST(BoundedPrograms, RefuseOtherSizes) {
  Bounded bounded;
  std::string text;
  EXPECT_EQ(code_of([&] { static_cast<void>(bounded.programs.get(row_count(21))); }, &text),
            ErrorCode::kSizeOutOfBounds);
  EXPECT_EQ(text,
            "x.0 is 21, but the programs are for sizes of which x.0 is 1 to 20; compile for wider bounds, if the "
            "network takes such sizes");
  EXPECT_EQ(code_of([&] { static_cast<void>(bounded.programs.get(row_count(0))); }), ErrorCode::kSizeOutOfBounds);
  EXPECT_EQ(code_of([&] { static_cast<void>(bounded.programs.get(row_count(-1))); }), ErrorCode::kSizeOutOfBounds);
  EXPECT_EQ(code_of([&] { static_cast<void>(bounded.programs.get({})); }), ErrorCode::kBadInput);
  EXPECT_EQ(code_of([&] { static_cast<void>(bounded.programs.get({{"x", {5}}})); }), ErrorCode::kBadInput);
  EXPECT_EQ(bounded.programs.counts().programs, 0U);
}

}  // namespace
}  // namespace npu::specialise
