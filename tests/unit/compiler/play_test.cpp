// SPDX-License-Identifier: Apache-2.0
// The parts of the estimate's player, each with cycles that are counted by hand.
#include <gtest/gtest.h>

#include "driver/compiler/play/channel.h"
#include "driver/compiler/play/clashes.h"
#include "driver/compiler/play/fetch.h"
#include "driver/compiler/play/memory.h"
#include "driver/compiler/play/moments.h"
#include "hw/timing/dma_cycles.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/sequencer_cycles.h"
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::play {
namespace {

contract::Capabilities machine() {
  contract::Capabilities caps = testing::nano_capabilities();
  caps.clock_mhz = 1000;
  caps.dma_port_bytes = 16;
  return caps;
}

// 100 cycles to the first byte, 64 bytes in 4 cycles.
timing::Dram fixed_dram() {
  timing::Dram dram;
  dram.data_rate_mts = 1000;
  dram.bus_bits = 128;
  dram.latency_ns = 100;
  return dram;
}

struct Log : Actor, BurstUser {
  void act(uint32_t what) override { seen.push_back(what); }
  void burst_done(uint32_t tag, bool) override { seen.push_back(tag); }
  std::vector<uint32_t> seen;
};

TEST(Moments, ComeInOrderAndThoseOfACycleAsTheyWereSet) {
  Moments moments;
  Log log;
  moments.set(7, log, 1);
  moments.set(3, log, 2);
  moments.set(7, log, 3);
  moments.set(3, log, 4);
  while (moments.pass()) {
  }
  EXPECT_EQ(log.seen, (std::vector<uint32_t>{2, 4, 1, 3}));
  EXPECT_EQ(moments.now(), 7u);
}

TEST(PlayedMemory, ReadTakesRequestLatencyBusAndResponse) {
  const contract::Capabilities caps = machine();
  Moments moments;
  Memory memory(moments, caps, fixed_dram());
  Log log;
  memory.submit({0, 64, false, 5, &log}, 0);
  while (moments.pass()) {
  }
  EXPECT_EQ(log.seen, (std::vector<uint32_t>{5}));
  EXPECT_EQ(moments.now(), 1u + 100 + 4 + 4);  // request, latency, bus, response path
}

TEST(PlayedMemory, RequestersTakeTurns) {
  const contract::Capabilities caps = machine();
  Moments moments;
  Memory memory(moments, caps, fixed_dram());
  Log log;
  for (uint32_t i = 0; i < 2; ++i) memory.submit({0, 64, false, i, &log}, 0);
  for (uint32_t i = 0; i < 2; ++i) memory.submit({4096, 64, false, 10 + i, &log}, 1);
  while (moments.pass()) {
  }
  ASSERT_EQ(log.seen.size(), 4u);
  EXPECT_NE(log.seen[0] / 10, log.seen[1] / 10);
  EXPECT_NE(log.seen[2] / 10, log.seen[3] / 10);
}

class PlayedChannel : public ::testing::Test {
 protected:
  // Cycles that a command takes.
  uint64_t run(const contract::DmaCommand& command, bool from_dram, bool to_dram) {
    return run(command, {from_dram, 0}, {to_dram, 1 << 16});
  }
  uint64_t run(const contract::DmaCommand& command, const Channel::Place& from, const Channel::Place& to) {
    Moments moments;
    Memory memory(moments, caps_, fixed_dram());
    const Clashes clashes(caps_);
    int ended = 0;
    const auto none = [] { return Channel::Next(); };
    Channel channel(moments, memory, clashes, caps_, 0, none, [&] { ++ended; });
    channel.start(command, from, to, {});
    while (moments.pass()) {
    }
    EXPECT_EQ(ended, 1);
    beats_ = channel.beats();
    return moments.now();
  }
  // And two loads, the second one read ahead or not.
  uint64_t run_loads(const contract::DmaCommand& first, const contract::DmaCommand& second, bool ahead) {
    Moments moments;
    Memory memory(moments, caps_, fixed_dram());
    const Clashes clashes(caps_);
    int ended = 0;
    const auto next = [&] { return ahead && ended == 0 ? Channel::Next{&second, 4096} : Channel::Next(); };
    std::optional<Channel> channel;
    channel.emplace(moments, memory, clashes, caps_, 0, next, [&] {
      if (++ended == 1) channel->start(second, {true, 4096}, {false, 1 << 16}, {});
    });
    channel->start(first, {true, 0}, {false, 0}, {});
    while (moments.pass()) {
    }
    EXPECT_EQ(ended, 2);
    return moments.now();
  }
  static contract::DmaCommand rows(uint32_t count, uint32_t bytes, int32_t src_stride, int32_t dst_stride) {
    contract::DmaCommand command;
    command.count = {1, 1, 1, 1, count};
    command.run_bytes = bytes;
    command.src_stride[4] = src_stride;
    command.dst_stride[4] = dst_stride;
    return command;
  }

  const contract::Capabilities caps_ = machine();
  uint64_t beats_ = 0;
};

TEST_F(PlayedChannel, LoadOfABurst) {
  EXPECT_EQ(run(rows(1, 64, 0, 0), true, false), timing::kDmaWalkCycles + 1 + 100 + 4 + 4 + 4);
  EXPECT_EQ(beats_, 4u);
}

TEST_F(PlayedChannel, StoreOfABurst) {
  // Four beats from the chip, then the request path has its data and the response is one cycle.
  EXPECT_EQ(run(rows(1, 64, 0, 0), false, true), timing::kDmaWalkCycles + 4 + 4 + 100 + 4 + 1);
}

TEST_F(PlayedChannel, AsManyBurstsAsMayBeOnTheirWayOverlap) {
  const uint64_t one = run(rows(1, 64, 0, 0), true, false);
  EXPECT_EQ(run(rows(1, 4 * 64, 0, 0), true, false), one + 3 * 4);
  EXPECT_GT(run(rows(1, 5 * 64, 0, 0), true, false), one + 100);  // the fifth waits for the first
}

// The second burst comes behind the first one: when its command begins it is there, and passes in 4 beats.
TEST_F(PlayedChannel, ReadsTheNextLoadAhead) {
  const contract::DmaCommand load = rows(1, 64, 0, 0);
  const uint64_t one = run(load, true, false);
  EXPECT_EQ(run_loads(load, load, false), 2 * one);
  EXPECT_EQ(run_loads(load, load, true), one + 4);
  // Four bursts are under way, so the next one is asked for with the last beat of the first: its latency is behind
  // that, but its walk is not.
  const contract::DmaCommand full = rows(1, 4 * 64, 0, 0);
  EXPECT_EQ(run_loads(full, load, true), 2 * one - timing::kDmaWalkCycles - 1);
}

// What may be read ahead is known before a command's own walk has begun.
TEST_F(PlayedChannel, ReadsNothingAheadBeforeItsOwnWalk) {
  const contract::DmaCommand load = rows(1, 64, 0, 0), last = rows(1, 256, 0, 0);
  Moments moments;
  Memory memory(moments, caps_, fixed_dram());
  const Clashes clashes(caps_);
  int ended = 0;
  const auto next = [&] { return ended == 1 ? Channel::Next{&last, 4096} : Channel::Next(); };
  std::optional<Channel> channel;
  channel.emplace(moments, memory, clashes, caps_, 0, next, [&] {
    if (++ended == 3) return;
    channel->start(ended == 1 ? load : last, {true, 4096}, {false, 0}, {});
    channel->look_ahead();
  });
  channel->start(load, {true, 0}, {false, 0}, {});
  while (moments.pass()) {
  }
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(channel->beats(), 4u + 4 + 16);
}

TEST_F(PlayedChannel, PiecesOnTheChipTakeWholeBeats) {
  EXPECT_EQ(run(rows(8, 8, 8, 32), false, false), timing::kDmaWalkCycles + 4 + 8);
  EXPECT_EQ(beats_, 12u);  // four from a source without gaps, one for each row of the target
}

// Each of the four beats of 16 bytes crosses into another row, and writes its first and its last word in part.
TEST_F(PlayedChannel, PartsOfWordsInThePersistentSramTakeCyclesMore) {
  const contract::DmaCommand command = rows(1, 64, 64, 64);
  ASSERT_EQ(caps_.psram_port_bytes, 16u);
  const auto to = [&](uint64_t address) {
    return run(command, Channel::Place{false, 0}, Channel::Place{false, address, true});
  };
  EXPECT_EQ(to(0), timing::kDmaWalkCycles + 4 + 4);
  EXPECT_EQ(to(4), timing::kDmaWalkCycles + 4 + 4 * 4);
  EXPECT_EQ(beats_, 4u);  // of the scratchpad
}

TEST(PlayedFetch, AsksForNothingWhileItPauses) {
  const contract::Capabilities caps = machine();
  Moments moments;
  Memory memory(moments, caps, fixed_dram());
  timing::UnderWay under_way{3, 5};
  ASSERT_TRUE(timing::prefetch_pauses(under_way));
  Fetch fetch(
      memory, caps, 0, 4096, [&] { return under_way; }, [] {});
  EXPECT_FALSE(fetch.ready(16));
  EXPECT_TRUE(fetch.settled());
  --under_way.transfers;
  EXPECT_FALSE(fetch.ready(16));
  while (moments.pass()) {
  }
  EXPECT_TRUE(fetch.ready(16));
}

TEST(PlayedFetch, LeavesMemoryToDataOnceEnoughIsAhead) {
  const contract::Capabilities caps = machine();
  Moments moments;
  Memory memory(moments, caps, fixed_dram());
  int arrivals = 0;
  Fetch fetch(
      memory, caps, 0, 4096, [] { return timing::UnderWay{}; }, [&] { ++arrivals; });
  EXPECT_FALSE(fetch.ready(16));
  while (moments.pass()) {
  }
  EXPECT_EQ(arrivals, 4);  // dma_outstanding
  EXPECT_TRUE(fetch.ready(4 * 64));
  while (moments.pass()) {
  }
  EXPECT_EQ(arrivals, 8);
  ASSERT_EQ(8 * 64, timing::kPrefetchEnoughBytes);
  EXPECT_TRUE(fetch.ready(16));
  while (moments.pass()) {
  }
  EXPECT_EQ(arrivals, 8 + static_cast<int>(timing::kPrefetchMostBursts));
  EXPECT_TRUE(fetch.settled());
}

contract::MxuCommand convolution() {
  contract::MxuCommand command;
  command.out_h = command.out_w = command.in_h = command.in_w = 16;
  command.out_c = command.in_c = 16;
  command.kernel_h = command.kernel_w = command.stride_x = command.stride_y = 1;
  command.dilation_x = command.dilation_y = 1;
  return command;
}

TEST(Clashes, PortsAskAsOftenAsTheDataflowSays) {
  const contract::Capabilities caps = machine();
  const contract::MxuCommand command = convolution();
  const std::vector<PortLoad> loads = port_loads(command, 2048, caps);
  ASSERT_EQ(loads.size(), 4u);
  EXPECT_DOUBLE_EQ(loads[0].rate, 256 * 2 * 2 / 2048.0);    // pixels, groups of channels, steps
  EXPECT_DOUBLE_EQ(loads[0].banks, 1 + 7 / 16.0);           // 8 bytes
  EXPECT_DOUBLE_EQ(loads[1].rate, 4 * 2 * 2 * 4 / 2048.0);  // blocks of 64 pixels, steps, groups, 64 bytes by 16
  EXPECT_DOUBLE_EQ(loads[3].rate, 256 * 2 / 2048.0);        // results
}

TEST(Clashes, NobodyLosesAlone) {
  const contract::Capabilities caps = machine();
  Clashes clashes(caps);
  EXPECT_EQ(clashes.beat_cycles(100), 100u);
  contract::VpuReduceCommand command;  // one port that asks
  command.outer = command.inner = 1;
  command.axis = 1024;
  clashes.begin(contract::Queue::kVpu, command, 128, 0, 0);
  EXPECT_EQ(clashes.end(contract::Queue::kVpu, 128, 0), 0u);
}

TEST(Clashes, BeatsAndEnginesLoseToEachOther) {
  const contract::Capabilities caps = machine();
  Clashes clashes(caps);
  clashes.begin(contract::Queue::kMxu, convolution(), 2048, 0, 0);
  EXPECT_GT(clashes.beat_cycles(1000), 1000u);
  const uint64_t alone = [&] {
    Clashes other(caps);
    other.begin(contract::Queue::kMxu, convolution(), 2048, 0, 0);
    return other.end(contract::Queue::kMxu, 2048, 0);
  }();
  EXPECT_GT(clashes.end(contract::Queue::kMxu, 2048, 1000), alone);
  EXPECT_EQ(clashes.beat_cycles(1000), 1000u);
}

}  // namespace
}  // namespace npu::compiler::play
