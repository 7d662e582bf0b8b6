// SPDX-License-Identifier: Apache-2.0
// Field checks.
#include "hw/model/validate.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/model/stream.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;

template <class Command>
ErrorCode check(const Command& command) {
  std::vector<uint32_t> words;
  command.encode(words);
  contract::AnyCommand decoded;
  return check_command(words, small_machine(), decoded);
}

TEST(ValidateTest, GoodCommandsPass) {
  EXPECT_EQ(check(copy(0, dram(0), spm(0), 16)), ErrorCode::kOk);
  EXPECT_EQ(check(fill(2, spm(0), 16, 1, 8)), ErrorCode::kOk);
  EXPECT_EQ(check(ewise(spm(0), spm(64), 16)), ErrorCode::kOk);
}

TEST(ValidateTest, BlocksMustBeAsLongAsTheirOperationNeeds) {
  for (const auto& [op, bytes] : std::vector<std::pair<contract::UopCode, uint32_t>>{
           {contract::UopCode::kTable8, 256}, {contract::UopCode::kTable16, 1026}, {contract::UopCode::kRescale, 48}}) {
    contract::VpuEwiseCommand command = ewise(spm(0), spm(64), 4);
    contract::Operand block;
    block.bytes = bytes;
    command.operands.push_back(block);
    contract::Uop uop;
    uop.op = op;
    uop.b = 2;
    command.uops.insert(command.uops.begin() + 1, uop);
    EXPECT_EQ(check(command), ErrorCode::kOk);
    command.operands[2].bytes = bytes - 1;
    EXPECT_EQ(check(command), ErrorCode::kFaultBadCommand);
    command.operands[2].bytes = bytes;
    command.uops[1].imm0 = 1 << 8;  // rescale per channel: an entry for each of the 4 innermost indices
    if (op == contract::UopCode::kRescale) {
      EXPECT_EQ(check(command), ErrorCode::kFaultBadCommand);
      command.operands[2].bytes = 32 + 4 * 16;
      EXPECT_EQ(check(command), ErrorCode::kOk);
    }
  }
}

TEST(ValidateTest, RandomWordsNeverPassUnnoticedOrCrash) {
  std::mt19937 random(5);
  const std::array<uint32_t, 9> opcodes{1, 2, 3, 16, 32, 48, 49, 50, 77};
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<uint32_t> words(5 + random() % 60);
    for (uint32_t& word : words) word = random() % 3 == 0 ? static_cast<uint32_t>(random()) : random() % 4;
    words[0] = opcodes[random() % opcodes.size()] | static_cast<uint32_t>(words.size()) << 8 | (random() % 16) << 16;
    contract::AnyCommand decoded;
    const ErrorCode code = check_command(words, small_machine(), decoded);
    EXPECT_TRUE(code == ErrorCode::kOk || code == ErrorCode::kFaultBadCommand || code == ErrorCode::kFaultToken);
  }
}

}  // namespace
}  // namespace npu::model::testing
