// SPDX-License-Identifier: Apache-2.0
// Field checks.
#include "hw/model/validate.h"

#include <gtest/gtest.h>

#include <random>

#include "hw/contract/gen/micro_operations.h"
#include "tests/unit/model/stream.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;

template <class Command>
ErrorCode check(const Command& command) {
  std::vector<uint32_t> words;
  command.encode(words);
  DecodedCommand decoded;
  return check_command(words, small_machine(), decoded);
}

TEST(ValidateTest, GoodCommandsPass) {
  EXPECT_EQ(check(copy(0, dram(0), spm(0), 16)), ErrorCode::kOk);
  EXPECT_EQ(check(fill(2, spm(0), 16, 1, 8)), ErrorCode::kOk);
  EXPECT_EQ(check(ewise(spm(0), spm(64), 16)), ErrorCode::kOk);
}

TEST(ValidateTest, OfASkippedCommandOnlyTheHeaderCounts) {
  contract::DmaCommand dma = copy(0, dram(0), spm(0), 16);
  dma.run_bytes = 0;
  EXPECT_EQ(check(dma), ErrorCode::kFaultBadCommand);
  dma.header.skip = true;
  EXPECT_EQ(check(dma), ErrorCode::kOk);
  dma.header.queue = contract::Queue::kDma7;
  EXPECT_EQ(check(dma), ErrorCode::kFaultBadCommand) << "this machine has no such channel";
  dma.header.queue = contract::Queue::kDma0;
  dma.header.wait[7] = 1;
  EXPECT_EQ(check(dma), ErrorCode::kFaultToken);
  contract::LabelCommand label;
  label.header.queue = contract::Queue::kSequencer;
  label.header.skip = true;
  EXPECT_EQ(check(label), ErrorCode::kFaultBadCommand) << "the sequencer skips nothing of its own";
}

TEST(ValidateTest, RowsByIndexHaveTheirOwnDimensions) {
  contract::DmaCommand dma = copy(0, dram(0), spm(0), 16);
  dma.index = dram(4);
  EXPECT_EQ(check(dma), ErrorCode::kFaultBadCommand) << "a copy has no indices";
  dma.mode = contract::DmaMode::kFill;
  dma.fill_bytes = 1;
  EXPECT_EQ(check(dma), ErrorCode::kFaultBadCommand);
  for (const contract::DmaMode mode : {contract::DmaMode::kGather, contract::DmaMode::kScatter}) {
    const bool gathers = mode == contract::DmaMode::kGather;
    contract::DmaCommand good = dma;
    good.mode = mode;
    good.count = {4, 0xffffffff, 64, 2, 2};
    (gathers ? good.src_stride : good.dst_stride) = {1, 2, 0, 3, 4};
    (gathers ? good.dst_stride : good.src_stride) = {1, 0, 2, 3, 4};
    EXPECT_EQ(check(good), ErrorCode::kOk);
    contract::DmaCommand bad = good;
    bad.src_stride[gathers ? 2 : 1] = 1;
    EXPECT_EQ(check(bad), ErrorCode::kFaultBadCommand);
    bad = good;
    bad.dst_stride[gathers ? 1 : 2] = 1;
    EXPECT_EQ(check(bad), ErrorCode::kFaultBadCommand);
    bad = good;
    bad.count[2] = 65;  // 260 indices
    EXPECT_EQ(check(bad), ErrorCode::kFaultBadCommand);
    bad.count[0] = 0x10000;  // as many as 0 in 32 bits
    bad.count[2] = 0x10000;
    EXPECT_EQ(check(bad), ErrorCode::kFaultBadCommand);
    bad = good;
    bad.index.offset = 6;
    EXPECT_EQ(check(bad), ErrorCode::kFaultBadCommand);
    bad = good;
    bad.count[1] = 0;
    EXPECT_EQ(check(bad), ErrorCode::kFaultBadCommand);
  }
}

TEST(ValidateTest, BlocksMustBeAsLongAsTheirOperationNeeds) {
  for (const auto& [op, bytes] :
       std::vector<std::pair<contract::UopCode, uint32_t>>{{contract::UopCode::kTable8, 256},
                                                           {contract::UopCode::kTable16, 1026},
                                                           {contract::UopCode::kTable32, 1024},
                                                           {contract::UopCode::kRescale, 48}}) {
    contract::VpuEwiseCommand command = ewise(spm(0), spm(64), 4);
    contract::Operand block;
    block.bytes = bytes;
    command.operands.push_back(block);
    contract::Uop uop;
    uop.op = op;
    uop.b = 2;
    contract::RescaleImmediate how = {contract::Rescale::kSingle32, false, contract::Element::kI8, false};
    if (op == contract::UopCode::kRescale) uop.imm0 = how.pack();
    command.uops.insert(command.uops.begin() + 1, uop);
    EXPECT_EQ(check(command), ErrorCode::kOk);
    command.operands[2].bytes = bytes - 1;
    EXPECT_EQ(check(command), ErrorCode::kFaultBadCommand);
    command.operands[2].bytes = bytes;
    if (op == contract::UopCode::kRescale) {
      how.per_channel = true;  // an entry for each of the 4 innermost indices
      command.uops[1].imm0 = how.pack();
      EXPECT_EQ(check(command), ErrorCode::kFaultBadCommand);
      command.operands[2].bytes = 32 + 4 * 16;
      EXPECT_EQ(check(command), ErrorCode::kOk);
    }
  }
}

TEST(ValidateTest, WhatAnEngineRefusesIsNotIssued) {
  contract::MxuCommand mxu;
  mxu.header.queue = contract::Queue::kMxu;
  mxu.in_h = mxu.in_w = mxu.in_c = mxu.out_h = mxu.out_w = mxu.out_c = 1;
  mxu.kernel_h = mxu.kernel_w = mxu.stride_y = mxu.stride_x = mxu.dilation_y = mxu.dilation_x = 1;
  mxu.dst_type = contract::Element::kI32;
  EXPECT_EQ(check(mxu), ErrorCode::kOk);
  mxu.dst_type = contract::Element::kI8;  // accumulators do not fit
  EXPECT_EQ(check(mxu), ErrorCode::kFaultBadCommand);
  mxu.dst_type = contract::Element::kI32;
  mxu.header.queue = contract::Queue::kVpu;
  EXPECT_EQ(check(mxu), ErrorCode::kFaultBadCommand);
  contract::VpuEwiseCommand unread = ewise(spm(0), spm(64), 16);
  unread.uops.erase(unread.uops.begin());  // stores a register that nothing wrote
  EXPECT_EQ(check(unread), ErrorCode::kFaultBadCommand);
}

TEST(ValidateTest, TilesHaveTheElementTypesOfTheMachine) {
  contract::MxuCommand mxu;
  mxu.header.queue = contract::Queue::kMxu;
  mxu.in_h = mxu.in_w = mxu.in_c = mxu.out_h = mxu.out_w = mxu.out_c = 1;
  mxu.kernel_h = mxu.kernel_w = mxu.stride_y = mxu.stride_x = mxu.dilation_y = mxu.dilation_x = 1;
  for (const bool wide : {false, true}) {
    mxu.src_type = wide ? contract::Element::kI16 : contract::Element::kI8;
    mxu.dst_type = wide ? contract::Element::kI48 : contract::Element::kI32;
    std::vector<uint32_t> words;
    mxu.encode(words);
    for (const uint32_t has_int16 : {0U, 1U}) {
      contract::Capabilities machine = small_machine();
      machine.mxu_int16 = has_int16;
      DecodedCommand decoded;
      EXPECT_EQ(check_command(words, machine, decoded),
                wide && has_int16 == 0 ? ErrorCode::kFaultBadCommand : ErrorCode::kOk);
    }
  }
}

TEST(ValidateTest, TilesHaveAResidualWhereTheMachineHas) {
  contract::MxuCommand mxu;
  mxu.header.queue = contract::Queue::kMxu;
  mxu.in_h = mxu.in_w = mxu.in_c = mxu.out_h = mxu.out_w = mxu.out_c = 1;
  mxu.kernel_h = mxu.kernel_w = mxu.stride_y = mxu.stride_x = mxu.dilation_y = mxu.dilation_x = 1;
  mxu.rescale = contract::Rescale::kDouble32;
  mxu.dst_type = contract::Element::kI8;
  mxu.residual = contract::Residual::kScaleOperand;
  std::vector<uint32_t> words;
  mxu.encode(words);
  for (const uint32_t has_residual : {0U, 1U}) {
    contract::Capabilities machine = small_machine();
    machine.mxu_residual = has_residual;
    DecodedCommand decoded;
    EXPECT_EQ(check_command(words, machine, decoded), has_residual == 0 ? ErrorCode::kFaultBadCommand : ErrorCode::kOk);
  }
}

// small_machine() has 8 columns for at most two pixels side by side.
TEST(ValidateTest, PixelsSideBySideFillTheMachinesColumns) {
  contract::MxuCommand mxu;
  mxu.header.queue = contract::Queue::kMxu;
  mxu.in_h = mxu.in_c = mxu.out_h = 1;
  mxu.in_w = mxu.out_w = 8;
  mxu.kernel_h = mxu.kernel_w = mxu.stride_y = mxu.stride_x = mxu.dilation_y = mxu.dilation_x = 1;
  mxu.dst_type = contract::Element::kI32;
  const auto code_of = [&](uint32_t log2, uint32_t channels, uint32_t split) {
    mxu.side_by_side_log2 = log2;
    mxu.out_c = channels;
    mxu.dst_pixel_stride = static_cast<int32_t>(4 * channels);
    std::vector<uint32_t> words;
    mxu.encode(words);
    contract::Capabilities machine = small_machine();
    machine.mxu_split = split;
    DecodedCommand decoded;
    return check_command(words, machine, decoded);
  };
  EXPECT_EQ(code_of(1, 4, 2), ErrorCode::kOk);
  EXPECT_EQ(code_of(1, 4, 4), ErrorCode::kOk);
  EXPECT_EQ(code_of(2, 2, 4), ErrorCode::kOk);
  EXPECT_EQ(code_of(1, 4, 1), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(code_of(2, 2, 2), ErrorCode::kFaultBadCommand);
  for (const uint32_t channels : {1U, 2U, 3U, 5U, 8U}) {
    EXPECT_EQ(code_of(1, channels, 2), ErrorCode::kFaultBadCommand) << channels;
  }
}

TEST(ValidateTest, RandomWordsNeverPassUnnoticedOrCrash) {
  std::mt19937 random(5);
  const std::array<uint32_t, 9> opcodes{1, 2, 3, 16, 32, 48, 49, 50, 77};
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<uint32_t> words(5 + random() % 60);
    for (uint32_t& word : words) word = random() % 3 == 0 ? static_cast<uint32_t>(random()) : random() % 4;
    words[0] = opcodes[random() % opcodes.size()] | static_cast<uint32_t>(words.size()) << 8 | (random() % 16) << 16;
    DecodedCommand decoded;
    const ErrorCode code = check_command(words, small_machine(), decoded);
    EXPECT_TRUE(code == ErrorCode::kOk || code == ErrorCode::kFaultBadCommand || code == ErrorCode::kFaultToken);
  }
}

}  // namespace
}  // namespace npu::model::testing
