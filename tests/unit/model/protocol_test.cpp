// SPDX-License-Identifier: Apache-2.0
// The memory port against every way in which the base protocol lets a target answer. The rules that bind the initiator
// are checked by TestMemory itself.
#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;

void traffic(Answer answer) {
  BenchOptions options;
  options.answer = answer;
  Bench bench(options);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0x13), spm(0), 1000));
  stream.add(copy(1, dram(0x2000), dram(0x8000), 2000));
  stream.add(copy(2, dram(0x4000), spm(0x4000), 3000));
  stream.add(copy(0, spm(0), dram(0xc000), 1000));
  stream.add(copy(2, spm(0x4000), dram(0x10000), 3000));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  const auto& data = bench.memory.data;
  EXPECT_TRUE(std::equal(data.begin() + 0x13, data.begin() + 0x13 + 1000, data.begin() + 0xc000));
  EXPECT_TRUE(std::equal(data.begin() + 0x2000, data.begin() + 0x2000 + 2000, data.begin() + 0x8000));
  EXPECT_TRUE(std::equal(data.begin() + 0x4000, data.begin() + 0x4000 + 3000, data.begin() + 0x10000));
  bench.expect_identities();
  const uint64_t cycles = bench.job_cycles();
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.job_cycles(), cycles);
  EXPECT_EQ(bench.memory.in_flight, 0u);
  EXPECT_EQ(bench.memory.blocking, 0u);
  for (uint32_t length : bench.memory.lengths) EXPECT_LE(length, small_machine().dma_burst_bytes);
}

TEST(ProtocolTest, EndReqOnTheReturnPath) { traffic(Answer::kUpdated); }
TEST(ProtocolTest, FourPhases) { traffic(Answer::kFourPhases); }
TEST(ProtocolTest, ResponseWithoutEndReq) { traffic(Answer::kNoEndReq); }
TEST(ProtocolTest, CompletedAtOnce) { traffic(Answer::kCompleted); }
TEST(ProtocolTest, ResponseOnTheReturnPath) { traffic(Answer::kBeginResp); }
TEST(ProtocolTest, ResponsesOutOfOrder) { traffic(Answer::kReversed); }

TEST(ProtocolTest, ChannelsShareThePort) {
  // Three channels load 64 KiB together: with memory fast enough the response path is the limit, 16 bytes a cycle.
  Bench bench;
  bench.memory.latency = sc_core::sc_time(3, sc_core::SC_NS);
  Stream stream(small_machine());
  for (uint32_t channel = 0; channel < 3; ++channel) {
    stream.add(copy(channel, dram(channel * 0x4000), spm(channel * 0x4000), 0x4000));
  }
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  const uint64_t least = 3 * 0x4000 / 16;
  EXPECT_GE(bench.job_cycles(), least);
  EXPECT_LT(bench.job_cycles(), least + least / 8);
}

}  // namespace
}  // namespace npu::model::testing
