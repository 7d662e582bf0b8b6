// SPDX-License-Identifier: Apache-2.0
// The order of commands, what it is chosen by, and where constants of loops are loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/compiler/lower.h"
#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/estimator.h"
#include "driver/compiler/schedule/exposure.h"
#include "driver/compiler/schedule/footprint.h"
#include "driver/compiler/schedule/order.h"
#include "driver/compiler/schedule/tokens.h"
#include "driver/graph/builder.h"
#include "hw/contract/stream.h"
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::testing {
namespace {

using backend::Command;
using contract::Queue;
using contract::Region;
using ::testing::ElementsAre;

TEST(BusyTimes, AreTakenInPiecesWhereTheyAreFree) {
  backend::BusyTimes port;
  EXPECT_EQ(port.take(10, 10), 20);
  EXPECT_EQ(port.take(30, 10), 40);
  EXPECT_EQ(port.take(0, 10), 10);
  EXPECT_EQ(port.take(5, 15), 45) << "10 from 20 on, and 5 from 40 on";
  EXPECT_EQ(port.take(0, 1), 46);
  port.forget(46);
  EXPECT_EQ(port.take(46, 4), 50);
  EXPECT_EQ(port.take(100, 4), 104);
  EXPECT_EQ(port.take(60, 4), 64) << "before what is taken already";
}

Command copy_command(Queue queue, Region from, uint32_t src, uint32_t dst, uint32_t bytes) {
  contract::DmaCommand dma;
  dma.header.queue = queue;
  dma.src = {src, from, 0};
  dma.dst = {dst, Region::kScratchpad, 0};
  dma.run_bytes = bytes;
  dma.count.fill(1);
  return {dma, from == Region::kConstants ? Command::Part::kLoad : Command::Part::kCompute};
}
Command load_to(uint32_t dst, uint32_t bytes) { return copy_command(Queue::kDma0, Region::kConstants, 0, dst, bytes); }
Command use_of(uint32_t src, uint32_t bytes) {
  return copy_command(Queue::kDma3, Region::kScratchpad, src, src + 0x8000, bytes);
}

std::vector<size_t> hoisted(const std::vector<Command>& commands, const contract::Capabilities& machine) {
  std::vector<std::vector<backend::ByteSet>> footprints;
  for (const Command& command : commands) footprints.push_back(backend::footprint(command.body));
  return backend::hoist_loads(commands, backend::find_needs(commands, footprints), {}, machine);
}

// Whether a command waits for another that writes the column beside its own.
bool waits_for_the_next_column(uint32_t rows) {
  const auto column = [&](Queue queue, uint32_t dst) {
    Command command = copy_command(queue, Region::kInput, 0, dst, 1);
    auto& dma = std::get<contract::DmaCommand>(command.body);
    dma.count[0] = rows;
    dma.src_stride[0] = dma.dst_stride[0] = 4;
    return command;
  };
  const std::vector<Command> commands = {column(Queue::kDma0, 0), column(Queue::kDma1, 1)};
  std::vector<std::vector<backend::ByteSet>> footprints;
  for (const Command& command : commands) footprints.push_back(backend::footprint(command.body));
  return backend::find_needs(commands, footprints)[1][Queue::kDma0] == 1;
}

TEST(Needs, AColumnOfVeryManyRowsIsAllThatIsBetweenThem) {
  EXPECT_FALSE(waits_for_the_next_column(16384));
  EXPECT_TRUE(waits_for_the_next_column(16385)) << "too many to look at each";
}

TEST(HoistLoads, PutsThemAsFarAheadAsTheirBytesAllow) {
  // The second load overwrites what the first use reads; the third one nothing.
  const std::vector<Command> commands = {load_to(0, 4096), use_of(0, 4096),     load_to(0, 4096),
                                         use_of(0, 4096),  load_to(0x1000, 64), use_of(0x1000, 64)};
  EXPECT_THAT(hoisted(commands, edge_capabilities()), ElementsAre(0, 1, 2, 4, 3, 5));
}

TEST(HoistLoads, LeavesRoomInTheFifo) {
  std::vector<Command> commands;
  for (uint32_t i = 0; i < 12; ++i) {
    commands.push_back(load_to(i * 2048, 2048));
    commands.push_back(use_of(i * 2048, 2048));
  }
  contract::Capabilities machine = edge_capabilities();
  machine.fifo_depth = 2;
  const std::vector<size_t> order = hoisted(commands, machine);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), hoisted(commands, edge_capabilities()).begin()));
  const auto first_use = std::find(order.begin(), order.end(), 1U);
  EXPECT_EQ(first_use - order.begin(), 3) << "one load is at work, and two wait";
}

TEST(HoistLoads, StayBehindControlFlow) {
  contract::LabelCommand label;
  label.header.queue = Queue::kSequencer;
  const std::vector<Command> commands = {load_to(0, 64), use_of(0, 64),   {label},
                                         use_of(0, 64),  load_to(64, 64), use_of(64, 64)};
  EXPECT_THAT(hoisted(commands, edge_capabilities()), ElementsAre(0, 1, 2, 4, 3, 5));
}

TEST(Exposure, IsThePartOfALoadBehindWhichNothingElseRuns) {
  std::vector<Command> commands = {load_to(0, 64), load_to(64, 64), use_of(0, 64), use_of(64, 64)};
  commands[1].step = commands[3].step = 1;
  backend::Timeline timeline;
  timeline.times = {{0, 0, 100}, {100, 100, 140}, {100, 20, 130}, {140, 130, 150}};
  EXPECT_THAT(backend::observe_exposure(commands, timeline, {0.5, 0.5, 0.25}), ElementsAre(0.8, 0.25, 0.25));
}

// A loop whose body adds a constant of so many bytes.
graph::Graph loop_that_adds(int64_t bytes) {
  using graph::DType;
  graph::GraphBuilder more("more"), body("body"), b;
  const graph::Shape shape = {1, bytes / 4};
  for (graph::GraphBuilder* region : {&more, &body}) {
    region->input({}, DType::kBool, {1});
    region->input({}, DType::kInt32, shape);
  }
  more.output(0);
  std::vector<double> values(static_cast<size_t>(bytes / 4));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  body.output(0);
  body.output(body.add(1, body.constant(DType::kInt32, shape, values)));
  b.add_region(std::move(more));
  b.add_region(std::move(body));
  const graph::TensorId flag = b.op(graph::Op::kLogicalNot, {b.input("stop", DType::kBool, {1})});
  for (const graph::TensorId id : b.while_loop({flag, b.input("x", DType::kInt32, shape)}, "more", "body"))
    b.output(id);
  return b.build();
}

struct Loads {
  int64_t before = 0, inside = 0;  // bytes of constants that are read before the loop, and in it
};

Loads loads_of(const graph::Graph& graph, const contract::Capabilities& machine) {
  const Program program = schedule(lower(graph, machine), machine);
  Loads loads;
  bool inside = false;
  EXPECT_TRUE(contract::for_each_command(std::span(program.commands).first(program.main_words),
                                         [&](const contract::Header& header, std::span<const uint32_t> words) {
                                           inside |= header.opcode == contract::Opcode::kLabel;
                                           if (header.opcode != contract::Opcode::kDma) return true;
                                           const auto dma = contract::DmaCommand::decode(words);
                                           if (dma.src.region != Region::kConstants) return true;
                                           (inside ? loads.inside : loads.before) += dma.run_bytes;
                                           return true;
                                         }));
  return loads;
}

TEST(LoopConstants, AreLoadedOnceBeforeTheLoop) {
  const Loads loads = loads_of(loop_that_adds(4096), edge_capabilities());
  EXPECT_GE(loads.before, 4096);
  EXPECT_EQ(loads.inside, 0);
}

TEST(LoopConstants, ThatDoNotFitAreLoadedInIt) {
  contract::Capabilities tiny = nano_capabilities();
  tiny.spm_bytes = 8 << 10;
  const Loads loads = loads_of(loop_that_adds(16 << 10), tiny);
  EXPECT_GE(loads.inside, 16 << 10);
}

}  // namespace
}  // namespace npu::compiler::testing
