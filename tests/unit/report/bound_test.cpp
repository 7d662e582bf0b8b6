// SPDX-License-Identifier: Apache-2.0
// The fewest cycles of programs written down by hand.
#include "sim/report/bound.h"

#include <gtest/gtest.h>

namespace npu::report {
namespace {

using contract::Address;
using contract::Region;

// 10 bytes in 4 cycles, by its data sheet; an array of 2 columns of 8 products, of which 4 are taps.
presets::Preset bound_machine() {
  presets::Preset machine;
  machine.caps.clock_mhz = 1000;
  machine.caps.dma_port_bytes = 16;
  machine.caps.mxu_cols = 2;
  machine.caps.mxu_depth = 8;
  machine.caps.mxu_dw_taps = 4;
  machine.caps.mxu_acc_bytes = 1024;
  machine.caps.mxu_weight_port_bytes = 8;
  machine.dram.data_rate_mts = 1250;
  machine.dram.bus_bits = 16;
  return machine;
}

class Stream {
 public:
  Stream() { program_.constants.resize(100), program_.input_bytes = 50, program_.output_bytes = 20; }

  void dma(Address src, Address dst, uint32_t run, uint32_t count = 1, int32_t src_stride = 0, int32_t dst_stride = 0) {
    contract::DmaCommand command;
    command.header.queue = contract::Queue::kDma0;
    command.src = src, command.dst = dst;
    command.run_bytes = run;
    command.count = {1, 1, 1, 1, count};
    command.src_stride[4] = src_stride, command.dst_stride[4] = dst_stride;
    add(command);
  }
  void load(uint32_t offset, uint32_t run) { dma({offset, Region::kConstants, 0}, {0, Region::kScratchpad, 0}, run); }
  // 5 x 3 pixels of 4 channels, of 4 channels or of one, with a window of one or nine.
  void mxu(contract::MxuMode mode, contract::Element type) {
    contract::MxuCommand command;
    command.header.queue = contract::Queue::kMxu;
    command.mode = mode;
    command.src_type = type;
    command.out_h = 5, command.out_w = 3, command.out_c = 4;
    command.in_c = 4;
    command.kernel_h = command.kernel_w = mode == contract::MxuMode::kDepthwise ? 3 : 1;
    add(command);
  }
  void branch(contract::BranchMode mode, uint32_t target) {
    contract::BranchCommand command;
    command.header.queue = contract::Queue::kSequencer;
    command.mode = mode;
    command.target_index = target;
    add(command);
  }
  [[nodiscard]] compiler::Program program() const {
    compiler::Program program = program_;
    program.main_words = static_cast<uint32_t>(program.commands.size());
    return program;
  }
  [[nodiscard]] Bound bound() const { return BoundFinder(program(), bound_machine()).of_any_job(); }

 private:
  template <typename Command>
  void add(const Command& command) {
    command.encode(program_.commands);
    ++program_.command_count;
  }
  compiler::Program program_;
};

constexpr Address kOnChip{0, Region::kScratchpad, 0};

TEST(Bound, CountsEachByteThatHasToMoveOnce) {
  Stream stream;
  stream.load(0, 30);
  stream.load(20, 20);                                                   // 10 of them again
  stream.dma({0, Region::kInput, 0}, kOnChip, 2, 5, 10);                 // 10 of the 50
  stream.dma({40, Region::kInput, 0}, kOnChip, 2, 5, -10);               // the same backwards
  stream.dma(kOnChip, {0, Region::kOutput, 0}, 4, 3, 0, 4);              // 12
  stream.dma(kOnChip, {0, Region::kWorkspace, 0}, 1000);                 // a spill
  stream.dma({0, Region::kWorkspace, 0}, kOnChip, 1000);                 // and back
  stream.dma({0, Region::kVariable, 0}, kOnChip, 1000);                  // state
  stream.dma({0, Region::kOutput, 0}, kOnChip, 20);                      // a result read again
  stream.dma({96, Region::kConstants, 0}, {16, Region::kOutput, 0}, 4);  // 4 from there, 4 to there
  const Bound bound = stream.bound();
  EXPECT_EQ(bound.dram_bytes, 40u + 10 + 12 + 4 + 4);
  EXPECT_EQ(bound.dram, 28u);  // 70 bytes at 2.5 a cycle
  EXPECT_EQ(bound.array, 0u);
  EXPECT_EQ(bound.cycles, 28u);
  EXPECT_EQ(bound.resource(), Resource::kDram);
}

TEST(Bound, TheArrayHasARateForEachModeAndType) {
  const auto array = [](contract::MxuMode mode, contract::Element type, int commands = 1) {
    Stream stream;
    for (int i = 0; i < commands; ++i) stream.mxu(mode, type);
    return stream.bound().array;
  };
  using contract::Element;
  using contract::MxuMode;
  EXPECT_EQ(array(MxuMode::kConv, Element::kI8), 15u);           // 240 MACs at 16 a cycle
  EXPECT_EQ(array(MxuMode::kMatmul, Element::kI16), 30u);        // half the rate
  EXPECT_EQ(array(MxuMode::kDepthwise, Element::kI8), 68u);      // 540 MACs at 8 a cycle: 67.5
  EXPECT_EQ(array(MxuMode::kDepthwise, Element::kI8, 2), 135u);  // of two, no half is lost
}

TEST(Bound, TheLargerOneCounts) {
  Stream stream;
  stream.load(0, 50);  // 20 cycles
  stream.mxu(contract::MxuMode::kConv, contract::Element::kI8);
  EXPECT_EQ(stream.bound().cycles, 20u);
  stream.mxu(contract::MxuMode::kConv, contract::Element::kI8);
  EXPECT_EQ(stream.bound().cycles, 30u);
  EXPECT_EQ(stream.bound().resource(), Resource::kMxu);
}

TEST(Bound, WhatABranchMayPassOverIsNotInEveryJob) {
  Stream stream;
  stream.load(0, 10);
  stream.branch(contract::BranchMode::kIfFalse, 3);
  stream.load(10, 20);
  stream.load(40, 5);  // the target
  stream.mxu(contract::MxuMode::kConv, contract::Element::kI8);
  stream.branch(contract::BranchMode::kRepeat, 3);
  EXPECT_EQ(stream.bound().dram_bytes, 15u);
  EXPECT_EQ(stream.bound().array, 15u);

  const BoundFinder finder(stream.program(), bound_machine());
  std::vector<contract::Event> records;
  for (const uint32_t command : {0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5}) {
    contract::Event event;
    event.command = command;
    records.push_back(event);
  }
  const Bound job = finder.of_job(records);
  EXPECT_EQ(job.dram_bytes, 35u);
  EXPECT_EQ(job.array, 45u);  // three times
  EXPECT_EQ(job.cycles, 45u);
}

TEST(Bound, WithoutBranchesLostRecordsDoNotCount) {
  Stream stream;
  stream.load(0, 10);
  EXPECT_EQ(BoundFinder(stream.program(), bound_machine()).of_job({}).dram_bytes, 10u);
}

TEST(Bound, SumsOverInvocationsAddUp) {
  Bound sum{30, 30, 20, 50};
  sum += {25, 10, 25, 60};
  EXPECT_EQ(sum.cycles, 55u);
  EXPECT_EQ(sum.dram_bytes, 110u);
  EXPECT_EQ(sum.resource(), Resource::kDram);
}

}  // namespace
}  // namespace npu::report
