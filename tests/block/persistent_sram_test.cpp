// The persistent SRAM's RTL: its code against every single and double error, its bytes against an array, its variable
// table against the model's rules.
#include "rtl/verilated/persistent_sram.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hw/model/address_map.h"
#include "hw/model/persistent_sram.h"
#include "rtl/verilated/presets.h"
#include "sim/cosim/random_persistent_sram.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

using contract::ErrorCode;
using contract::VariableEntry;
using Op = PersistentSram::Op;
using Power = PersistentSram::Power;

constexpr uint32_t kWordBits = 72, kDataBits = 64;
constexpr uint32_t kEntries = 8;  // of the table, that random operations name

class PersistentSramBlock : public testing::TestWithParam<const char*> {
 protected:
  struct Answer {
    ErrorCode error = ErrorCode::kOk;
    std::vector<uint8_t> data;
    uint32_t waited = 0;  // cycles until the access was taken
  };

  // An access that is asked for until it is taken, and its answer after the stated latency.
  Answer access(const PersistentSram::Access& access) {
    Answer answer;
    block_->access(access);
    while (!block_->access_taken() && answer.waited < kPatience) {
      block_->tick();
      ++answer.waited;
    }
    EXPECT_LT(answer.waited, kPatience);
    for (uint32_t cycle = 0; cycle < PersistentSram::kLatency; ++cycle) {
      block_->tick();
      block_->withdraw_access();
      EXPECT_EQ(block_->answered(), cycle + 1 == PersistentSram::kLatency);
    }
    answer.error = block_->answer_error();
    answer.data.assign(block_->answer().begin(), block_->answer().end());
    return answer;
  }
  Answer read(uint32_t address, uint32_t strobe = ~0u, bool privileged = true) {
    return access({false, privileged, address, strobe & all_bytes(), {}});
  }
  Answer write(uint32_t address, std::span<const uint8_t> data, uint32_t strobe = ~0u, bool privileged = true) {
    return access({true, privileged, address, strobe & all_bytes(), data});
  }

  void inject(uint32_t row, uint32_t lane, std::initializer_list<uint32_t> bits) {
    uint64_t data = 0;
    uint8_t check = 0;
    for (const uint32_t bit : bits) {
      if (bit < kDataBits) {
        data ^= uint64_t{1} << bit;
      } else {
        check = static_cast<uint8_t>(check ^ 1u << (bit - kDataBits));
      }
    }
    block_->inject(row, lane, data, check);
    while (!block_->injection_taken()) block_->tick();
    block_->tick();
    block_->withdraw_injection();
  }

  // In a cycle of its own.
  void set_power(Power power) {
    block_->tick();
    block_->set_power(power);
    block_->tick();
  }

  struct Outcome {
    ErrorCode error = ErrorCode::kOk;
    uint32_t base = 0;
    uint32_t cycles = 0;  // from the start of the operation
  };
  Outcome operate(const PersistentSram::Operation& operation) {
    block_->operate(operation);
    while (!block_->operation_taken()) block_->tick();
    Outcome outcome;
    do {
      block_->tick();
      block_->withdraw_operation();
      ++outcome.cycles;
    } while (!block_->operation_done() && outcome.cycles < kPatience);
    outcome.error = block_->operation_error();
    outcome.base = block_->operation_base();
    return outcome;
  }

  std::vector<uint8_t> random_row(std::mt19937_64& random) const {
    std::vector<uint8_t> row(sizes_.port_bytes);
    for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
    return row;
  }
  [[nodiscard]] uint32_t all_bytes() const { return ~0u >> (32 - sizes_.port_bytes); }
  [[nodiscard]] uint32_t rows() const { return sizes_.bytes / sizes_.port_bytes; }
  [[nodiscard]] uint32_t lanes() const { return sizes_.port_bytes / 8; }
  [[nodiscard]] uint32_t table_rows() const {
    return sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes) / sizes_.port_bytes;
  }

  static constexpr uint32_t kPatience = 100'000;
  std::unique_ptr<PersistentSram> block_ = make_persistent_sram(GetParam());
  const PersistentSram::Sizes sizes_ = block_->sizes();
};

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
        check(read(address), ErrorCode::kFaultBus, fmt::format("bits {} and {}", i, j));
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
  EXPECT_EQ(write(address, news, 0x0ff0).error, ErrorCode::kFaultBus);
  EXPECT_EQ(read(address, 0xff).error, ErrorCode::kFaultBus);
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
  EXPECT_EQ(operate({.op = Op::kCommit, .index = 1}).error, ErrorCode::kFaultPower);
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
  block_->clear_lost(true);
  block_->tick();
  EXPECT_FALSE(block_->lost());
}

TEST_P(PersistentSramBlock, RightsAndBoundsOfAccesses) {
  const std::vector<uint8_t> data(sizes_.port_bytes, 7);
  const uint32_t table = sizes_.entries * static_cast<uint32_t>(VariableEntry::kBytes);
  EXPECT_EQ(write(table - sizes_.port_bytes, data, ~0u, false).error, ErrorCode::kFaultAccessRight);
  EXPECT_EQ(read(0, ~0u, false).error, ErrorCode::kFaultAccessRight);
  EXPECT_EQ(write(table, data, ~0u, false).error, ErrorCode::kOk);
  EXPECT_EQ(write(sizes_.bytes, data).error, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(read(0xffffff00u).error, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(read(0).data, std::vector<uint8_t>(sizes_.port_bytes));
  EXPECT_EQ(read(table - sizes_.port_bytes).data, std::vector<uint8_t>(sizes_.port_bytes));
}

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
      if (error == ErrorCode::kOk) memory_.table().mark_seen(index, epoch_);
      return error;
    }
    if (operation.op == Op::kCommit) {
      if (index >= caps_.var_entries || memory_.table().entry(index).length == 0) return ErrorCode::kFaultBadRegion;
      memory_.table().mark_written(index);
      return ErrorCode::kOk;
    }
    const contract::Address address{0, contract::Region::kVariable, static_cast<uint16_t>(index)};
    const model::Window window = map_.window(address, engine::Access::kRead);
    if (window.error != ErrorCode::kOk) return window.error;
    if (operation.low < 0 || operation.high > static_cast<int64_t>(window.limit)) return ErrorCode::kFaultOutOfBounds;
    if (operation.op == Op::kCheckRead && !memory_.table().written(index)) return ErrorCode::kVariableUnwritten;
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

TEST_P(PersistentSramBlock, TableFollowsTheRules) {
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
TEST_P(PersistentSramBlock, LifeOfAVariable) {
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
TEST_P(PersistentSramBlock, DeclarationsOfAnyOwnerAndHash) {
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

INSTANTIATE_TEST_SUITE_P(Presets, PersistentSramBlock, testing::ValuesIn(built_presets()));

}  // namespace
}  // namespace npu::rtl::test
