// SPDX-License-Identifier: Apache-2.0
// Gather and scatter against a plain loop: every combination of memories, indices in each of them; wrong indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "tests/unit/model/dma_bench.h"

namespace npu::model::testing {
namespace {

using contract::DmaMode;

constexpr uint32_t kRoom = 0xa00;    // bytes of a side
constexpr uint32_t kLists = 0x6000;  // indices, in DRAM and in the scratchpad
constexpr uint32_t kListOfVariable = 0xa40;

uint32_t list_offset(Space space) { return space == Space::kPersistent ? kListOfVariable : kLists; }

// Puts indices where a command reads them, and where the plain loop knows them.
void place_indices(DmaBench& bench, Space space, const std::vector<int32_t>& rows) {
  const size_t bytes = rows.size() * sizeof(int32_t);
  const uint32_t offset = list_offset(space);
  uint8_t* const known = bench.memories.of(space).data() + base_of(space) + offset;
  std::memcpy(known, rows.data(), bytes);
  if (space == Space::kPersistent) {
    bench.transport(tlm::TLM_WRITE_COMMAND, contract::kPsramWindow + kVariableBase + offset, known,
                    static_cast<uint32_t>(bytes));
    return;
  }
  // The way to the scratchpad is through DRAM.
  std::memcpy(bench.memory.data.data() + kLists, rows.data(), bytes);
  std::memcpy(bench.memories.dram.data() + kLists, rows.data(), bytes);
  if (space != Space::kScratchpad) return;
  Stream load(small_machine());
  load.add(copy(0, dram(kLists), spm(kLists), static_cast<uint32_t>(bytes)));
  ASSERT_TRUE(bench.run(load));
}

struct Rows {
  contract::DmaCommand dma;
  std::vector<int32_t> indices;
};

// Rows of a random layout. A scatter meets each row once at most.
Rows random_rows(DmaMode mode, std::mt19937& random, bool long_rows) {
  Rows out;
  const bool gathers = mode == DmaMode::kGather;
  const auto up_to = [&](uint32_t most) { return static_cast<uint32_t>(1 + random() % most); };
  uint32_t src_offset = 0, dst_offset = 0;
  for (;;) {
    contract::DmaCommand& dma = out.dma = {};
    dma.mode = mode;
    dma.run_bytes = up_to(long_rows ? 60 : 5);
    dma.count = {up_to(3), up_to(9), up_to(9), up_to(2), up_to(2)};
    if (!gathers) dma.count[2] = up_to(dma.count[1]);
    contract::DmaCommand source = dma, target = dma;  // each with its own dimensions
    (gathers ? source : target).count[2] = 1;
    (gathers ? target : source).count[1] = 1;
    if (!nested_strides(source, dma.src_stride, src_offset, random, kRoom) ||
        !nested_strides(target, dma.dst_stride, dst_offset, random, kRoom)) {
      continue;
    }
    dma.src_stride[gathers ? 2 : 1] = 0;
    dma.dst_stride[gathers ? 1 : 2] = 0;
    dma.src.offset = src_offset;
    dma.dst.offset = dst_offset;
    break;
  }
  const auto choices = static_cast<int32_t>(out.dma.count[1]);
  for (uint32_t batch = 0; batch < out.dma.count[0]; ++batch) {
    std::vector<int32_t> rows(static_cast<size_t>(choices));
    std::iota(rows.begin(), rows.end(), 0);
    std::shuffle(rows.begin(), rows.end(), random);
    for (uint32_t w = 0; w < out.dma.count[2]; ++w) {
      out.indices.push_back(gathers ? static_cast<int32_t>(random() % out.dma.count[1]) : rows[w]);
    }
  }
  return out;
}

void random_trials(DmaMode mode, Space src, Space dst, const BenchOptions& options) {
  std::mt19937 random(100 * static_cast<uint32_t>(mode) + 10 * static_cast<uint32_t>(src) + static_cast<uint32_t>(dst));
  DmaBench bench(options, random);
  for (int trial = 0; trial < 30; ++trial) {
    auto [dma, indices] = random_rows(mode, random, trial % 2 == 0);
    dma.header.queue = static_cast<contract::Queue>(random() % 3);
    const Space list = std::array{Space::kDram, Space::kScratchpad, Space::kPersistent}[random() % 3];
    dma.src = address_in(src, dma.src.offset);
    dma.dst = address_in(dst, dma.dst.offset + (src == dst ? kRoom : 0));
    dma.index = address_in(list, list_offset(list));
    place_indices(bench, list, indices);
    bench.check(dma, src, dst, "trial " + std::to_string(trial), indices);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

BenchOptions of_mode(Mode mode) {
  BenchOptions options;
  options.mode = mode;
  return options;
}
BenchOptions reordered() {
  BenchOptions options;
  options.jitter = {7, 50, 50, 50};
  options.answer = Answer::kReversed;
  return options;
}

TEST(GatherTest, DramToDram) { random_trials(DmaMode::kGather, Space::kDram, Space::kDram, {}); }
TEST(GatherTest, DramToScratchpad) { random_trials(DmaMode::kGather, Space::kDram, Space::kScratchpad, {}); }
TEST(GatherTest, ScratchpadToDram) { random_trials(DmaMode::kGather, Space::kScratchpad, Space::kDram, {}); }
TEST(GatherTest, ScratchpadToScratchpad) {
  random_trials(DmaMode::kGather, Space::kScratchpad, Space::kScratchpad, {});
}
TEST(GatherTest, PersistentToScratchpad) {
  random_trials(DmaMode::kGather, Space::kPersistent, Space::kScratchpad, {});
}
TEST(GatherTest, ScratchpadToPersistent) {
  random_trials(DmaMode::kGather, Space::kScratchpad, Space::kPersistent, {});
}
TEST(GatherTest, Functional) {
  random_trials(DmaMode::kGather, Space::kDram, Space::kScratchpad, of_mode(Mode::kFunctional));
}
TEST(GatherTest, JitterAndReordering) { random_trials(DmaMode::kGather, Space::kDram, Space::kDram, reordered()); }

TEST(ScatterTest, DramToDram) { random_trials(DmaMode::kScatter, Space::kDram, Space::kDram, {}); }
TEST(ScatterTest, DramToScratchpad) { random_trials(DmaMode::kScatter, Space::kDram, Space::kScratchpad, {}); }
TEST(ScatterTest, ScratchpadToDram) { random_trials(DmaMode::kScatter, Space::kScratchpad, Space::kDram, {}); }
TEST(ScatterTest, ScratchpadToScratchpad) {
  random_trials(DmaMode::kScatter, Space::kScratchpad, Space::kScratchpad, {});
}
TEST(ScatterTest, DramToPersistent) { random_trials(DmaMode::kScatter, Space::kDram, Space::kPersistent, {}); }
TEST(ScatterTest, PersistentToScratchpad) {
  random_trials(DmaMode::kScatter, Space::kPersistent, Space::kScratchpad, {});
}
TEST(ScatterTest, Functional) {
  random_trials(DmaMode::kScatter, Space::kScratchpad, Space::kDram, of_mode(Mode::kFunctional));
}
TEST(ScatterTest, JitterAndReordering) {
  random_trials(DmaMode::kScatter, Space::kDram, Space::kScratchpad, reordered());
}

// 8 indices for rows of 16 bytes, all in the scratchpad.
contract::DmaCommand small(DmaMode mode) {
  contract::DmaCommand dma = copy(1, spm(0), spm(0x2000), 16);
  dma.mode = mode;
  dma.count = {1, 10, 8, 1, 1};
  (mode == DmaMode::kGather ? dma.src_stride : dma.dst_stride)[1] = 16;
  (mode == DmaMode::kGather ? dma.dst_stride : dma.src_stride)[2] = 16;
  dma.index = spm(kLists);
  return dma;
}

// One bench a process: of a mode of the device.
void expect_wrong_indices_stop(Mode mode) {
  std::mt19937 random(3);
  DmaBench bench(of_mode(mode), random);
  for (const DmaMode which : {DmaMode::kGather, DmaMode::kScatter}) {
    for (const int32_t wrong : {-1, 10, INT32_MIN, INT32_MAX}) {
      place_indices(bench, Space::kScratchpad, {0, 1, 2, 9, 4, wrong, 6, -7});
      const std::vector<uint8_t> before = bench.dump_scratchpad(0, 0x8000);
      Stream stream(small_machine());
      stream.add(small(which));
      ASSERT_TRUE(bench.run(stream));
      EXPECT_EQ(bench.fault(), ErrorCode::kIndexOutOfRange);
      EXPECT_EQ(bench.read(contract::reg::kFaultOther), static_cast<uint32_t>(wrong));
      EXPECT_EQ(bench.read(contract::reg::kFaultAddressLo), kLists + 5 * 4);
      EXPECT_EQ(bench.read(contract::reg::kFaultQueue), 1u);
      EXPECT_EQ(bench.read(contract::reg::kFaultCommand), 1u);
      EXPECT_EQ(bench.dump_scratchpad(0, 0x8000), before);
    }
  }
}

TEST(GatherTest, AnIndexThatChoosesNoRowStopsTheJobBeforeAnyRowMoves) { expect_wrong_indices_stop(Mode::kTimed); }
TEST(GatherTest, FunctionalAnIndexThatChoosesNoRowStopsTheJob) { expect_wrong_indices_stop(Mode::kFunctional); }

// Beats of the indices come first, then those of the rows; each byte counts once.
TEST(GatherTest, IndicesCostTheirBeatsOnce) {
  std::mt19937 random(4);
  DmaBench bench({}, random);
  place_indices(bench, Space::kScratchpad, {3, 1, 4, 1, 5, 9, 2, 6});
  Stream stream(small_machine());
  stream.add(small(DmaMode::kGather));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_EQ(bench.counter(1, contract::Counter::kBusy), 8u * 4 / 16 + 8 * 16 / 16);
  EXPECT_EQ(bench.counter(1, contract::Counter::kBytesRead), 8u * 4 + 8 * 16);
  EXPECT_EQ(bench.counter(1, contract::Counter::kBytesReadAsked), 8u * 4 + 8 * 16);
  EXPECT_EQ(bench.counter(1, contract::Counter::kBytesWritten), 8u * 16);
  bench.expect_identities();
}

// Of a table in DRAM only the rows that are chosen move.
TEST(GatherTest, OnlyChosenRowsMove) {
  std::mt19937 random(5);
  DmaBench bench({}, random);
  place_indices(bench, Space::kDram, {3, 1, 4, 1, 5, 9, 2, 6});
  contract::DmaCommand dma = small(DmaMode::kGather);
  dma.src = dram(0);
  dma.count[1] = 500;
  dma.src_stride[1] = 32;
  dma.index = dram(kLists);
  Stream stream(small_machine());
  stream.add(dma);
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_EQ(bench.counter(1, contract::Counter::kDramRead), 8u * 4 + 8 * 16);
  bench.expect_identities();
}

// The rows that it may choose are one with what it writes: a hazard with all that wrote there before.
TEST(GatherTest, AllRowsCountForHazards) {
  std::mt19937 random(6);
  DmaBench bench({}, random);
  place_indices(bench, Space::kScratchpad, {0, 0, 0, 0, 0, 0, 0, 0});
  Stream stream(small_machine());
  stream.add(fill(0, spm(9 * 16), 16, 1));  // a row that no index chooses, on another queue
  stream.add(small(DmaMode::kGather));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultHazard);
}

// Where it reads rows that it may also write, the result would depend on the order.
void expect_not_in_place(DmaMode which) {
  std::mt19937 random(7);
  DmaBench bench({}, random);
  place_indices(bench, Space::kScratchpad, {0, 1, 2, 3, 4, 5, 6, 7});
  contract::DmaCommand dma = small(which);
  dma.count[1] = 8;
  dma.dst = dma.src;
  Stream stream(small_machine());
  stream.add(dma);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
}

TEST(GatherTest, NothingIsInPlace) { expect_not_in_place(DmaMode::kGather); }
TEST(ScatterTest, NothingIsInPlace) { expect_not_in_place(DmaMode::kScatter); }

// What it leaves must be there: a variable that was never written has nothing.
TEST(ScatterTest, AVariableMustBeWrittenBefore) {
  std::mt19937 random(8);
  DmaBench bench({}, random);
  contract::VariableEntry entry;
  entry.base = kVariableBase;
  entry.length = kVariableBytes;
  entry.owner = Bench::kOwner;
  entry.hash = 5;
  bench.set_variable(0, entry);
  place_indices(bench, Space::kScratchpad, {0, 1, 2, 3, 4, 5, 6, 7});
  contract::DmaCommand dma = small(DmaMode::kScatter);
  dma.dst = variable(0);
  dma.commit = true;
  Stream stream(small_machine());
  stream.declare(0, 5);
  stream.add(dma);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kVariableUnwritten);
}

}  // namespace
}  // namespace npu::model::testing
