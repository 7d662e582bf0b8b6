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
ErrorCode check_on(const contract::Capabilities& machine, const Command& command) {
  std::vector<uint32_t> words;
  command.encode(words);
  DecodedCommand decoded;
  return check_command(words, machine, decoded);
}
template <class Command>
ErrorCode check(const Command& command) {
  return check_on(small_machine(), command);
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
  // Of floating point, if it has that too.
  mxu.src_type = mxu.weight_type = mxu.dst_type = contract::Element::kF16;
  mxu.rescale = contract::Rescale::kFloating;
  mxu.residual = contract::Residual::kFloating;
  words.clear();
  mxu.encode(words);
  for (const uint32_t has_residual : {0U, 1U}) {
    for (const uint32_t cycles : {0U, 4U}) {
      contract::Capabilities machine = small_machine();
      machine.mxu_residual = has_residual;
      machine.mxu_fp16_cycles = cycles;
      DecodedCommand decoded;
      EXPECT_EQ(check_command(words, machine, decoded),
                has_residual == 0 || cycles == 0 ? ErrorCode::kFaultBadCommand : ErrorCode::kOk);
    }
  }
}

// A machine that has all formats, or of the MXU's all but one.
TEST(ValidateTest, TilesHaveTheFormatsOfTheMachine) {
  using contract::Element;
  struct Format {
    Element type;
    uint32_t contract::Capabilities::*cycles;
  };
  const Format formats[] = {{Element::kF16, &contract::Capabilities::mxu_fp16_cycles},
                            {Element::kBf16, &contract::Capabilities::mxu_bf16_cycles},
                            {Element::kF32, &contract::Capabilities::mxu_fp32_cycles},
                            {Element::kF8e4m3, &contract::Capabilities::mxu_fp8_cycles},
                            {Element::kF8e5m2, &contract::Capabilities::mxu_fp8_cycles}};
  contract::MxuCommand mxu;
  mxu.header.queue = contract::Queue::kMxu;
  mxu.in_h = mxu.in_w = mxu.in_c = mxu.out_h = mxu.out_w = mxu.out_c = 1;
  mxu.kernel_h = mxu.kernel_w = mxu.stride_y = mxu.stride_x = mxu.dilation_y = mxu.dilation_x = 1;
  mxu.rescale = contract::Rescale::kFloating;
  mxu.dst_type = Element::kF16;
  int checked = 0;
  for (const Format& format : formats) {
    for (const contract::MxuMode mode :
         {contract::MxuMode::kConv, contract::MxuMode::kDepthwise, contract::MxuMode::kMatmul}) {
      mxu.mode = mode;
      mxu.multiplier = 1;
      mxu.src_type = mxu.weight_type = format.type;
      for (const Format& missing : formats) {
        contract::Capabilities machine = small_machine();
        for (const Format& each : formats) machine.*each.cycles = 3;
        EXPECT_EQ(check_on(machine, mxu), ErrorCode::kOk);
        machine.*missing.cycles = 0;
        const bool has = missing.cycles != format.cycles;
        EXPECT_EQ(check_on(machine, mxu), has ? ErrorCode::kOk : ErrorCode::kFaultBadCommand);
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 75);
}

TEST(ValidateTest, TheVpuHasFloatingPointOrNone) {
  using contract::Element;
  const auto expect_needs_floats = [](const auto& command, const std::string& what) {
    contract::Capabilities machine = small_machine();
    EXPECT_EQ(check_on(machine, command), ErrorCode::kFaultBadCommand) << what;
    machine.vpu_float = 1;
    EXPECT_EQ(check_on(machine, command), ErrorCode::kOk) << what;
  };
  // Each micro-operation between registers of integers.
  int operations = 0;
  for (uint32_t code = 0; code < contract::kUopCount; ++code) {
    const auto op = static_cast<contract::UopCode>(code);
    if (!uop_info(op).floats) continue;
    contract::VpuEwiseCommand command = ewise(spm(0), spm(64), 4);
    contract::Uop uop;
    uop.op = op;
    if (uop_info(op).imm0.role == contract::UopRole::kElement) {
      while ((uop_info(op).imm0.elements >> uop.imm0 & 1) == 0) ++uop.imm0;
    }
    command.uops.insert(command.uops.begin() + 1, uop);
    expect_needs_floats(command, std::string(name(op)));
    ++operations;
  }
  EXPECT_EQ(operations, 20);
  for (const Element type : {Element::kF16, Element::kBf16, Element::kF32, Element::kF8e4m3, Element::kF8e5m2}) {
    contract::VpuEwiseCommand loads = ewise(spm(0), spm(64), 4), stores = loads;
    loads.operands[0].type = type;
    expect_needs_floats(loads, std::string("a load of ") + std::string(name(type)));
    stores.operands[1].type = type;
    stores.operands[1].stride[3] = static_cast<int32_t>(element_bytes(type));
    expect_needs_floats(stores, std::string("a store of ") + std::string(name(type)));
    contract::VpuReduceCommand reduce;
    reduce.header.queue = contract::Queue::kVpu;
    reduce.outer = reduce.axis = reduce.inner = 1;
    reduce.type = type;
    reduce.op = contract::ReduceOp::kArgmax;
    expect_needs_floats(reduce, std::string("argmax of ") + std::string(name(type)));
    contract::VpuPoolCommand pool;
    pool.header.queue = contract::Queue::kVpu;
    pool.in_h = pool.in_w = pool.channels = pool.out_h = pool.out_w = 1;
    pool.kernel_h = pool.kernel_w = pool.stride_y = pool.stride_x = 1;
    pool.type = type;
    expect_needs_floats(pool, std::string("a pooling of ") + std::string(name(type)));
    if (element_bytes(type) == 1) continue;
    reduce.op = contract::ReduceOp::kProduct;
    expect_needs_floats(reduce, std::string("a product of ") + std::string(name(type)));
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
