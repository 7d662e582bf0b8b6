// SPDX-License-Identifier: Apache-2.0
// Variables: what the program says of them, where they live, and in which order the commands reach them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/schedule/direct_writes.h"
#include "driver/compiler/schedule/footprint.h"
#include "tests/unit/compiler/back_checks.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/seeds.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;

TEST(BackState, ProgramSaysWhoReadsAndWritesWhat) {
  ModuleBuilder m(1);
  const View in = m.input({4, 64}), kept = m.variable({4, 64});
  static_cast<void>(m.variable({2, 8}));
  const View read_only = m.variable({1, 64});
  const View sum = m.tensor({4, 64}, Element::kI8), out = m.tensor({4, 64}, Element::kI8, true);
  m.add(in, kept, sum);
  m.add(sum, broadcast(read_only, {4, 64}), out);
  m.copy(sum, kept, true);
  const Program program = schedule(Module(m.module), edge_capabilities());
  ASSERT_EQ(program.variables.size(), 3u);
  const Variable& first = program.variables[0];
  EXPECT_TRUE(first.written);
  EXPECT_EQ(first.writer, "add_3");   // in place, without a copy
  EXPECT_EQ(first.read_bytes, 512u);  // by both
  EXPECT_EQ(first.written_bytes, 256u);
  const Variable& second = program.variables[1];
  EXPECT_FALSE(second.written);
  EXPECT_EQ(second.writer, "");
  EXPECT_EQ(second.read_bytes + second.written_bytes, 0u);
  EXPECT_EQ(program.variables[2].read_bytes, 64u);
  EXPECT_EQ(program.variables[2].written_bytes, 0u);
  for (const Variable& variable : program.variables) EXPECT_FALSE(variable.in_dram);
  EXPECT_EQ(check_module(m.module, edge_capabilities(), {}, 1, 3), "");
}

struct Shape {
  int64_t bytes = 0;
  int reads = 0;
};

// Variables of these sizes; each is read so many times.
Module readers(const std::vector<Shape>& shapes) {
  ModuleBuilder m(7);
  std::vector<View> variables;
  for (const Shape& shape : shapes) variables.push_back(m.variable({shape.bytes}));
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (int k = 0; k < shapes[i].reads; ++k) m.copy(variables[i], m.tensor({shapes[i].bytes}, Element::kI8, true));
  }
  return std::move(m.module);
}

// Which of them live in DRAM, one letter each.
std::string places(const std::vector<Shape>& shapes, const ScheduleOptions& options,
                   const contract::Capabilities& machine = edge_capabilities()) {
  std::string out;
  for (const Variable& v : schedule(readers(shapes), machine, options).variables) out += v.in_dram ? 'd' : 's';
  return out;
}

ScheduleOptions budget(uint64_t bytes) {
  ScheduleOptions options;
  options.persistent_bytes = bytes;
  return options;
}

TEST(BackState, VariablesThatFitStayInSram) {
  const contract::Capabilities nano = nano_capabilities();
  const auto capacity = static_cast<int64_t>(persistent_capacity(nano));
  EXPECT_EQ(capacity, (8 << 10) - 32 * 16);
  EXPECT_EQ(places({{capacity - 16, 1}, {1, 0}}, {}, nano), "ss");
  EXPECT_EQ(places({{capacity - 16, 1}, {17, 0}}, {}, nano), "sd");
  EXPECT_EQ(places({{capacity + 1, 9}, {capacity, 1}}, {}, nano), "ds");
  EXPECT_EQ(places({{capacity, 1}, {1, 1}}, budget(1 << 30), nano), "sd");
}

TEST(BackState, LeastTrafficPerByteGoesToDram) {
  EXPECT_EQ(places({{64, 1}, {64, 3}, {64, 2}}, budget(128)), "dss");
  EXPECT_EQ(places({{64, 1}, {64, 1}, {64, 1}}, budget(128)), "ssd");  // equal: the first ones
  EXPECT_EQ(places({{33, 1}, {32, 1}}, budget(64)), "sd");             // two units of the port; more traffic in all
  EXPECT_EQ(places({{256, 1}, {32, 2}}, budget(256)), "sd");           // the densest, but little traffic in all
  EXPECT_EQ(places({{256, 1}, {32, 2}, {32, 0}}, budget(320)), "sss");
  EXPECT_EQ(places({{64, 2}, {64, 2}}, budget(0)), "dd");
  ScheduleOptions options;
  options.state_in_dram = true;
  EXPECT_EQ(places({{64, 2}, {64, 0}}, options), "dd");
}

// Of a table the rows that indices choose move, so it is less dense in traffic than what is read whole.
TEST(BackState, OfATableTheChosenRowsAreTraffic) {
  constexpr int64_t kRows = 32, kChosen = 3, kBytes = 16;
  ModuleBuilder m(12);
  const View table = m.variable({1, kRows, kBytes}), whole = m.variable({kRows * kBytes});
  m.gather(table, m.tensor({1, kChosen, kBytes}, Element::kI8, true), false);
  m.copy(whole, m.tensor({kRows * kBytes}, Element::kI8, true));
  const Program program = schedule(Module(m.module), edge_capabilities(), budget(kRows * kBytes));
  EXPECT_EQ(program.variables[0].read_bytes, static_cast<uint64_t>(kChosen * kBytes));
  EXPECT_EQ(program.variables[1].read_bytes, static_cast<uint64_t>(kRows * kBytes));
  EXPECT_TRUE(program.variables[0].in_dram);
  EXPECT_FALSE(program.variables[1].in_dram);
  EXPECT_EQ(check_module(m.module, edge_capabilities(), budget(kRows * kBytes), 12, 3), "");
}

// What a scatter leaves is not moved.
TEST(BackState, OfAScatterTheRowsThatItWritesAreTraffic) {
  contract::DmaCommand scatter;
  scatter.mode = contract::DmaMode::kScatter;
  scatter.run_bytes = 16;
  scatter.count = {1, 32, 3, 1, 1};
  scatter.dst_stride[1] = scatter.src_stride[2] = 16;
  scatter.dst.region = contract::Region::kVariable;
  int64_t read = 0, written = 0;
  for (const backend::ByteSet& set : backend::footprint(scatter)) {
    if (set.space == backend::kVariableSpace) (set.write ? written : read) += set.moved_bytes();
  }
  EXPECT_EQ(read, 0);
  EXPECT_EQ(written, 3 * 16);
}

// As another program of the context has them.
TEST(BackState, PlacedVariablesStayWhereTheyAre) {
  const std::vector<Shape> shapes = {{64, 1}, {64, 3}, {64, 2}};
  const Module module = readers(shapes);
  ASSERT_EQ(places(shapes, budget(128)), "dss");
  ScheduleOptions options = budget(128);
  options.placed_in_dram = {{module.variables[1].identity, true}};
  EXPECT_EQ(places(shapes, options), "sds");
  // They take no room.
  options.placed_in_dram = {{module.variables[0].identity, false}, {"another", false}};
  EXPECT_EQ(places(shapes, options), "sss");
  options.persistent_bytes = 0;
  EXPECT_EQ(places(shapes, options), "sdd");
  options.state_in_dram = true;
  EXPECT_EQ(places(shapes, options), "sdd");
}

TEST(BackState, WhatOtherProgramsWriteTakesTwoPlaces) {
  const std::vector<Shape> shapes = {{64, 2}, {64, 1}};
  ScheduleOptions options = budget(128);
  options.written_by_others = {readers(shapes).variables[0].identity, "another"};
  const Program one_place = schedule(readers(shapes), edge_capabilities(), options);
  EXPECT_TRUE(one_place.variables[0].written);
  EXPECT_FALSE(one_place.variables[1].written);
  EXPECT_EQ(places(shapes, options), "ss");
  options.two_places = true;
  EXPECT_EQ(places(shapes, options), "sd");
  options.persistent_bytes = 127;
  EXPECT_EQ(places(shapes, options), "ds");
}

TEST(BackState, TwoPlacesOfWhatIsWrittenAreCounted) {
  const contract::Capabilities nano = nano_capabilities();
  const auto half = static_cast<int64_t>(persistent_capacity(nano)) / 2;
  const auto place = [&](int64_t bytes, int64_t others, bool two_places, bool write) {
    ModuleBuilder m(8);
    const View v = m.variable({bytes});
    m.copy(v, m.tensor({bytes}, Element::kI8, true));
    if (others > 0) m.copy(m.variable({others}), m.tensor({others}, Element::kI8, true));
    if (write) m.copy(m.input({bytes}), v, true);
    ScheduleOptions options;
    options.two_places = two_places;
    EXPECT_EQ(check_module(m.module, nano, options, 8, 3), "");
    std::string out;
    for (const Variable& variable : schedule(Module(m.module), nano, options).variables)
      out += variable.in_dram ? 'd' : 's';
    return out;
  };
  EXPECT_EQ(place(half, 0, true, true), "s");
  EXPECT_EQ(place(half + 1, 0, true, true), "d");
  EXPECT_EQ(place(half + 1, 0, true, false), "s");
  EXPECT_EQ(place(half + 1, 0, false, true), "s");
  EXPECT_EQ(place(16, 2 * half - 32, true, true), "ss");
  EXPECT_EQ(place(16, 2 * half - 16, true, true), "ds");  // the other one moves more
  EXPECT_EQ(place(17, 2 * half - 64, true, true), "ss");
  EXPECT_EQ(place(17, 2 * half - 63, true, true), "ds");
}

TEST(BackState, VariablesStartAtTheFirstBeatBehindTheTable) {
  contract::Capabilities machine = edge_capabilities();
  machine.psram_bytes = 2048;
  machine.psram_port_bytes = 512;
  machine.var_entries = 4;
  EXPECT_EQ(persistent_capacity(machine), 3u * 512);
}

// Commands that write variables.
struct Moves {
  int in_place = 0;  // copies within a variable
  int stored = 0;    // copies into one from elsewhere
  int vpu = 0;       // VPU commands that complete a write
};

Moves moves_of(const Module& module, const contract::Capabilities& caps = edge_capabilities()) {
  const Program program = schedule(Module(module), caps);
  Moves moves;
  for (size_t at = 0; at < program.main_words;) {
    const auto words = std::span(program.commands).subspan(at);
    const contract::Header header = contract::Header::decode(words);
    if (header.opcode == contract::Opcode::kDma) {
      const auto c = contract::DmaCommand::decode(words);
      const bool from = c.src.region == contract::Region::kVariable && c.mode == contract::DmaMode::kCopy;
      if (c.dst.region == contract::Region::kVariable) ++(from ? moves.in_place : moves.stored);
    } else if (header.opcode == contract::Opcode::kVpuEwise) {
      const auto c = contract::VpuEwiseCommand::decode(words);
      moves.vpu += c.commit ? 1 : 0;
    }
    at += header.words;
  }
  return moves;
}

TEST(BackState, VpuWritesVariablesInPlace) {
  ModuleBuilder m(3);
  const View in = m.input({4, 64}), v = m.variable({4, 64}), sum = m.tensor({4, 64}, Element::kI8);
  m.add(in, v, sum);
  m.copy(sum, v, true);
  const Moves moves = moves_of(m.module);
  EXPECT_EQ(moves.vpu, 1);
  EXPECT_EQ(moves.stored, 0);
  EXPECT_EQ(check_module(m.module, edge_capabilities(), {}, 1, 4), "");
}

TEST(BackState, OldValueThatTheSameStepWantsIsLoadedFirst) {
  ModuleBuilder m(9);
  const View x = m.input({4, 64}), y = m.input({4, 64}), v = m.variable({4, 64});
  const View fresh = m.tensor({4, 64}, Element::kI8);
  m.add_twice(x, y, v, fresh, m.tensor({4, 64}, Element::kI8, true));
  m.copy(fresh, v, true);
  const Moves moves = moves_of(m.module);
  EXPECT_EQ(moves.vpu, 1);
  EXPECT_EQ(moves.stored, 0);
  EXPECT_EQ(check_module(m.module, edge_capabilities(), {}, 1, 4), "");
}

TEST(BackState, OldValueThatIsStillReadIsNotOverwritten) {
  ModuleBuilder m(4);
  const View in = m.input({4, 64}), v = m.variable({4, 64}), sum = m.tensor({4, 64}, Element::kI8);
  m.add(in, v, sum);
  m.add(sum, v, m.tensor({4, 64}, Element::kI8, true));  // the old value, after the new one is made
  m.copy(sum, v, true);
  EXPECT_EQ(moves_of(m.module).vpu, 0);
  EXPECT_EQ(moves_of(m.module).stored, 1);
  EXPECT_EQ(check_module(m.module, edge_capabilities(), {}, 1, 4), "");
}

constexpr int64_t kRow = 1024;  // bytes: long enough for moving them to be what counts

// Two values of one variable; both are wanted at the end.
Module two_writes() {
  ModuleBuilder m(5);
  const View in = m.input({4, kRow}), v = m.variable({4, kRow});
  const View one = m.tensor({4, kRow}, Element::kI8), two = m.tensor({4, kRow}, Element::kI8);
  m.add(in, v, one);
  m.copy(one, v, true);
  m.add(in, v, two);
  m.copy(two, v, true);
  m.add(one, two, m.tensor({4, kRow}, Element::kI8, true));
  return std::move(m.module);
}

TEST(BackState, ValueThatOutlivesItsVariableIsCopied) {
  const Module module = two_writes();
  const std::optional<Module> direct = backend::write_directly(module, edge_capabilities());
  ASSERT_TRUE(direct.has_value());
  EXPECT_EQ(direct->steps.size() + 1, module.steps.size());  // the second value's copy is spared, not the first one's
  EXPECT_EQ(check_module(module, edge_capabilities(), {}, 1, 4), "");
}

TEST(BackState, OnlyTheLastWriteOfAnExecutionReachesTheVariable) {
  const Module module = two_writes();
  const Moves moves = moves_of(module);
  EXPECT_EQ(moves.vpu + moves.stored, 1);  // by whichever is faster
  const Program program = schedule(Module(module), edge_capabilities());
  EXPECT_EQ(program.variables[0].written_bytes, 4u * kRow);
  // The old value and, where the sum does not find it in the scratchpad, the last one.
  EXPECT_EQ(program.variables[0].read_bytes, (moves.vpu + 1) * 4u * kRow);
  // A value whose bytes lie in another order than the variable's is kept beside it.
  ModuleBuilder m(11);
  const View in = m.input({4, 64}), v = m.variable({4, 64});
  View turned = in;
  turned.offset = 3 * 64;
  turned.strides = {-64, 1};
  m.copy(turned, v, true);
  m.add(in, v, m.tensor({4, 64}, Element::kI8, true));
  m.copy(in, v, true);
  EXPECT_EQ(moves_of(m.module).stored, 1);
  EXPECT_EQ(check_module(m.module, edge_capabilities(), {}, 1, 4), "");
}

// A window of 8 rows that moves on by `fresh` rows; the new ones come from the VPU.
Module window(int64_t fresh) {
  ModuleBuilder m(6);
  const View v = m.variable({8 * kRow}), b = m.tensor({8 * kRow}, Element::kI8);
  View from = v, to = b, hole = b;
  from.offset = fresh * kRow;
  from.dims = to.dims = {(8 - fresh) * kRow};
  hole.offset = (8 - fresh) * kRow;
  hole.dims = {fresh * kRow};
  m.add(m.input({fresh * kRow}), m.constant({fresh * kRow}), hole);
  m.copy(from, to);
  m.copy(b, v, true);
  m.add(b, b, m.tensor({8 * kRow}, Element::kI8, true));
  return std::move(m.module);
}

TEST(BackState, WindowsMoveWithinTheirVariable) {
  // With a large table everything else is there when the variable is declared, and what moves it has to be short: then
  // the way through the scratchpad is faster. So it is where a channel has nothing but loads to do.
  contract::Capabilities small_table = edge_capabilities();
  small_table.var_entries = 4;
  small_table.dma_channels = 2;
  for (const int64_t fresh : {1, 2, 3, 4, 5, 7}) {
    SCOPED_TRACE(fresh);
    const Module module = window(fresh);
    const auto pieces = static_cast<size_t>((8 - fresh + fresh - 1) / fresh);
    const std::optional<Module> direct = backend::write_directly(module, edge_capabilities());
    ASSERT_TRUE(direct);
    EXPECT_EQ(direct->steps.size(), module.steps.size() - 2 + pieces);
    EXPECT_EQ(check_module(*direct, edge_capabilities(), {}, 1, 4), "");
    EXPECT_EQ(check_module(module, edge_capabilities(), {}, 1, 4), "");
    if (pieces > 2) continue;  // else two commands by way of the scratchpad are faster
    EXPECT_EQ(moves_of(module, small_table).in_place, static_cast<int>(pieces));
    EXPECT_EQ(moves_of(module, small_table).stored, 0);
  }
}

TEST(BackState, PlacesChangeNoResult) {
  constexpr uint32_t kSeeds = test::seeds_for(60);
  size_t spilled = 0, kept = 0, spared = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const int steps = 2 + static_cast<int>(seed % 9);
    const Module module = seed % 3 == 0 ? random_module(500 + seed, steps) : random_state_module(seed, steps);
    for (const contract::Capabilities& machine : {edge_capabilities(), nano_capabilities()}) {
      for (const uint64_t bytes : {uint64_t{0}, uint64_t{64}, uint64_t{512}, uint64_t{2048}}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", budget " + std::to_string(bytes));
        EXPECT_EQ(check_module(module, machine, budget(bytes), seed, 3), "");
        if (const std::optional<Module> direct = backend::write_directly(module, machine)) {
          EXPECT_EQ(check_module(*direct, machine, budget(bytes), seed, 3), "");
          spared += module.steps.size() - direct->steps.size();
        }
        const Program program = schedule(Module(module), machine, budget(bytes));
        if (seed % 5 == 0) {
          EXPECT_THAT(OrderCheck(program, machine).needless_tokens(40), ::testing::ElementsAre());
        }
        for (const Variable& v : program.variables) ++(v.in_dram ? spilled : kept);
      }
    }
  }
  std::cout << spilled << " variables in DRAM, " << kept << " in SRAM, " << spared << " steps spared\n";
  EXPECT_GT(spared, kSeeds);
  EXPECT_GT(spilled, kSeeds);
  EXPECT_GT(kept, kSeeds);
}

}  // namespace
}  // namespace npu::compiler::testing
