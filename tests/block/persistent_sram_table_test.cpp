// SPDX-License-Identifier: Apache-2.0
// The variable table of the persistent SRAM's RTL against the model's rules.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "hw/engine/variable_table.h"
#include "rtl/verilated/machines.h"
#include "sim/cosim/random_persistent_sram.h"
#include "tests/block/persistent_sram_block.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

using contract::ErrorCode;
using contract::VariableEntry;
using Op = PersistentSram::Op;

constexpr uint32_t kEntries = 8;  // of the table, that random operations name

using PersistentSramTable = PersistentSramBlock;

// The table beside the model's: both get the same entries and operations, and must agree on every answer and byte.
class Rules {
 public:
  struct Wanted {
    ErrorCode error = ErrorCode::kOk;
    std::optional<engine::VariablePlace> place;  // of a check that is passed
  };

  explicit Rules(const PersistentSram::Sizes& sizes)
      : bytes_(sizes.bytes), table_(bytes_, sizes.entries, sizes.port_bytes) {}

  Wanted operate(const PersistentSram::Operation& operation) {
    const uint32_t index = operation.index;
    if (operation.op == Op::kBeginJob) {
      job_ = {operation.owner, operation.epoch};
      table_.forget_old_marks(job_);
      return {};
    }
    if (operation.op == Op::kDeclare) {
      ErrorCode error = table_.check_entry(index, operation.hash, job_);
      if (error == ErrorCode::kOk && table_.overlapping(index)) error = ErrorCode::kFaultAccessRight;
      if (error == ErrorCode::kOk) table_.declare(index, job_.epoch);
      return {error, {}};
    }
    if (operation.op == Op::kCommit) {
      if (index >= table_.entries() || table_.entry(index).length == 0) return {ErrorCode::kFaultBadRegion, {}};
      table_.commit_write(index);
      return {};
    }
    return access(operation);
  }
  [[nodiscard]] std::span<uint8_t> bytes() { return bytes_; }

 private:
  Wanted access(const PersistentSram::Operation& operation) {
    const uint32_t index = operation.index;
    const bool reads = operation.op == Op::kCheckRead;
    using Use = engine::VariableTable::Use;
    const Use use = operation.op == Op::kWriteBegin ? Use::kWrite : Use::kRead;
    ErrorCode error = table_.check_use(index, job_, use);
    if (error != ErrorCode::kOk) return {error, {}};
    if (operation.low < 0 || operation.high > int64_t{table_.entry(index).length}) {
      return {ErrorCode::kFaultOutOfBounds, {}};
    }
    if (reads) error = table_.check_content(index, job_);
    if (error != ErrorCode::kOk) return {error, {}};
    if (operation.op == Op::kWriteBegin) table_.begin_write(index);
    return {ErrorCode::kOk, table_.place(index, reads ? Use::kRead : Use::kWrite)};
  }

  std::vector<uint8_t> bytes_;
  engine::VariableTable table_;
  engine::VariableTable::Job job_;
};

// As the block says it.
PersistentSram::Place place_of(const engine::VariablePlace& place) {
  return {place.in_dram, place.in_dram ? place.base / contract::kVariableDramUnit : place.base};
}

TEST_P(PersistentSramTable, TableFollowsTheRules) {
  const uint64_t first = seed(7000);
  const auto entry_bytes = static_cast<uint32_t>(VariableEntry::kBytes);
  std::vector<uint64_t> outcomes(1 << 16);
  std::vector<uint64_t> good(6);  // operations that were allowed, by kind
  for (uint64_t round = 0; round < 8; ++round) {
    std::mt19937_64 random(first + round);
    Buckets buckets("table", first + round);
    Rules rules(sizes_);
    block_->reset();
    for (int step = 0; step < 400; ++step) {
      if (step % 100 == 0) {
        // Few entries, so that some declarations have a place of their own.
        for (uint32_t index = 0; index < kEntries; ++index) {
          if (random() % 2 == 0) cosim::random_entry(random, sizes_).store(rules.bytes().data() + entry_bytes * index);
        }
        for (uint32_t row = 0; row < table_rows(); ++row) {
          const auto bytes = rules.bytes().subspan(row * sizes_.port_bytes, sizes_.port_bytes);
          ASSERT_EQ(write(row * sizes_.port_bytes, bytes).error, ErrorCode::kOk);
        }
      }
      const PersistentSram::Operation operation = cosim::random_operation(random, kEntries);
      const std::string what =
          fmt::format("step {}, operation {} of variable {}", step, static_cast<int>(operation.op), operation.index);
      const Outcome got = operate(operation);
      const Rules::Wanted outcome = rules.operate(operation);
      const ErrorCode wanted = outcome.error;
      ++outcomes[static_cast<size_t>(wanted)];
      if (wanted == ErrorCode::kOk) ++good[static_cast<size_t>(operation.op)];
      buckets.compare(
          static_cast<int64_t>(got.error), static_cast<int64_t>(wanted),
          [&] { return fmt::format("answer {}", contract::name(wanted)); }, [&] { return what; });
      if (outcome.place) {
        const PersistentSram::Place place = place_of(*outcome.place);
        buckets.compare(
            got.place.in_dram, place.in_dram, [] { return "memory"; }, [&] { return what; });
        buckets.compare(
            static_cast<int64_t>(got.place.base), static_cast<int64_t>(place.base), [] { return "place"; },
            [&] { return what; });
      }
      for (uint32_t row = 0; row < table_rows(); ++row) {
        const auto bytes = rules.bytes().subspan(row * sizes_.port_bytes, sizes_.port_bytes);
        const Answer answer = read(row * sizes_.port_bytes);
        buckets.compare(
            std::equal(bytes.begin(), bytes.end(), answer.data.begin()), 1, [] { return "bytes of the table"; },
            [&] { return fmt::format("{}, row {}", what, row); });
      }
    }
  }
  for (const ErrorCode error :
       {ErrorCode::kOk, ErrorCode::kFaultBadRegion, ErrorCode::kFaultAccessRight, ErrorCode::kVariableUndeclared,
        ErrorCode::kVariableMismatch, ErrorCode::kVariableRedeclared, ErrorCode::kVariableUnwritten,
        ErrorCode::kVariableTorn, ErrorCode::kFaultOutOfBounds}) {
    EXPECT_GT(outcomes[static_cast<size_t>(error)], 0u) << contract::name(error);
  }
  for (const uint64_t count : good) EXPECT_GT(count, 0u);
}

// One variable's life, and the cycles of each operation as the README has them.
TEST_P(PersistentSramTable, LifeOfAVariable) {
  const uint32_t table = table_rows();
  VariableEntry entry;
  entry.base = sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes);
  entry.length = 100;
  entry.owner = 3;
  entry.hash = 0x1234;
  put(1, entry);
  for (int i = 0; i < 4; ++i) block_->tick();
  (void)expect({.op = Op::kBeginJob, .owner = 3, .epoch = 255}, ErrorCode::kOk, table + 3);
  (void)expect({.op = Op::kCheck, .index = sizes_.entries}, ErrorCode::kFaultBadRegion, 1);
  (void)expect({.op = Op::kCheck, .index = 1, .high = 100}, ErrorCode::kVariableUndeclared, 4);
  (void)expect({.op = Op::kDeclare, .index = 1, .hash = 0x1235}, ErrorCode::kVariableMismatch, 4);
  (void)expect({.op = Op::kDeclare, .index = 1, .hash = 0x1234}, ErrorCode::kOk, table + 7);
  (void)expect({.op = Op::kDeclare, .index = 1, .hash = 0x1234}, ErrorCode::kVariableRedeclared, 4);
  (void)expect({.op = Op::kCheck, .index = 1, .high = 100}, ErrorCode::kOk, 4);
  (void)expect({.op = Op::kCheck, .index = 1, .high = 101}, ErrorCode::kFaultOutOfBounds, 4);
  (void)expect({.op = Op::kCheck, .index = 1, .low = -1, .high = 1}, ErrorCode::kFaultOutOfBounds, 4);
  (void)expect({.op = Op::kCheckRead, .index = 1, .high = 100}, ErrorCode::kVariableUnwritten, 4);
  (void)expect({.op = Op::kWriteBegin, .index = 1, .high = 101}, ErrorCode::kFaultOutOfBounds, 4);
  (void)expect({.op = Op::kWriteBegin, .index = 1, .high = 100}, ErrorCode::kOk, 7);
  (void)expect({.op = Op::kWriteBegin, .index = 1, .high = 100}, ErrorCode::kOk, 4);
  (void)expect({.op = Op::kCommit, .index = 1}, ErrorCode::kOk, 7);
  (void)expect({.op = Op::kCheckRead, .index = 1, .high = 100}, ErrorCode::kOk, 4);
  // The next execution has not seen it, so it may only read; half a turn of the epochs later, the mark is forgotten.
  const auto may_only_read = [&] {
    (void)expect({.op = Op::kCheck, .index = 1, .high = 100}, ErrorCode::kOk, 4);
    (void)expect({.op = Op::kCheckRead, .index = 1, .high = 100}, ErrorCode::kOk, 4);
    (void)expect({.op = Op::kWriteBegin, .index = 1, .high = 100}, ErrorCode::kVariableUndeclared, 4);
  };
  (void)expect({.op = Op::kBeginJob, .owner = 3, .epoch = 0}, ErrorCode::kOk, table + 3);
  may_only_read();
  (void)expect({.op = Op::kBeginJob, .owner = 3, .epoch = 127}, ErrorCode::kOk, table + 8);
  (void)expect({.op = Op::kBeginJob, .owner = 3, .epoch = 255}, ErrorCode::kOk, table + 3);
  may_only_read();
  // A write that does not end: the next execution need not declare the variable to find it torn.
  (void)expect({.op = Op::kDeclare, .index = 1, .hash = 0x1234}, ErrorCode::kOk, 7);
  (void)expect({.op = Op::kWriteBegin, .index = 1, .high = 100}, ErrorCode::kOk, 7);
  (void)expect({.op = Op::kCheckRead, .index = 1, .high = 100}, ErrorCode::kOk, 4);
  (void)expect({.op = Op::kBeginJob, .owner = 3, .epoch = 0}, ErrorCode::kOk, table + 3);
  (void)expect({.op = Op::kCheckRead, .index = 1, .high = 100}, ErrorCode::kVariableTorn, 4);
  (void)expect({.op = Op::kBeginJob, .owner = 4, .epoch = 0}, ErrorCode::kOk, table + 3);
  (void)expect({.op = Op::kCheck, .index = 1}, ErrorCode::kFaultAccessRight, 4);
}

// The first declaration since the table was written reads all of it.
TEST_P(PersistentSramTable, PlacesAreComparedOnce) {
  const uint32_t table = table_rows(), free = sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes);
  uint8_t epoch = 0;
  const auto declare = [&](uint32_t index, ErrorCode error, uint32_t cycles) {
    EXPECT_EQ(operate({.op = Op::kBeginJob, .epoch = ++epoch}).error, ErrorCode::kOk);
    block_->tick();
    (void)expect({.op = Op::kDeclare, .index = index}, error, cycles);
  };
  const auto entry_at = [](uint32_t base, uint32_t length) {
    VariableEntry entry;
    entry.base = base;
    entry.length = length;
    return entry;
  };
  put(0, entry_at(free, 8));
  put(1, entry_at(free + 8, 8));
  declare(0, ErrorCode::kOk, table + 7);
  declare(0, ErrorCode::kOk, 7);
  declare(1, ErrorCode::kOk, table + 7);
  declare(1, ErrorCode::kOk, 7);
  // What others may not write stays, and so do places while power is low; bytes behind the table are nothing to it.
  EXPECT_EQ(write(0, std::vector<uint8_t>(sizes_.port_bytes, 1), ~0u, false).error, ErrorCode::kFaultAccessRight);
  EXPECT_EQ(write(free, std::vector<uint8_t>(sizes_.port_bytes, 1)).error, ErrorCode::kOk);
  set_power(PersistentSram::Power::kRetention);
  set_power(PersistentSram::Power::kOn);
  declare(0, ErrorCode::kOk, 7);
  // Another entry is written, and overlaps.
  put(sizes_.entries - 1, entry_at(free + 8, 1));
  declare(0, ErrorCode::kOk, table + 7);
  declare(1, ErrorCode::kFaultAccessRight, table + 4);
  declare(1, ErrorCode::kFaultAccessRight, table + 4);
  declare(sizes_.entries - 1, ErrorCode::kFaultAccessRight, 5 + free / sizes_.entries / sizes_.port_bytes);
  put(sizes_.entries - 1, VariableEntry());
  declare(1, ErrorCode::kOk, table + 7);
  declare(0, ErrorCode::kOk, table + 7);
  // The entry itself is looked at each time.
  inject(0, 0, {1, 2});
  (void)expect({.op = Op::kDeclare, .index = 0}, ErrorCode::kFaultEcc, 4);
  block_->reset();
  for (uint32_t index = 0; index < sizes_.entries; ++index) put(index, entry_at(free + index, 1));
  for (const uint32_t cycles : {table + 7, 7u}) {
    for (uint32_t index = 0; index < sizes_.entries; ++index) declare(index, ErrorCode::kOk, cycles);
  }
}

// The data port takes cycles from an operation, and nothing else: the same answers and bytes as without it.
TEST_P(PersistentSramTable, AccessesBesideOperationsChangeOnlyTheirCycles) {
  const uint64_t first = seed(9300);
  const uint32_t free = sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes);
  std::mt19937_64 random(first);
  Rules rules(sizes_);
  uint64_t longer = 0;
  for (int step = 0; step < 600; ++step) {
    if (step % 60 == 0) {
      for (uint32_t index = 0; index < kEntries; ++index) {
        cosim::random_entry(random, sizes_).store(rules.bytes().data() + VariableEntry::kBytes * index);
      }
      for (uint32_t row = 0; row < table_rows(); ++row) {
        (void)write(row * sizes_.port_bytes, rules.bytes().subspan(row * sizes_.port_bytes, sizes_.port_bytes));
      }
    }
    PersistentSram::Operation operation = cosim::random_operation(random, kEntries);
    if (random() % 4 == 0) operation.op = Op::kBeginJob;
    const uint64_t percent = random() % 101;
    block_->operate(operation);
    ASSERT_TRUE(block_->operation_taken());
    uint32_t cycles = 0;
    bool offered = false, taken = false;
    while (!block_->operation_done() && cycles < kPatience) {
      block_->tick();
      ++cycles;
      block_->withdraw_operation();
      if (taken) block_->withdraw_access();
      offered = offered && !taken;
      if (!offered && random() % 100 < percent) {
        block_->access({false, false, free, all_bytes(), {}});
        offered = true;
      }
      taken = offered && block_->access_taken();
      if (taken) ++longer;
    }
    ASSERT_LT(cycles, kPatience);
    EXPECT_EQ(block_->operation_error(), rules.operate(operation).error) << "step " << step;
    while (offered && !block_->access_taken()) block_->tick();
    block_->tick();
    block_->withdraw_access();
    for (int i = 0; i < 4; ++i) block_->tick();
    for (uint32_t row = 0; row < table_rows(); ++row) {
      const auto bytes = rules.bytes().subspan(row * sizes_.port_bytes, sizes_.port_bytes);
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), read(row * sizes_.port_bytes).data.begin()))
          << "step " << step;
    }
  }
  EXPECT_GT(longer, 0u);
}

// Rows that were asked for behind the one at which an operation stops are as if they had not been: no bit of them is
// put right.
TEST_P(PersistentSramTable, RowsBehindTheLastOneAreDropped) {
  VariableEntry entry;
  entry.base = sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes);
  entry.length = 1;
  entry.hash = 5;
  put(0, entry);
  const uint32_t before = block_->corrected();
  for (uint32_t row = 1; row < 4; ++row) inject(row, 0, {3});
  (void)expect({.op = Op::kDeclare, .index = 0}, ErrorCode::kVariableMismatch, 4);
  for (int i = 0; i < 4; ++i) block_->tick();
  EXPECT_EQ(block_->corrected(), before);
  inject(0, 0, {1, 2});
  (void)expect({.op = Op::kBeginJob}, ErrorCode::kFaultEcc, 4);
  for (int i = 0; i < 4; ++i) block_->tick();
  EXPECT_EQ(block_->corrected(), before);
  put(0, entry);
  // Each one that is put right holds up the next by a cycle.
  (void)expect({.op = Op::kBeginJob}, ErrorCode::kOk, table_rows() + 3 + 3);
  EXPECT_EQ(block_->corrected(), before + 3);
}

// A reader of the entry's row meets it, and is told whose it is.
TEST_P(PersistentSramTable, TwoWrongBitsInAnEntry) {
  const auto entry_bytes = static_cast<uint32_t>(VariableEntry::kBytes), words = entry_bytes / 8;
  for (uint32_t index = 0; index < sizes_.entries; ++index) {
    const uint32_t row = index * entry_bytes / sizes_.port_bytes;
    const uint32_t lane = index * words % lanes() + index / 3 % words;
    put(index, VariableEntry());
    inject(row, lane, {index % kWordBits, (index + 7) % kWordBits});
    EXPECT_EQ(expect({.op = Op::kBeginJob}, ErrorCode::kFaultEcc, row + 4).entry, index);
    EXPECT_EQ(expect({.op = Op::kCheck, .index = index}, ErrorCode::kFaultEcc, 4).entry, index);
    EXPECT_EQ(expect({.op = Op::kCommit, .index = index}, ErrorCode::kFaultEcc, 4).entry, index);
    put(index, VariableEntry());
    (void)expect({.op = Op::kCheck, .index = index}, ErrorCode::kFaultBadRegion, 4);
  }
  // A declaration meets another variable's.
  VariableEntry entry;
  entry.base = sizes_.entries * entry_bytes;
  entry.length = 1;
  put(0, entry);
  inject(table_rows() - 1, lanes() - 1, {1, 2});
  EXPECT_EQ(expect({.op = Op::kDeclare, .index = 0}, ErrorCode::kFaultEcc, table_rows() + 4).entry, sizes_.entries - 1);
}

// Owners, hashes and places of all their bits.
TEST_P(PersistentSramTable, DeclarationsOfAnyOwnerAndHash) {
  const uint64_t first = seed(9100);
  std::mt19937_64 random(first);
  const uint32_t table = sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes);
  for (int trial = 0; trial < 100; ++trial) {
    VariableEntry entry;
    entry.length = 1 + static_cast<uint32_t>(random() % (sizes_.bytes - table));
    entry.base = table + static_cast<uint32_t>(random() % (sizes_.bytes - table - entry.length + 1));
    entry.owner = static_cast<uint16_t>(random());
    entry.hash = static_cast<uint32_t>(random());
    const auto index = static_cast<uint32_t>(random() % sizes_.entries);
    for (uint32_t other = 0; other < sizes_.entries; ++other) put(other, VariableEntry());
    put(index, entry);
    const auto epoch = static_cast<uint8_t>(random());
    const int64_t end = entry.length;
    const auto wrong = static_cast<uint32_t>(entry.hash ^ (1u << random() % 32));
    EXPECT_EQ(operate({.op = Op::kBeginJob, .owner = entry.owner, .epoch = epoch}).error, ErrorCode::kOk);
    EXPECT_EQ(operate({.op = Op::kDeclare, .index = index, .hash = wrong}).error, ErrorCode::kVariableMismatch);
    EXPECT_EQ(operate({.op = Op::kDeclare, .index = index, .hash = entry.hash}).error, ErrorCode::kOk);
    EXPECT_EQ(operate({.op = Op::kCommit, .index = index}).error, ErrorCode::kOk);
    const Outcome outcome = operate({.op = Op::kCheckRead, .index = index, .low = 0, .high = end});
    EXPECT_EQ(outcome.error, ErrorCode::kOk);
    EXPECT_FALSE(outcome.place.in_dram);
    EXPECT_EQ(outcome.place.base, entry.base);
    EXPECT_EQ(operate({.op = Op::kCheckRead, .index = index, .low = 0, .high = end + 1}).error,
              ErrorCode::kFaultOutOfBounds);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, PersistentSramTable, testing::ValuesIn(built_machines()));

}  // namespace
}  // namespace npu::rtl::test
