// SPDX-License-Identifier: Apache-2.0
// The schedule of the address generator's ports. That it is the RTL's is for tests/block to show.
#include "hw/timing/dma_ports.h"

#include <gtest/gtest.h>

#include "hw/timing/dma_cycles.h"

namespace npu::timing {
namespace {

using contract::DmaCommand;
using contract::DmaMode;

contract::Capabilities machine() {
  contract::Capabilities caps;
  caps.dma_port_bytes = 4;
  return caps;
}

DmaCommand copy(uint32_t run, std::array<uint32_t, 5> count, std::array<int32_t, 5> src, std::array<int32_t, 5> dst) {
  DmaCommand command;
  command.mode = DmaMode::kCopy;
  command.run_bytes = run;
  command.count = count;
  command.src_stride = src;
  command.dst_stride = dst;
  return command;
}

// Steps until it is done; what is granted is what `grant` lets through.
uint64_t cycles(PortSchedule& schedule, Ports grant = kAllPorts) {
  uint64_t cycles = 0;
  for (; !schedule.done(); ++cycles) schedule.step(schedule.asking() & grant);
  return cycles;
}

TEST(DmaPortsTest, EachSideHasItsOwnBeats) {
  // The source is one piece of 24 bytes, the destination four of 6 bytes.
  const DmaCommand command = copy(6, {1, 1, 1, 1, 4}, {0, 0, 0, 0, 6}, {0, 0, 0, 0, 10});
  EXPECT_EQ(dma_side_beats(contract::dma_source(command), 4), 6u);
  EXPECT_EQ(dma_side_beats(contract::dma_destination(command), 4), 8u);
  const auto schedule = dma_ports(command, machine());
  EXPECT_EQ(schedule->asking(), 0u);
  schedule->step(0);
  EXPECT_EQ(schedule->asking(), 0u);
  schedule->step(0);
  EXPECT_EQ(schedule->asking(), Ports{kDmaSource | kDmaDestination});
  for (int beat = 0; beat < 6; ++beat) schedule->step(kDmaSource);
  EXPECT_EQ(schedule->asking(), Ports{kDmaDestination});
  EXPECT_FALSE(schedule->done());
  EXPECT_EQ(cycles(*schedule), 8u);
}

TEST(DmaPortsTest, AFillReadsNothing) {
  DmaCommand command = copy(8, {1, 1, 1, 2, 2}, {}, {0, 0, 0, 100, 8});
  command.mode = DmaMode::kFill;
  const auto schedule = dma_ports(command, machine());
  EXPECT_EQ(cycles(*schedule, kDmaDestination), 2u + 8);
}

TEST(DmaPortsTest, AtOnceItTakesTheCyclesOfTheFormula) {
  const DmaCommand command = copy(7, {2, 1, 3, 4, 5}, {84, 0, 28, 7, 28}, {420, 9, 140, 35, 7});
  const auto schedule = dma_ports(command, machine());
  EXPECT_EQ(cycles(*schedule), 2 + dma_cycles(command, machine()).steady);
}

// 6 indices, 4 bytes each, for rows of two pieces of 6 bytes; what is written follows.
TEST(DmaPortsTest, IndicesComeBeforeRows) {
  DmaCommand command = copy(6, {2, 100, 3, 1, 2}, {999, 50, 0, 0, 10}, {36, 0, 12, 0, 6});
  command.mode = DmaMode::kGather;
  EXPECT_EQ(dma_index_beats(command, 4), 6u);
  EXPECT_EQ(dma_index_beats(command, 16), 2u);
  EXPECT_EQ(dma_side_beats(contract::dma_source(command), 4), 6u * 2 * 2);
  EXPECT_EQ(dma_side_beats(contract::dma_destination(command), 4), 72u / 4);
  EXPECT_EQ(dma_bytes(command), 72u);
  EXPECT_EQ(dma_pieces(command), 12u);
  const auto schedule = dma_ports(command, machine());
  schedule->step(0);
  schedule->step(0);
  for (int beat = 0; beat < 6; ++beat) {
    EXPECT_EQ(schedule->asking(), Ports{kDmaIndex});
    schedule->step(0);  // waits
    EXPECT_EQ(schedule->asking(), Ports{kDmaIndex});
    schedule->step(kDmaIndex);
  }
  for (uint64_t cycle = 0; cycle < kDmaIndexCycles; ++cycle) {
    EXPECT_EQ(schedule->asking(), 0u);
    schedule->step(0);
  }
  EXPECT_EQ(schedule->asking(), Ports{kDmaSource | kDmaDestination});
  EXPECT_EQ(cycles(*schedule), 24u);
  EXPECT_EQ(cycles(*dma_ports(command, machine())), 2 + dma_cycles(command, machine()).steady);
}

// The rows of a scatter never follow each other where they go, even where their strides would.
TEST(DmaPortsTest, ChosenRowsAreApart) {
  DmaCommand command = copy(4, {3, 9, 5, 1, 1}, {20, 0, 4, 0, 0}, {4, 4, 0, 0, 0});
  command.mode = DmaMode::kScatter;
  EXPECT_EQ(dma_pieces(command), 15u);
  EXPECT_EQ(dma_side_beats(contract::dma_source(command), 16), 4u);
  EXPECT_EQ(dma_side_beats(contract::dma_destination(command), 16), 15u);
}

}  // namespace
}  // namespace npu::timing
