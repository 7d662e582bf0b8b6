// The variable table of the persistent SRAM's RTL against the model's rules.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hw/model/address_map.h"
#include "hw/model/persistent_sram.h"
#include "rtl/verilated/presets.h"
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
  explicit Rules(const PersistentSram::Sizes& sizes) : caps_(capabilities(sizes)) {}

  ErrorCode operate(const PersistentSram::Operation& operation) {
    const uint32_t index = operation.index;
    if (operation.op == Op::kBeginJob) {
      epoch_ = operation.epoch;
      memory_.begin_job({operation.owner, operation.epoch});
      map_.begin_job({}, {operation.owner, operation.epoch});
      return ErrorCode::kOk;
    }
    if (operation.op == Op::kDeclare) {
      const ErrorCode error = map_.check_declaration(index, operation.hash);
      if (error == ErrorCode::kOk) memory_.table().declare(index, epoch_);
      return error;
    }
    if (operation.op == Op::kCommit) {
      if (index >= caps_.var_entries || memory_.table().entry(index).length == 0) return ErrorCode::kFaultBadRegion;
      memory_.table().commit_write(index);
      return ErrorCode::kOk;
    }
    const contract::Address address{0, contract::Region::kVariable, static_cast<uint16_t>(index)};
    const model::Window window = map_.window(address, engine::Access::kRead);
    if (window.error != ErrorCode::kOk) return window.error;
    if (operation.low < 0 || operation.high > static_cast<int64_t>(window.limit)) return ErrorCode::kFaultOutOfBounds;
    if (operation.op == Op::kCheckRead) return memory_.table().check_content(index);
    return ErrorCode::kOk;
  }
  [[nodiscard]] model::PersistentSram& memory() { return memory_; }

 private:
  static contract::Capabilities capabilities(const PersistentSram::Sizes& sizes) {
    contract::Capabilities caps;
    caps.psram_bytes = sizes.bytes;
    caps.psram_port_bytes = sizes.port_bytes;
    caps.var_entries = sizes.entries;
    return caps;
  }

  const contract::Capabilities caps_;
  model::PersistentSram memory_{caps_};
  model::AddressMap map_{caps_, memory_};
  uint8_t epoch_ = 0;
};

TEST_P(PersistentSramTable, TableFollowsTheRules) {
  const uint64_t first = seed(7000);
  const auto entry_bytes = static_cast<uint32_t>(VariableEntry::kBytes);
  std::vector<uint64_t> outcomes(1 << 16);
  std::vector<uint64_t> good(5);  // operations that were allowed, by kind
  for (uint64_t round = 0; round < 8; ++round) {
    std::mt19937_64 random(first + round);
    Buckets buckets("table", first + round);
    Rules rules(sizes_);
    block_->reset();
    for (int step = 0; step < 400; ++step) {
      if (step % 100 == 0) {
        // Few entries, so that some declarations have a place of their own.
        for (uint32_t index = 0; index < kEntries; ++index) {
          if (random() % 2 == 0)
            cosim::random_entry(random, sizes_).store(rules.memory().bytes().data() + entry_bytes * index);
        }
        for (uint32_t row = 0; row < table_rows(); ++row) {
          const auto bytes = rules.memory().bytes().subspan(row * sizes_.port_bytes, sizes_.port_bytes);
          ASSERT_EQ(write(row * sizes_.port_bytes, bytes).error, ErrorCode::kOk);
        }
      }
      const PersistentSram::Operation operation = cosim::random_operation(random, kEntries);
      const std::string what =
          fmt::format("step {}, operation {} of variable {}", step, static_cast<int>(operation.op), operation.index);
      const Outcome got = operate(operation);
      const ErrorCode wanted = rules.operate(operation);
      ++outcomes[static_cast<size_t>(wanted)];
      if (wanted == ErrorCode::kOk) ++good[static_cast<size_t>(operation.op)];
      buckets.compare(
          static_cast<int64_t>(got.error), static_cast<int64_t>(wanted),
          [&] { return fmt::format("answer {}", contract::name(wanted)); }, [&] { return what; });
      if (wanted == ErrorCode::kOk && (operation.op == Op::kCheck || operation.op == Op::kCheckRead)) {
        buckets.compare(
            got.base, rules.memory().table().entry(operation.index).base, [] { return "base"; }, [&] { return what; });
      }
      for (uint32_t row = 0; row < table_rows(); ++row) {
        const auto bytes = rules.memory().bytes().subspan(row * sizes_.port_bytes, sizes_.port_bytes);
        const Answer answer = read(row * sizes_.port_bytes);
        buckets.compare(
            std::equal(bytes.begin(), bytes.end(), answer.data.begin()), 1, [] { return "bytes of the table"; },
            [&] { return fmt::format("{}, row {}", what, row); });
      }
    }
  }
  for (const ErrorCode error :
       {ErrorCode::kOk, ErrorCode::kFaultBadRegion, ErrorCode::kFaultAccessRight, ErrorCode::kVariableUndeclared,
        ErrorCode::kVariableMismatch, ErrorCode::kVariableRedeclared, ErrorCode::kFaultOutOfBounds}) {
    EXPECT_GT(outcomes[static_cast<size_t>(error)], 0u) << contract::name(error);
  }
  for (const uint64_t count : good) EXPECT_GT(count, 0u);
}

// One variable's life, and the cycles of each operation as the README has them.
TEST_P(PersistentSramTable, LifeOfAVariable) {
  const uint32_t table = table_rows();
  std::vector<uint8_t> row(sizes_.port_bytes);
  VariableEntry entry;
  entry.base = sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes);
  entry.length = 100;
  entry.owner = 3;
  entry.hash = 0x1234;
  const auto slot = static_cast<uint32_t>(VariableEntry::kBytes) % sizes_.port_bytes;
  entry.store(row.data() + slot);
  const uint32_t address = static_cast<uint32_t>(VariableEntry::kBytes) - slot;
  ASSERT_EQ(write(address, row).error, ErrorCode::kOk);
  for (int i = 0; i < 4; ++i) block_->tick();
  const auto expect = [&](const PersistentSram::Operation& operation, ErrorCode error, uint32_t cycles) {
    const Outcome outcome = operate(operation);
    EXPECT_EQ(outcome.error, error) << static_cast<int>(operation.op);
    EXPECT_EQ(outcome.cycles, cycles) << static_cast<int>(operation.op);
    block_->tick();
  };
  expect({.op = Op::kBeginJob, .owner = 3, .epoch = 255}, ErrorCode::kOk, 3 * table + 1);
  expect({.op = Op::kCheck, .index = sizes_.entries}, ErrorCode::kFaultBadRegion, 1);
  expect({.op = Op::kCheck, .index = 1, .high = 100}, ErrorCode::kVariableUndeclared, 4);
  expect({.op = Op::kDeclare, .index = 1, .hash = 0x1235}, ErrorCode::kVariableMismatch, 4);
  expect({.op = Op::kDeclare, .index = 1, .hash = 0x1234}, ErrorCode::kOk, 3 * table + 7);
  expect({.op = Op::kDeclare, .index = 1, .hash = 0x1234}, ErrorCode::kVariableRedeclared, 4);
  expect({.op = Op::kCheck, .index = 1, .high = 100}, ErrorCode::kOk, 4);
  expect({.op = Op::kCheck, .index = 1, .high = 101}, ErrorCode::kFaultOutOfBounds, 4);
  expect({.op = Op::kCheck, .index = 1, .low = -1, .high = 1}, ErrorCode::kFaultOutOfBounds, 4);
  expect({.op = Op::kCheckRead, .index = 1, .high = 100}, ErrorCode::kVariableUnwritten, 4);
  expect({.op = Op::kCommit, .index = 1}, ErrorCode::kOk, 7);
  expect({.op = Op::kCheckRead, .index = 1, .high = 100}, ErrorCode::kOk, 4);
  // The next execution has not seen it; half a turn of the epochs later, the mark is forgotten.
  expect({.op = Op::kBeginJob, .owner = 3, .epoch = 0}, ErrorCode::kOk, 3 * table + 1);
  expect({.op = Op::kCheck, .index = 1}, ErrorCode::kVariableUndeclared, 4);
  expect({.op = Op::kBeginJob, .owner = 3, .epoch = 127}, ErrorCode::kOk, 3 * table + 4);
  expect({.op = Op::kBeginJob, .owner = 3, .epoch = 255}, ErrorCode::kOk, 3 * table + 1);
  expect({.op = Op::kCheck, .index = 1}, ErrorCode::kVariableUndeclared, 4);
  expect({.op = Op::kBeginJob, .owner = 4, .epoch = 0}, ErrorCode::kOk, 3 * table + 1);
  expect({.op = Op::kCheck, .index = 1}, ErrorCode::kFaultAccessRight, 4);
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
    const uint32_t at = index * static_cast<uint32_t>(VariableEntry::kBytes), slot = at % sizes_.port_bytes;
    std::vector<uint8_t> row(sizes_.port_bytes);
    for (uint32_t other = 0; other < table_rows(); ++other) {
      ASSERT_EQ(write(other * sizes_.port_bytes, row).error, ErrorCode::kOk);
    }
    entry.store(row.data() + slot);
    ASSERT_EQ(write(at - slot, row).error, ErrorCode::kOk);
    const auto epoch = static_cast<uint8_t>(random());
    const int64_t end = entry.length;
    const auto wrong = static_cast<uint32_t>(entry.hash ^ (1u << random() % 32));
    EXPECT_EQ(operate({.op = Op::kBeginJob, .owner = entry.owner, .epoch = epoch}).error, ErrorCode::kOk);
    EXPECT_EQ(operate({.op = Op::kDeclare, .index = index, .hash = wrong}).error, ErrorCode::kVariableMismatch);
    EXPECT_EQ(operate({.op = Op::kDeclare, .index = index, .hash = entry.hash}).error, ErrorCode::kOk);
    EXPECT_EQ(operate({.op = Op::kCommit, .index = index}).error, ErrorCode::kOk);
    const Outcome outcome = operate({.op = Op::kCheckRead, .index = index, .low = 0, .high = end});
    EXPECT_EQ(outcome.error, ErrorCode::kOk);
    EXPECT_EQ(outcome.base, entry.base);
    EXPECT_EQ(operate({.op = Op::kCheckRead, .index = index, .low = 0, .high = end + 1}).error,
              ErrorCode::kFaultOutOfBounds);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, PersistentSramTable, testing::ValuesIn(built_presets()));

}  // namespace
}  // namespace npu::rtl::test
