// SPDX-License-Identifier: Apache-2.0
// Counters, and the ports of tiles that share banks.
#include <gtest/gtest.h>

#include "hw/engine/vpu_model.h"
#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

using contract::Counter;
using contract::ErrorCode;

TEST(CountersTest, BytesByMemory) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 1000));
  stream.add(copy(0, spm(0), dram(0x1000), 600));
  stream.add(copy(0, dram(0x2000), dram(0x3000), 100));
  stream.add(fill(1, spm(0x1000), 48, 1));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_EQ(bench.counter(0, Counter::kCommands), 3u);
  EXPECT_EQ(bench.counter(0, Counter::kDramRead), 1100u);
  EXPECT_EQ(bench.counter(0, Counter::kDramWritten), 700u);
  EXPECT_EQ(bench.counter(0, Counter::kBytesRead), 1700u);
  EXPECT_EQ(bench.counter(0, Counter::kBytesWritten), 1700u);
  EXPECT_EQ(bench.counter(1, Counter::kBytesRead), 0u);
  EXPECT_EQ(bench.counter(1, Counter::kBytesWritten), 48u);
  EXPECT_EQ(bench.counter(15, Counter::kDramRead), stream.finish().size() * 4);
  bench.expect_identities();
}

// On each of some ports 16 bytes a cycle, all in one bank (64 bytes apart, the interleave).
engine::TileResult one_bank(uint64_t cycles, size_t ports = 1) {
  const engine::Sweep sweep = {engine::Access::kRead, spm(0), {0, 64 * cycles}, 16 * cycles, cycles};
  engine::TileResult result = every_cycle(cycles, std::vector(ports, sweep));
  result.macs = 10;
  return result;
}

TEST(CountersTest, OneRequesterABankDoesNotStall) {
  Bench bench;
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) { return one_bank(512); };
  Stream stream(small_machine());
  stream.add(ewise(spm(0), spm(0x8000), 16));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBusy), 512u);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kStalled), 0u);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBankConflicts), 0u);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kMacs), 10u);
  bench.expect_cycles_add_up();
}

TEST(CountersTest, AnEngineThatDoesNotWriteItsResultBreaksTheIdentity) {
  Bench bench;
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) { return one_bank(8); };
  Stream stream(small_machine());
  stream.add(ewise(spm(0), spm(0x8000), 16));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBytesWrittenAsked), 16u);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBytesWritten), 0u);
}

// The contract names an operand once that a program stores to twice.
TEST(CountersTest, AProgramThatStoresTwiceMovesTwiceTheBytes) {
  Bench bench;
  const std::unique_ptr<engine::Engine> engine = engine::make_vpu_model(small_machine());
  bench.vpu->custom = [&](const engine::Tile& tile, engine::MemoryView& memory, bool timed) {
    return engine->run(tile, memory, timed);
  };
  contract::VpuEwiseCommand command = ewise(spm(0), spm(0x8000), 24);
  command.uops.push_back(command.uops[1]);
  Stream stream(small_machine());
  stream.add(fill(0, spm(0), 24, 1));
  stream.add(command, {{0, 1}});
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBytesWritten), 48u);
  bench.expect_identities();
}

TEST(CountersTest, TwoPortsOnOneBankTakeTwiceTheTime) {
  Bench bench;
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) { return one_bank(512, 2); };
  Stream stream(small_machine());
  stream.add(ewise(spm(0), spm(0x8000), 16));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBusy), 512u);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBankConflicts), 512u);
  bench.expect_cycles_add_up();
}

TEST(CountersTest, TwoEnginesOnOneBankShareIt) {
  Bench bench;
  bench.vpu->custom = bench.mxu->custom = [](const engine::Tile&, engine::MemoryView&, bool) { return one_bank(4096); };
  Stream stream(small_machine());
  stream.add(ewise(spm(0), spm(0x8000), 16));
  contract::MxuCommand mxu;
  mxu.header.queue = contract::Queue::kMxu;
  mxu.in_h = mxu.in_w = mxu.in_c = mxu.out_h = mxu.out_w = mxu.out_c = 1;
  mxu.kernel_h = mxu.kernel_w = mxu.stride_y = mxu.stride_x = mxu.dilation_y = mxu.dilation_x = 1;
  mxu.src = spm(0x100);
  mxu.weights = spm(0x200);
  mxu.params = spm(0x300);
  mxu.dst = spm(0x9000);
  mxu.dst_type = contract::Element::kI32;
  stream.add(mxu);
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  const uint64_t conflicts =
      bench.counter(kVpuQueue, Counter::kBankConflicts) + bench.counter(kMxuQueue, Counter::kBankConflicts);
  // 8192 accesses of one bank need 8192 cycles: while both run, one of them waits.
  EXPECT_GE(bench.job_cycles(), 8192u);
  EXPECT_LT(bench.job_cycles(), 8192u + 1000);
  EXPECT_GE(conflicts, 4096u - 600);
  bench.expect_cycles_add_up();
}

TEST(CountersTest, PersistentPortIsOneAccessACycle) {
  Bench bench;
  contract::VariableEntry entry;
  entry.base = 0x400;
  entry.length = 0x800;
  entry.owner = Bench::kOwner;
  entry.flags = 1;
  bench.set_variable(0, entry);
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) {
    // 64 bytes a cycle from a port of 16.
    return every_cycle(32, {{engine::Access::kRead, variable(0), {0, 2048}, 2048, 32}});
  };
  Stream stream(small_machine());
  stream.declare(0, 0);
  stream.add(ewise(variable(0), spm(0x8000), 16));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  // With the check of the variable behind the sequencer's, and the last answer.
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBusy), 32u + 1 + 4 + 1);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kStalled), 96u);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBankConflicts), 0u);
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kPsramRead), 2048u);
  bench.expect_cycles_add_up();
}

// Beats that a channel takes at once, because no other lane is at work, take the time of those that it takes one by
// one.
TEST(CountersTest, DmaThatIsAloneTakesTheSameTime) {
  Bench bench;
  const auto counters = [&](uint64_t beside) {
    bench.vpu->custom = [=](const engine::Tile&, engine::MemoryView&, bool) { return every_cycle(beside, {}); };
    Stream stream(small_machine());
    stream.add(ewise(spm(0x7000), spm(0x8000), 16));           // asks for nothing, for so many cycles
    contract::DmaCommand rows = copy(0, dram(0), spm(3), 37);  // rows of 37 bytes, 64 apart on the chip
    rows.count = {1, 1, 1, 1, 25};
    rows.src_stride = {0, 0, 0, 0, 37};
    rows.dst_stride = {0, 0, 0, 0, 64};
    stream.add(rows);
    stream.add(copy(0, spm(0), spm(0x4000), 1000));
    stream.add(fill(0, spm(0x2008), 2000, 1));
    stream.add(copy(0, spm(0x2000), dram(0x3000), 500));
    EXPECT_TRUE(bench.run(stream));
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
    return std::array{bench.counter(0, Counter::kBusy), bench.counter(0, Counter::kStalled),
                      bench.counter(0, Counter::kBankConflicts)};
  };
  const auto alone = counters(1);
  EXPECT_EQ(alone, counters(4096));
  EXPECT_GT(alone[0], 25u * 3 + 63 + 125);
}

TEST(CountersTest, TokenWaitIsStalledAndNoCommandIsIdle) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 4096));
  stream.add(ewise(spm(0), spm(0x8000), 4096), {{0, 1}});
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.counter(kVpuQueue, Counter::kBusy), 1024u);
  EXPECT_GT(bench.counter(kVpuQueue, Counter::kStalled), 256u);
  EXPECT_GT(bench.counter(0, Counter::kIdle), 1000u);
  EXPECT_EQ(bench.counter(1, Counter::kIdle), bench.job_cycles());
  bench.expect_identities();
}

}  // namespace
}  // namespace npu::model::testing
