// SPDX-License-Identifier: Apache-2.0
// The C header says the same as the C++ ones.
#include <gtest/gtest.h>

#include <random>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/contract/gen/npu_contract.h"
#include "hw/contract/gen/registers.h"

extern "C" void npu_test_make_dma(uint32_t* words);

namespace npu::contract {
namespace {

TEST(CHeader, MakesTheSameCommand) {
  std::vector<uint32_t> words(NPU_DMA_WORDS);
  npu_test_make_dma(words.data());
  DmaCommand dma;
  dma.header.queue = Queue::kDma2;
  dma.dst = {.offset = 0x1000, .region = Region::kVariable, .variable = 0x123};
  dma.mode = DmaMode::kFill;
  dma.commit = true;
  dma.run_bytes = 77;
  std::vector<uint32_t> expected;
  dma.encode(expected);
  EXPECT_EQ(words, expected);
}

TEST(CHeader, ReadsTheSameFields) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<uint32_t> words(NPU_MXU_WORDS);
    for (uint32_t& word : words) word = random();
    const MxuCommand mxu = MxuCommand::decode(words);
    EXPECT_EQ(NPU_GET(words.data(), HEADER_LAYER), mxu.header.layer);
    for (uint32_t i = 0; i < NPU_HEADER_WAIT_COUNT; ++i) {
      EXPECT_EQ(NPU_GET_AT(words.data(), HEADER_WAIT, i), mxu.header.wait[i]);
    }
    EXPECT_EQ(NPU_GET(words.data(), MXU_DST_TYPE), static_cast<uint32_t>(mxu.dst_type));
    EXPECT_EQ(NPU_GET_SIGNED(words.data(), MXU_PAD_TOP), mxu.pad_top);
    EXPECT_EQ(NPU_GET_SIGNED(words.data(), MXU_PAD_LEFT), mxu.pad_left);
    EXPECT_EQ(NPU_GET_SIGNED(words.data(), MXU_W_STRIDE), mxu.w_stride);
    EXPECT_EQ(words[NPU_MXU_PARAMS_WORD], mxu.params.offset);
  }
}

TEST(CHeader, HasTheSameNumbers) {
  EXPECT_EQ(NPU_CONTRACT_MAJOR, kContractMajor);
  EXPECT_EQ(NPU_CONTRACT_MINOR, kContractMinor);
  EXPECT_EQ(NPU_VARIABLE_DRAM_UNIT, kVariableDramUnit);
  EXPECT_EQ(NPU_REG_CONTROL_COLD_RESET_MASK, reg::kControlColdResetMask);
  EXPECT_EQ(NPU_REG_REGION_FLAGS(7u), reg::region_flags(7));
  EXPECT_EQ(NPU_REG_CAP_DRAM_MIB, reg::kCapDramMib);
  EXPECT_EQ(NPU_PSRAM_WINDOW, kPsramWindow);
  EXPECT_EQ(NPU_CAPABILITY_COUNT, kCapabilityCount);
  EXPECT_EQ(sizeof(npu_capabilities), sizeof(Capabilities));
  EXPECT_EQ(static_cast<uint32_t>(NPU_ERROR_FAULT_HAZARD), static_cast<uint32_t>(ErrorCode::kFaultHazard));
  EXPECT_EQ(static_cast<uint32_t>(NPU_COUNTER_MACS), static_cast<uint32_t>(Counter::kMacs));
  EXPECT_EQ(static_cast<uint32_t>(NPU_UOP_INTDIV), static_cast<uint32_t>(UopCode::kIntdiv));
  EXPECT_EQ(NPU_VPU_EWISE_MAX_UOPS, kMaxUops);
}

TEST(CHeader, StructuresLieInMemoryAsTheCppOnesStore) {
  const Event event{
      .command = 1, .layer = 2, .queue = 3, .opcode = 4, .issued = 5, .started = 6, .completed = 7, .psram_written = 8};
  npu_event other{};
  event.store(reinterpret_cast<uint8_t*>(&other));
  EXPECT_EQ(other.command, 1u);
  EXPECT_EQ(other.layer, 2u);
  EXPECT_EQ(other.queue, 3u);
  EXPECT_EQ(other.opcode, 4u);
  EXPECT_EQ(other.completed, 7u);
  EXPECT_EQ(other.psram_written, 8u);
}

}  // namespace
}  // namespace npu::contract
