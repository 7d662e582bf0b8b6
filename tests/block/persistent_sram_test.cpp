// SPDX-License-Identifier: Apache-2.0
// The persistent SRAM's RTL: its code against every single and double error, its bytes against an array.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "rtl/verilated/machines.h"
#include "tests/block/persistent_sram_block.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

using contract::ErrorCode;
using Power = PersistentSram::Power;

TEST_P(PersistentSramBlock, StartsEmptyAfterClearing) {
  EXPECT_EQ(read(0).waited, rows());  // one row a cycle
  EXPECT_FALSE(block_->lost());
  for (uint32_t row = 0; row < rows(); ++row) {
    const Answer answer = read(row * sizes_.port_bytes);
    ASSERT_EQ(answer.error, ErrorCode::kOk);
    ASSERT_EQ(answer.data, std::vector<uint8_t>(sizes_.port_bytes)) << "row " << row;
  }
  EXPECT_EQ(block_->corrected(), 0u);
}

// Each of the 72 single and 2,556 double errors of a word, on several words, in every lane.
TEST_P(PersistentSramBlock, EveryFlipOfAWord) {
  const uint64_t first = seed(64);
  std::mt19937_64 random(first);
  Buckets buckets("flips", first);
  uint32_t corrected = 0;
  uint64_t flips = 0;
  for (uint32_t round = 0; round < 4; ++round) {
    const uint32_t lane = round % lanes(), row = static_cast<uint32_t>(random() % rows());
    const uint32_t address = row * sizes_.port_bytes;
    std::vector<uint8_t> data = round == 0 ? std::vector<uint8_t>(sizes_.port_bytes, 0) : random_row(random);
    if (round == 1) std::fill(data.begin(), data.end(), uint8_t{0xff});
    ASSERT_EQ(write(address, data).error, ErrorCode::kOk);
    const auto check = [&](const Answer& answer, ErrorCode wanted, const std::string& what) {
      buckets.compare(
          static_cast<int64_t>(answer.error), static_cast<int64_t>(wanted), [] { return "error"; },
          [&] { return what; });
      buckets.compare(
          block_->corrected(), corrected, [] { return "count of corrections"; }, [&] { return what; });
      if (wanted == ErrorCode::kOk) {
        buckets.compare(
            answer.data == data, 1, [] { return "data"; }, [&] { return what; });
      }
    };
    for (uint32_t i = 0; i < kWordBits; ++i) {
      inject(row, lane, {i});
      ++flips;
      ++corrected;
      const std::string single = fmt::format("bit {}", i);
      check(read(address), ErrorCode::kOk, single);
      check(read(address), ErrorCode::kOk, single + ", second read");  // what was corrected is written back
      for (uint32_t j = 0; j < i; ++j) {
        inject(row, lane, {i, j});
        ++flips;
        check(read(address), ErrorCode::kFaultEcc, fmt::format("bits {} and {}", i, j));
        inject(row, lane, {i, j});
      }
    }
    check(read(address), ErrorCode::kOk, "at the end");
  }
  EXPECT_EQ(flips, 4u * (72 + 2556));
}

TEST_P(PersistentSramBlock, PartialWritesUnderErrors) {
  std::mt19937_64 random(3);
  const uint32_t row = rows() - 1, address = row * sizes_.port_bytes;
  std::vector<uint8_t> data = random_row(random);
  ASSERT_EQ(write(address, data).error, ErrorCode::kOk);
  // One wrong bit: the bytes around those written come out right.
  inject(row, 0, {60});
  const std::vector<uint8_t> news = random_row(random);
  EXPECT_EQ(write(address, news, 0x0f).error, ErrorCode::kOk);
  EXPECT_EQ(block_->corrected(), 1u);
  std::copy_n(news.begin(), 4, data.begin());
  EXPECT_EQ(read(address).data, data);
  // Two: the write is refused, and changes nothing, in other words neither.
  inject(row, 0, {60, 3});
  EXPECT_EQ(write(address, news, 0x0ff0).error, ErrorCode::kFaultEcc);
  EXPECT_EQ(read(address, 0xff).error, ErrorCode::kFaultEcc);
  EXPECT_EQ(read(address).failed, 1u);
  inject(row, lanes() - 1, {0, 71});
  EXPECT_EQ(read(address).failed, 1u | 1u << (lanes() - 1));
  EXPECT_EQ(read(address, 0xffu << (8 * (lanes() - 1))).failed, 1u << (lanes() - 1));
  inject(row, lanes() - 1, {0, 71});
  const Answer other = read(address, 0xff00);  // a read that does not mean the word does not look at it
  EXPECT_EQ(other.error, ErrorCode::kOk);
  EXPECT_TRUE(std::equal(other.data.begin() + 8, other.data.begin() + 16, data.begin() + 8));
  // A whole word replaces what was wrong.
  EXPECT_EQ(write(address, news).error, ErrorCode::kOk);
  EXPECT_EQ(read(address).data, news);
}

// Random accesses back to back, single-bit errors between them, gaps, against an array of bytes.
TEST_P(PersistentSramBlock, RandomAccesses) {
  const uint64_t first = seed(500);
  for (uint64_t round = 0; round < 6; ++round) {
    std::mt19937_64 random(first + round);
    Buckets buckets("random", first + round);
    block_->reset();
    std::vector<uint8_t> bytes(sizes_.bytes);
    Throttle throttle(random(), 40 + 30 * (round % 3));
    struct Pending {
      bool write;
      std::vector<uint8_t> data;
      uint64_t due;
      uint32_t strobe;
    };
    std::vector<Pending> pending;
    PersistentSram::Access access;
    std::vector<uint8_t> data;
    bool offered = false;
    const bool few = round % 2 == 0;  // rows, with errors between their accesses
    const uint32_t rows_used = few ? 3 : rows();
    uint32_t injected = 0;
    for (uint64_t cycle = 0; cycle < rows() + 6000; ++cycle) {
      // Answers come two cycles after their access, in order, and not otherwise.
      const bool due = !pending.empty() && pending.front().due == cycle;
      buckets.compare(
          block_->answered(), due, [] { return "answer when none is due, or none when due"; },
          [&] { return fmt::format("cycle {}", cycle); });
      if (due) {
        const Pending& wanted = pending.front();
        buckets.compare(
            static_cast<int64_t>(block_->answer_error()), 0, [] { return "error"; },
            [&] { return fmt::format("cycle {}", cycle); });
        for (uint32_t i = 0; i < sizes_.port_bytes && !wanted.write; ++i) {
          if ((wanted.strobe >> (i / 8 * 8) & 0xff) == 0) continue;
          buckets.compare(
              block_->answer()[i], wanted.data[i], [] { return "data"; },
              [&] { return fmt::format("cycle {}, byte {}", cycle, i); });
        }
        pending.erase(pending.begin());
      }
      const bool quiet = few && cycle % 40 < 6;
      if (!offered && !quiet && throttle.next()) {
        data = random_row(random);
        const uint32_t row = static_cast<uint32_t>(random() % rows_used);
        uint32_t strobe = static_cast<uint32_t>(random()) & all_bytes();
        if (random() % 2 == 0) strobe = all_bytes();
        if (random() % 4 == 0) strobe &= 0xff00;
        access = {random() % 2 == 0, true, row * sizes_.port_bytes, strobe, data};
        block_->access(access);
        offered = true;
      }
      // All rows are read before an error is put in, so that it does not join an earlier one in a word.
      if (few && cycle % 40 == 5 && pending.empty() && !offered) {
        for (uint32_t row = 0; row < rows_used; ++row) (void)read(row * sizes_.port_bytes);
        inject(static_cast<uint32_t>(random() % rows_used), static_cast<uint32_t>(random() % lanes()),
               {static_cast<uint32_t>(random() % kWordBits)});
        ++injected;
        continue;
      }
      const bool taken = block_->access_taken();
      if (taken) {
        uint8_t* const at = bytes.data() + access.address;
        pending.push_back({access.write, std::vector<uint8_t>(at, at + sizes_.port_bytes), cycle + 2, access.strobe});
        for (uint32_t i = 0; i < sizes_.port_bytes && access.write; ++i) {
          if ((access.strobe >> i & 1) != 0) at[i] = data[i];
        }
      }
      block_->tick();
      if (taken) {
        block_->withdraw_access();
        offered = false;
      }
    }
    EXPECT_EQ(injected > 50, few);
    EXPECT_GE(block_->corrected(), injected / 2);  // others were in words that were then replaced
  }
}

// A read or a write of whole words is one cycle, one of parts of words two, and a correction costs one more.
TEST_P(PersistentSramBlock, CyclesOfAccesses) {
  std::mt19937_64 random(8);
  const std::vector<uint8_t> data = random_row(random);
  (void)read(0);
  const auto cost = [&](const PersistentSram::Access& access) {
    constexpr uint32_t kTimes = 10;
    uint32_t cycles = 0;
    block_->access(access);
    for (uint32_t taken = 0; taken < kTimes; ++cycles) {
      taken += block_->access_taken() ? 1 : 0;
      block_->tick();
    }
    if (!block_->access_taken()) ++cycles;  // what the last one still holds up
    block_->withdraw_access();
    for (int i = 0; i < 4; ++i) block_->tick();
    return cycles;
  };
  EXPECT_EQ(cost({false, true, 0, all_bytes(), {}}), 10u);
  EXPECT_EQ(cost({true, true, 0, all_bytes(), data}), 10u);
  EXPECT_EQ(cost({true, true, 0, 0xff, data}), 10u);
  EXPECT_EQ(cost({true, true, 0, 0x7f, data}), 20u);
  inject(0, 1, {5});
  block_->tick();
  EXPECT_EQ(cost({false, true, 0, all_bytes(), {}}), 11u);
}

TEST_P(PersistentSramBlock, PowerStates) {
  std::mt19937_64 random(12);
  const std::vector<uint8_t> data = random_row(random);
  const uint32_t address = sizes_.bytes - sizes_.port_bytes;
  ASSERT_EQ(write(address, data).error, ErrorCode::kOk);
  set_power(Power::kRetention);
  EXPECT_EQ(read(address).error, ErrorCode::kFaultPower);
  EXPECT_EQ(write(address, random_row(random)).error, ErrorCode::kFaultPower);
  EXPECT_EQ(operate({.op = PersistentSram::Op::kCommit, .index = 1}).error, ErrorCode::kFaultPower);
  set_power(Power::kOn);
  EXPECT_EQ(read(address).data, data);
  EXPECT_FALSE(block_->lost());

  set_power(Power::kOff);
  EXPECT_EQ(read(address).error, ErrorCode::kFaultPower);
  EXPECT_TRUE(block_->lost());
  set_power(Power::kRetention);  // does not bring back what is gone
  set_power(Power::kOn);
  EXPECT_EQ(read(address).data, std::vector<uint8_t>(sizes_.port_bytes));
  EXPECT_TRUE(block_->lost());  // until it is acknowledged
  // Nothing is declared before, whatever it would come to otherwise.
  const Outcome refused = operate({.op = PersistentSram::Op::kDeclare, .index = 1});
  EXPECT_EQ(refused.error, ErrorCode::kPowerLost);
  EXPECT_EQ(refused.cycles, 1u);
  EXPECT_EQ(operate({.op = PersistentSram::Op::kCheck, .index = 1}).error, ErrorCode::kFaultBadRegion);
  block_->clear_lost(true);
  block_->tick();
  EXPECT_FALSE(block_->lost());
  block_->clear_lost(false);
  EXPECT_EQ(operate({.op = PersistentSram::Op::kDeclare, .index = 1}).error, ErrorCode::kFaultBadRegion);
}

TEST_P(PersistentSramBlock, ALossMayBeAcknowledgedWhilePowerIsOff) {
  set_power(Power::kOff);
  EXPECT_TRUE(block_->lost());
  block_->clear_lost(true);
  block_->tick();
  block_->clear_lost(false);
  block_->tick();
  EXPECT_FALSE(block_->lost());
  set_power(Power::kOn);
  EXPECT_FALSE(block_->lost());
  set_power(Power::kOff);  // the next one
  EXPECT_TRUE(block_->lost());
}

TEST_P(PersistentSramBlock, RightsAndBoundsOfAccesses) {
  const std::vector<uint8_t> data(sizes_.port_bytes, 7);
  const uint32_t table = sizes_.entries * static_cast<uint32_t>(contract::VariableEntry::kBytes);
  EXPECT_EQ(write(table - sizes_.port_bytes, data, ~0u, false).error, ErrorCode::kFaultAccessRight);
  EXPECT_EQ(read(0, ~0u, false).error, ErrorCode::kFaultAccessRight);
  EXPECT_EQ(write(table, data, ~0u, false).error, ErrorCode::kOk);
  EXPECT_EQ(write(sizes_.bytes, data).error, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(read(0xffffff00u).error, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(read(0).data, std::vector<uint8_t>(sizes_.port_bytes));
  EXPECT_EQ(read(table - sizes_.port_bytes).data, std::vector<uint8_t>(sizes_.port_bytes));
}

INSTANTIATE_TEST_SUITE_P(Presets, PersistentSramBlock, testing::ValuesIn(built_machines()));

}  // namespace
}  // namespace npu::rtl::test
