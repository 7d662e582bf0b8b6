// SPDX-License-Identifier: Apache-2.0
// DMA against a plain loop: every combination of memories, strides of all kinds.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/model/dma_bench.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;
using contract::Space;

void random_copies(Space src, Space dst, BenchOptions options) {
  std::mt19937 random(static_cast<uint32_t>(src) * 16 + static_cast<uint32_t>(dst));
  DmaBench bench(options, random);
  for (int trial = 0; trial < 40; ++trial) {
    contract::DmaCommand dma;
    dma.header.queue = static_cast<contract::Queue>(random() % 3);
    uint32_t src_offset = 0, dst_offset = 0;
    const uint32_t room = 0xc00;
    do {
      dma.run_bytes = 1 + random() % (trial % 2 == 0 ? 4 : 40);
      for (uint32_t& count : dma.count) count = 1 + random() % 3;
      if (trial == 0) {
        dma.run_bytes = 777;
        dma.count.fill(1);
      }
    } while (!nested_strides(dma, dma.src_stride, src_offset, random, room) ||
             !nested_strides(dma, dma.dst_stride, dst_offset, random, room));
    for (int d = 0; d < 5 && trial % 3 == 0; ++d) {
      if (random() % 3 == 0 && dma.src_stride[d] > 0) dma.src_stride[d] = 0;  // repeat
    }
    if (src == dst) dst_offset += room;
    if (src == Space::kPersistent && dst == src) {  // halves of the variable
      dma.count.fill(1);
      dma.run_bytes = 100 + random() % 400;
      src_offset = random() % 0x100;
      dst_offset = 0x600 + random() % 0x100;
    }
    dma.src = address_in(src, src_offset);
    dma.dst = address_in(dst, dst_offset);
    bench.check(dma, src, dst, "trial " + std::to_string(trial));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void random_fills(Space dst, BenchOptions options) {
  std::mt19937 random(100 + static_cast<uint32_t>(dst));
  DmaBench bench(options, random);
  for (int trial = 0; trial < 30; ++trial) {
    contract::DmaCommand dma;
    dma.header.queue = static_cast<contract::Queue>(random() % 3);
    dma.mode = contract::DmaMode::kFill;
    dma.fill_bytes = 1u << random() % 4;
    dma.fill_value_lo = static_cast<uint32_t>(random());
    dma.fill_value_hi = static_cast<uint32_t>(random());
    uint32_t offset = 0;
    do {
      dma.run_bytes = dma.fill_bytes * (1 + random() % 5);
      for (uint32_t& count : dma.count) count = 1 + random() % 3;
    } while (!nested_strides(dma, dma.dst_stride, offset, random, 0xc00));
    dma.dst = address_in(dst, offset);
    bench.check(dma, Space::kNone, dst, "fill " + std::to_string(trial));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

BenchOptions functional() {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  return options;
}

BenchOptions jittery() {
  BenchOptions options;
  options.jitter = {99, 50, 50, 50};
  options.answer = Answer::kReversed;
  return options;
}

TEST(DmaTest, DramToScratchpad) { random_copies(Space::kDram, Space::kScratchpad, {}); }
TEST(DmaTest, ScratchpadToDram) { random_copies(Space::kScratchpad, Space::kDram, {}); }
TEST(DmaTest, DramToDram) { random_copies(Space::kDram, Space::kDram, {}); }
TEST(DmaTest, ScratchpadToScratchpad) { random_copies(Space::kScratchpad, Space::kScratchpad, {}); }
TEST(DmaTest, DramToPersistent) { random_copies(Space::kDram, Space::kPersistent, {}); }
TEST(DmaTest, PersistentToDram) { random_copies(Space::kPersistent, Space::kDram, {}); }
TEST(DmaTest, ScratchpadToPersistent) { random_copies(Space::kScratchpad, Space::kPersistent, {}); }
TEST(DmaTest, PersistentToScratchpad) { random_copies(Space::kPersistent, Space::kScratchpad, {}); }
TEST(DmaTest, PersistentToPersistent) { random_copies(Space::kPersistent, Space::kPersistent, {}); }
TEST(DmaTest, FillDram) { random_fills(Space::kDram, {}); }
TEST(DmaTest, FillScratchpad) { random_fills(Space::kScratchpad, {}); }
TEST(DmaTest, FillPersistent) { random_fills(Space::kPersistent, {}); }

TEST(DmaTest, FunctionalDramToScratchpad) { random_copies(Space::kDram, Space::kScratchpad, functional()); }
TEST(DmaTest, FunctionalDramToDram) { random_copies(Space::kDram, Space::kDram, functional()); }
TEST(DmaTest, FunctionalScratchpadToPersistent) { random_copies(Space::kScratchpad, Space::kPersistent, functional()); }
TEST(DmaTest, FunctionalPersistentToDram) { random_copies(Space::kPersistent, Space::kDram, functional()); }
TEST(DmaTest, FunctionalFill) { random_fills(Space::kDram, functional()); }

TEST(DmaTest, JitterAndReorderingDramToScratchpad) { random_copies(Space::kDram, Space::kScratchpad, jittery()); }
TEST(DmaTest, JitterAndReorderingDramToDram) { random_copies(Space::kDram, Space::kDram, jittery()); }
TEST(DmaTest, JitterAndReorderingScratchpadToDram) { random_copies(Space::kScratchpad, Space::kDram, jittery()); }

TEST(DmaTest, LoadTakesThePortsTime) {
  // 4096 bytes = 64 bursts of 64 bytes. The response path moves 16 bytes a cycle: 4 cycles a burst, 256 in all; memory
  // answers 20 cycles after the request and is asked for 4 bursts at a time, so 4 bursts every 1 + 20 + 4 cycles or
  // more.
  Bench bench;
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 4096));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.counter(0, contract::Counter::kBusy), 256u);
  const uint64_t elapsed = bench.counter(0, contract::Counter::kBusy) + bench.counter(0, contract::Counter::kStalled);
  EXPECT_GE(elapsed, 64u / 4 * 25);
  EXPECT_LT(elapsed, 64u / 4 * 45);
  EXPECT_EQ(bench.memory.most_in_flight, 4u + 0);
}

TEST(DmaTest, BurstsAreMergedAndAligned) {
  Bench bench;
  Stream stream(small_machine());
  contract::DmaCommand dma = copy(0, dram(40), spm(0), 16);  // 8 rows of 16 bytes that follow each other in DRAM
  dma.count[4] = 8;
  dma.src_stride[4] = 16;
  dma.dst_stride[4] = 32;
  stream.add(dma);
  bench.memory.lengths.clear();
  ASSERT_TRUE(bench.run(stream));
  // 40..168: cut at 64 and 128. The stream's own bursts are the others.
  const std::vector<uint32_t> wanted{24, 64, 40};
  const auto& lengths = bench.memory.lengths;
  EXPECT_NE(std::search(lengths.begin(), lengths.end(), wanted.begin(), wanted.end()), lengths.end());
}

}  // namespace
}  // namespace npu::model::testing
