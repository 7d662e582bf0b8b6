// SPDX-License-Identifier: Apache-2.0
// The registers that show what every queue does, and who waits for whom.
#include <gtest/gtest.h>

#include "hw/timing/sequencer_cycles.h"
#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;

struct Seen {
  uint32_t waits_for, fifo, bursts, command;
  bool holding, executing;
};

Seen look(Bench& bench, uint32_t queue) {
  const uint32_t state = bench.read(reg::queue_state(queue));
  EXPECT_EQ(state & ~(reg::kQueueStateWaitsForMask | reg::kQueueStateHoldingMask | reg::kQueueStateExecutingMask |
                      reg::kQueueStateFifoMask | reg::kQueueStateBurstsMask),
            0u);
  return {state & reg::kQueueStateWaitsForMask,
          (state & reg::kQueueStateFifoMask) >> reg::kQueueStateFifoLsb,
          (state & reg::kQueueStateBurstsMask) >> reg::kQueueStateBurstsLsb,
          bench.read(reg::queue_command(queue)),
          (state & reg::kQueueStateHoldingMask) != 0,
          (state & reg::kQueueStateExecutingMask) != 0};
}

void expect_empty(Bench& bench, uint32_t queue) {
  EXPECT_EQ(bench.read(reg::queue_state(queue)), 255u) << queue;
  EXPECT_EQ(bench.read(reg::queue_command(queue)), 0u) << queue;
}

void pass(uint64_t cycles) { sc_core::sc_start(sc_core::sc_time(static_cast<double>(cycles), sc_core::SC_NS)); }

TEST(QueueStateTest, IdleAndMissingQueuesWaitForNobody) {
  Bench bench;
  for (uint32_t queue = 0; queue < reg::kQueueCount; ++queue) expect_empty(bench, queue);
  ASSERT_TRUE(bench.run(Stream(small_machine())));
  for (uint32_t queue = 0; queue < reg::kQueueCount; ++queue) expect_empty(bench, queue);
}

TEST(QueueStateTest, WhoWaitsForWhom) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(ewise(spm(0x4000), spm(0x5000), 64));       // 1, done long before
  stream.add(copy(0, dram(0), spm(0), 64));              // 2, hangs
  stream.add(ewise(spm(0), spm(0x1000), 64), {{0, 1}});  // 2
  for (uint32_t i = 0; i < 7; ++i) {                     // 4 to 10
    stream.add(copy(1, spm(0x1000), dram(0x8000 + i * 64), 64), {{kVpuQueue, 1}});
  }
  bench.npu.hang(0, 0);
  bench.start(stream.finish());
  pass(20000);
  ASSERT_TRUE(bench.npu.running());

  const Seen load = look(bench, 0);
  EXPECT_TRUE(load.holding);
  EXPECT_TRUE(load.executing);
  EXPECT_EQ(load.waits_for, 255u);
  EXPECT_EQ(load.command, 2u);
  EXPECT_EQ(load.fifo, 0u);
  EXPECT_EQ(load.bursts, 0u);

  const Seen compute = look(bench, kVpuQueue);
  EXPECT_TRUE(compute.holding);
  EXPECT_FALSE(compute.executing);
  EXPECT_EQ(compute.waits_for, 0u);
  EXPECT_EQ(compute.command, 3u);

  const Seen store = look(bench, 1);
  EXPECT_TRUE(store.holding);
  EXPECT_FALSE(store.executing);
  EXPECT_EQ(store.waits_for, kVpuQueue);
  EXPECT_EQ(store.command, 4u);
  EXPECT_EQ(store.fifo, small_machine().fifo_depth);

  // One in hand and four in the FIFO: the sixth store, command 9, finds no room.
  const Seen sequencer = look(bench, kSequencerQueue);
  EXPECT_TRUE(sequencer.holding);
  EXPECT_FALSE(sequencer.executing);
  EXPECT_EQ(sequencer.waits_for, 1u);
  EXPECT_EQ(sequencer.command, 9u);
  EXPECT_EQ(sequencer.bursts, 0u);

  for (const uint32_t queue : {2u, 3u, 7u, kMxuQueue, 10u, 14u}) expect_empty(bench, queue);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  for (uint32_t queue = 0; queue < reg::kQueueCount; ++queue) expect_empty(bench, queue);
}

TEST(QueueStateTest, SequencerWaitsForTheQueuesAtTheEnd) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(ewise(spm(0), spm(0x1000), 64));
  bench.npu.hang(kVpuQueue, 0);
  bench.start(stream.finish());
  pass(5000);
  const Seen sequencer = look(bench, kSequencerQueue);
  EXPECT_TRUE(sequencer.holding);
  EXPECT_FALSE(sequencer.executing);
  EXPECT_EQ(sequencer.waits_for, kVpuQueue);
  EXPECT_EQ(sequencer.command, 2u);
}

TEST(QueueStateTest, SequencerWaitsForTokens) {
  Bench bench;
  contract::VariableEntry entry;
  entry.base = 0x400;
  entry.length = 64;
  entry.owner = Bench::kOwner;
  bench.set_variable(0, entry);
  Stream stream(small_machine());
  stream.add(fill(2, spm(0), 64, 1));
  contract::DeclareCommand declare;
  declare.header.queue = contract::Queue::kSequencer;
  stream.add(declare, {{2, 1}});
  bench.npu.hang(2, 0);
  bench.start(stream.finish());
  pass(5000);
  const Seen sequencer = look(bench, kSequencerQueue);
  EXPECT_TRUE(sequencer.holding);
  EXPECT_EQ(sequencer.waits_for, 2u);
  EXPECT_EQ(sequencer.command, 2u);
}

TEST(QueueStateTest, BurstsThatMemoryOwes) {
  Bench bench;
  bench.memory.latency = sc_core::sc_time(10, sc_core::SC_US);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 1024));
  bench.start(stream.finish());
  pass(5000);
  Seen sequencer = look(bench, kSequencerQueue);
  EXPECT_FALSE(sequencer.holding);
  EXPECT_EQ(sequencer.waits_for, 255u);
  EXPECT_EQ(sequencer.bursts, 3u);  // 43 words in bursts of 64 bytes
  EXPECT_EQ(look(bench, 0).bursts, 0u);
  pass(10000);
  sequencer = look(bench, kSequencerQueue);
  EXPECT_EQ(sequencer.bursts, 0u);
  const Seen load = look(bench, 0);
  EXPECT_TRUE(load.executing);
  EXPECT_EQ(load.bursts, small_machine().dma_outstanding);
  ASSERT_TRUE(bench.finish());
}

TEST(QueueStateTest, PrefetchLeavesRoomWhenEnoughIsAhead) {
  Bench bench;
  bench.memory.latency = sc_core::sc_time(1, sc_core::SC_US);
  Stream stream(small_machine());
  for (int i = 0; i < 60; ++i) stream.add(fill(2, spm(0), 0x8000, 1));  // slower than the prefetch
  const auto words = stream.finish();
  ASSERT_GT(4 * words.size(), 2 * timing::kPrefetchEnoughBytes);
  bench.start(words);
  pass(1000);
  EXPECT_EQ(look(bench, kSequencerQueue).bursts, small_machine().dma_outstanding);
  pass(20000);
  uint32_t most = 0;
  while (bench.npu.running()) {
    pass(100);
    most = std::max(most, look(bench, kSequencerQueue).bursts);
  }
  EXPECT_EQ(most, timing::kPrefetchMostBursts);
  ASSERT_TRUE(bench.finish());
}

TEST(QueueStateTest, BurstsOfAStore) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(copy(0, spm(0), dram(0x8000), 128));
  bench.start(stream.finish());
  while (bench.memory.in_flight > 0 || bench.counter(kSequencerQueue, contract::Counter::kCommands) < 1) pass(1);
  bench.memory.latency = sc_core::sc_time(10, sc_core::SC_US);
  pass(3000);
  EXPECT_EQ(look(bench, 0).bursts, 2u);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(look(bench, 0).bursts, 0u);
}

}  // namespace
}  // namespace npu::model::testing
