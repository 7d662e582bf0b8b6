// SPDX-License-Identifier: Apache-2.0
// Sizes that a program does not take, tables that are damaged, and tables at random, which the firmware must evaluate
// as the driver does.
#include <functional>
#include <limits>
#include <random>

#include "tests/firmware/sizes_fixture.h"

namespace npu::firmware_test {
namespace {

using contract::ErrorCode;

class WrongSizesTest : public SizesTest {
 protected:
  // The job is refused, leaves everything as it was, and harms no other.
  void refused(const std::vector<int64_t>& sizes, ErrorCode code, uint32_t other) {
    bring(job, table, sizes);
    const std::vector<uint32_t> before = stream(job);
    const std::vector<uint32_t> data = words(0x300000, 0x1000);
    EXPECT_EQ(run_badly(1, job, code).fault_other, other);
    EXPECT_EQ(stream(job), before);
    EXPECT_EQ(words(0x300000, 0x1000), data);
    run_well(1, job, table, {20, 20});
  }
  const Table table = rows();
  contract::Job job;
};

TEST_F(WrongSizesTest, AreRefused) {
  boot();
  open(1, 0);
  job = place(table);
  refused({0, 20}, ErrorCode::kSizeOutOfBounds, 0);
  refused({65, 20}, ErrorCode::kSizeOutOfBounds, 0);
  refused({-1, 20}, ErrorCode::kSizeOutOfBounds, 0);
  refused({20, int64_t{1} << 32 | 20}, ErrorCode::kSizeOutOfBounds, 1);
  refused({20, std::numeric_limits<int64_t>::min()}, ErrorCode::kSizeOutOfBounds, 1);
  refused({20, 21}, ErrorCode::kSizeMismatch, 0);
  refused({21, 20}, ErrorCode::kSizeMismatch, 1);
}

// Behind a running job it is refused in its turn, and what is behind it runs.
TEST_F(WrongSizesTest, AreRefusedInTheirTurn) {
  boot();
  open(1, 0);
  job = place(table);
  bring(job, table, {1, 2});
  contract::Job running = simple_job();
  running.commands += 0x8000;
  const uint32_t first = driver.run(1, running, 0), second = driver.run(1, job, 1), third = driver.run(1, running, 2);
  ASSERT_TRUE(device.run());
  EXPECT_FALSE(driver.peek(1));
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, first, ErrorCode::kOk);
  EXPECT_EQ(completion(1, second, ErrorCode::kSizeMismatch).fault_other, 0u);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, third, ErrorCode::kOk);
}

TEST_F(WrongSizesTest, ARuleBehindTheStreamIsAFaultAndNothingIsCurrent) {
  boot();
  open(1, 0);
  for (const uint32_t word : {64u, 65u, 0x40000000u, UINT32_MAX}) {
    SCOPED_TRACE(word);
    Table wrong = table;
    wrong.rules[1].words.push_back(word);
    job = place(wrong);
    bring(job, wrong, {20, 20});
    const std::vector<uint32_t> behind = words(job.commands + 4 * uint64_t{job.command_words}, 0x400);
    EXPECT_EQ(run_badly(1, job, ErrorCode::kFaultPatch).fault_other, 1u);
    EXPECT_EQ(current(job), 0u);
    EXPECT_EQ(words(job.commands + 4 * uint64_t{job.command_words}, 0x400), behind);
    // Behind a running job it is found when that has ended.
    bring(job, wrong, {20, 20});
    contract::Job running = simple_job();
    running.commands += 0x8000;
    const uint32_t first = driver.run(1, running, 0), second = driver.run(1, job, 1);
    ASSERT_TRUE(device.run());
    device.end_done(10);
    ASSERT_TRUE(device.run());
    EXPECT_FALSE(device.busy);
    completion(1, first, ErrorCode::kOk);
    EXPECT_EQ(completion(1, second, ErrorCode::kFaultPatch).fault_other, 1u);
    job = place(table);
    run_well(1, job, table, {20, 20});
  }
}

// Damages of the structures in memory. Offsets count from the table.
struct TableDamage {
  const char* name;
  std::function<void(contract::Job& job, const std::function<void(uint32_t, uint32_t)>& poke)> damage;
};

class DamagedTableTest : public SizesTest, public testing::WithParamInterface<TableDamage> {};

TEST_P(DamagedTableTest, IsRefusedAndHarmsNobody) {
  boot();
  open(1, 0);
  const Table table = rows();
  const contract::Job good = place(table, 1);
  contract::Job job = place(table);
  bring(job, table, {20, 20});
  GetParam().damage(job, [&](uint32_t offset, uint32_t value) { poke(kTables + offset, {value}); });
  std::vector<uint32_t> around = words(0x1ff000, 0x400);
  EXPECT_EQ(run_badly(1, job, ErrorCode::kFaultSizes).fault_other, 0u);
  EXPECT_EQ(words(0x1ff000, 0x400), around);
  EXPECT_EQ(words(kStream + 4 * kStreamWords, 0x3c0), std::vector<uint32_t>(0x3c0, 0xa5a5a5a5));
  run_well(1, good, table, {20, 20});
}

constexpr uint32_t kMagicWord = 0, kVersionWord = 4, kHashWord = 8, kTotalWord = 12, kSymbolsWord = 16,
                   kConditionsWord = 20, kRulesWord = 24;
// Of rows(): two symbols, two expressions, two conditions, two results; a rule of one piece and two words.
constexpr uint32_t kExpressionRows = 48 + 16, kConditionRows = kExpressionRows + 16, kResultRows = kConditionRows + 16,
                   kRuleRows = kResultRows + 8, kSecondRule = kRuleRows + 16 + 16 + 8;
constexpr uint64_t kJobSizes = RingDriver::kShared + 0x38000;

INSTANTIATE_TEST_SUITE_P(
    Damages, DamagedTableTest,
    testing::Values(
        TableDamage{"TableMisaligned", [](contract::Job& job, const auto&) { job.size_table += 4; }},
        TableDamage{"TableBeyondMemory", [](contract::Job& job, const auto&) { job.size_table = 16 << 20; }},
        TableDamage{"TableAtTheEndOfMemory", [](contract::Job& job, const auto&) { job.size_table = (16 << 20) - 40; }},
        TableDamage{"TableBeyondTheCpusSight", [](contract::Job& job, const auto&) { job.size_table |= uint64_t{1} << 32; }},
        TableDamage{"TableAtTheTopOfNumbers", [](contract::Job& job, const auto&) { job.size_table = ~uint64_t{7}; }},
        TableDamage{"TableInWhatIsShared", [](contract::Job& job, const auto&) { job.size_table = kJobSizes; }},
        TableDamage{"TableBeforeWhatIsShared",
               [](contract::Job& job, const auto&) { job.size_table = RingDriver::kShared - 40; }},
        TableDamage{"StreamInWhatIsShared", [](contract::Job& job, const auto&) { job.commands = RingDriver::kShared; }},
        TableDamage{"StreamIntoWhatIsShared",
               [](contract::Job& job, const auto&) { job.commands = RingDriver::kShared - 64; }},
        TableDamage{"SizesMisaligned", [](contract::Job& job, const auto&) { job.sizes += 4; }},
        TableDamage{"SizesNotInWhatIsShared", [](contract::Job& job, const auto&) { job.sizes = 0x300000; }},
        TableDamage{"SizesOverTheEndOfWhatIsShared",
               [](contract::Job& job, const auto&) {
                 job.sizes = RingDriver::kShared + RingDriver::kSharedBytes - 32;
               }},
        TableDamage{"SizesBeyondTheCpusSight", [](contract::Job& job, const auto&) { job.sizes |= uint64_t{1} << 40; }},
        TableDamage{"NoTable", [](contract::Job&, const auto& poke) { poke(kMagicWord, 0); }},
        TableDamage{"AnotherVersion", [](contract::Job&, const auto& poke) { poke(kVersionWord, 2); }},
        TableDamage{"AnotherHash", [](contract::Job&, const auto& poke) { poke(kHashWord, 0x12345678); }},
        TableDamage{"OddTotal", [](contract::Job&, const auto& poke) { poke(kTotalWord, 140); }},
        TableDamage{"NoTotal", [](contract::Job&, const auto& poke) { poke(kTotalWord, 0); }},
        TableDamage{"TotalOfTheHeader", [](contract::Job&, const auto& poke) { poke(kTotalWord, 48); }},
        TableDamage{"TotalTooShort", [](contract::Job&, const auto& poke) { poke(kTotalWord, kSecondRule + 4); }},
        TableDamage{"TotalTooLong", [](contract::Job&, const auto& poke) { poke(kTotalWord, 1024); }},
        TableDamage{"HugeTotal", [](contract::Job&, const auto& poke) { poke(kTotalWord, 0xfffffff8); }},
        TableDamage{"NoSymbols", [](contract::Job&, const auto& poke) { poke(kSymbolsWord, 2 << 16); }},
        TableDamage{"MoreSymbols", [](contract::Job&, const auto& poke) { poke(kSymbolsWord, 2 << 16 | 3); }},
        TableDamage{"HugeSymbols", [](contract::Job&, const auto& poke) { poke(kSymbolsWord, 0xffff); }},
        TableDamage{"HugeExpressions", [](contract::Job&, const auto& poke) { poke(kSymbolsWord, 0xffff0002); }},
        TableDamage{"MoreValuesThanThereMayBe",
               [](contract::Job&, const auto& poke) {
                 poke(kSymbolsWord, (contract::kMostSizeValues - 1) << 16 | 2);
                 poke(kTotalWord, 4096);
               }},
        TableDamage{"HugeConditions", [](contract::Job&, const auto& poke) { poke(kConditionsWord, 2 << 16 | 0xffff); }},
        TableDamage{"HugeConditionsInAHugeTable",
               [](contract::Job&, const auto& poke) {
                 poke(kConditionsWord, 2 << 16 | 0xffff);
                 poke(kTotalWord, contract::kMostSizeTableBytes);
               }},
        TableDamage{"HugeResults", [](contract::Job&, const auto& poke) { poke(kConditionsWord, 0xffff0002); }},
        TableDamage{"HugeRules", [](contract::Job&, const auto& poke) { poke(kRulesWord, UINT32_MAX); }},
        TableDamage{"FewerRules", [](contract::Job&, const auto& poke) { poke(kRulesWord, 1); }},
        TableDamage{"MoreRules", [](contract::Job&, const auto& poke) { poke(kRulesWord, 5); }},
        TableDamage{"AnUnknownOperation", [](contract::Job&, const auto& poke) { poke(kExpressionRows + 8, 13); }},
        TableDamage{"AnExpressionOfItself", [](contract::Job&, const auto& poke) { poke(kExpressionRows + 8, 3 << 16 | 3); }},
        TableDamage{"AnExpressionOfALaterOne", [](contract::Job&, const auto& poke) { poke(kExpressionRows + 12, 3); }},
        TableDamage{"AnExpressionOfNothing",
               [](contract::Job&, const auto& poke) { poke(kExpressionRows + 12, 0x80000000); }},
        TableDamage{"AnUnknownRelation", [](contract::Job&, const auto& poke) { poke(kConditionRows, 5); }},
        TableDamage{"AConditionOfNothing", [](contract::Job&, const auto& poke) { poke(kConditionRows, 0xffff0001); }},
        TableDamage{"AConditionWithNothing", [](contract::Job&, const auto& poke) { poke(kConditionRows + 4, 4); }},
        TableDamage{"AResultOfNothing", [](contract::Job&, const auto& poke) { poke(kResultRows, 4); }},
        TableDamage{"ARuleOfNothing", [](contract::Job&, const auto& poke) { poke(kRuleRows, 3 << 16 | 4); }},
        TableDamage{"ARuleThatMultipliesNothing",
                    [](contract::Job&, const auto& poke) { poke(kRuleRows, 4 << 16 | 3); }},
        TableDamage{"ARuleOfNothingAtAll", [](contract::Job&, const auto& poke) { poke(kRuleRows, 0xffff0003); }},
        TableDamage{"ARuleWithNothing", [](contract::Job&, const auto& poke) { poke(kRuleRows + 4, 1 << 16 | 4); }},
        TableDamage{"NoPieces", [](contract::Job&, const auto& poke) { poke(kRuleRows + 4, 3); }},
        TableDamage{"HugePieces", [](contract::Job&, const auto& poke) { poke(kRuleRows + 4, 0xffff0003); }},
        TableDamage{"HugeWords", [](contract::Job&, const auto& poke) { poke(kRuleRows + 12, UINT32_MAX); }},
        TableDamage{"WordsThatWrapAround", [](contract::Job&, const auto& poke) { poke(kRuleRows + 12, 0x40000000); }}),
    [](const auto& info) { return info.param.name; });

// The same of what a job brings.
class DamagedSizesTest : public SizesTest, public testing::WithParamInterface<std::pair<uint32_t, uint32_t>> {};

TEST_P(DamagedSizesTest, AreRefused) {
  boot();
  open(1, 0);
  const Table table = rows();
  const contract::Job job = place(table);
  bring(job, table, {20, 20});
  const auto [offset, value] = GetParam();
  poke(job.sizes + offset, {value});
  run_badly(1, job, ErrorCode::kFaultSizes);
  EXPECT_EQ(stream(job), std::vector<uint32_t>(job.command_words, kPoison));
  run_well(1, job, table, {20, 20});
}

INSTANTIATE_TEST_SUITE_P(VersionSymbolsHash, DamagedSizesTest,
                         testing::Values(std::pair(0u, 2u << 16 | 2), std::pair(0u, 3u << 16 | 1), std::pair(0u, 1u),
                                         std::pair(4u, 0u)));

// Where a value is not defined, a condition on it does not hold; without one, what needs it is a fault.
TEST_F(SizesTest, WhatIsNotDefinedIsUsedByNothing) {
  boot();
  open(1, 0);
  Table table = rows();
  table.expressions.push_back({Operation::kQuotient, 0, 2});  // x.0 / 4
  for (const auto relation : {Relation::kDefined, Relation::kEqual, Relation::kPowerOfTwo}) {
    Table checked = table;
    checked.conditions = {{relation, 4, 4, ""}};
    const contract::Job job = place(checked);
    bring(job, checked, {6, 6});
    EXPECT_EQ(run_badly(1, job, ErrorCode::kSizeMismatch).fault_other, 0u);
    run_well(1, job, checked, {8, 8});
  }
  Table result = table, rule = table;
  result.results.push_back(4);
  rule.rules.push_back(compiler::testing::rule_of(4, {{0, 1, 0}}, {12}));
  for (const Table& wrong : {result, rule}) {
    const contract::Job job = place(wrong);
    bring(job, wrong, {6, 6});
    run_badly(1, job, ErrorCode::kFaultSizes);
    run_well(1, job, wrong, {8, 8});
  }
}

class RandomTables : public SizesTest {
 protected:
  using Random = std::mt19937_64;
  static int64_t pick(Random& random, int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }
  // Small ones mostly, and those at the ends.
  static int32_t number(Random& random) {
    constexpr std::array<int32_t, 8> kEnds = {0, 1, -1, 2, 62, 63, INT32_MAX, INT32_MIN};
    if (pick(random, 0, 2) == 0) return kEnds[static_cast<size_t>(pick(random, 0, 7))];
    return static_cast<int32_t>(pick(random, -100, 1000));
  }
  static Table make(Random& random, uint32_t stream_words) {
    Table table;
    for (int64_t i = pick(random, 1, contract::kMostSymbols); i > 0; --i) {
      const int32_t a = number(random), b = number(random);
      table.symbols.push_back({"x", std::min(a, b), std::max(a, b)});
    }
    const auto values = [&] { return static_cast<int64_t>(table.symbols.size() + table.expressions.size()); };
    const auto value = [&] { return static_cast<uint16_t>(pick(random, 0, values() - 1)); };
    for (int64_t i = pick(random, 0, contract::kMostSizeValues - values()); i > 0; --i) {
      const auto operation = static_cast<Operation>(pick(random, 0, 12));
      const int32_t b = operation == Operation::kConstant ? number(random) : value();
      table.expressions.push_back({operation, value(), b});
    }
    // Conditions, results and rules of few values, or too few tables would run.
    const auto used = [&] { return static_cast<uint16_t>(pick(random, 0, std::min<int64_t>(values() - 1, 20))); };
    for (int64_t i = pick(random, 0, 2); i > 0; --i) {
      table.conditions.push_back({static_cast<Relation>(pick(random, 0, 4)), used(), used(), ""});
    }
    for (int64_t i = pick(random, 0, 8); i > 0; --i) table.results.push_back(used());
    std::vector<uint32_t> places(stream_words);
    for (uint32_t i = 0; i < stream_words; ++i) places[i] = i;
    std::shuffle(places.begin(), places.end(), random);
    for (int64_t i = pick(random, 0, 12); i > 0; --i) {
      compiler::SizeTable::Rule rule;
      rule.selector = used();
      rule.first = used();
      rule.second = used();
      if (pick(random, 0, 3) == 0) rule.most = number(random);
      rule.pieces.push_back({INT32_MIN, number(random), number(random), number(random)});
      std::vector<int32_t> starts;
      for (int64_t j = pick(random, 0, 3); j > 0; --j) starts.push_back(number(random));
      std::sort(starts.begin(), starts.end());
      for (const int32_t start : starts) {
        rule.pieces.push_back({start, number(random), number(random), number(random)});
      }
      for (int64_t j = pick(random, 0, 4); j > 0; --j) {
        rule.words.push_back(places.back());
        places.pop_back();
      }
      table.rules.push_back(rule);
    }
    return table;
  }
  // What the driver says of a job.
  static std::pair<ErrorCode, uint32_t> verdict(const Table& table, const std::vector<int64_t>& sizes) {
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < table.symbols[i].least || sizes[i] > table.symbols[i].most) {
        return {ErrorCode::kSizeOutOfBounds, i};
      }
    }
    const compiler::SizeValues values = compiler::evaluate(table, sizes);
    for (uint32_t i = 0; i < table.conditions.size(); ++i) {
      if (!compiler::holds(table.conditions[i], values)) return {ErrorCode::kSizeMismatch, i};
    }
    const bool results = std::all_of(table.results.begin(), table.results.end(), [&](uint16_t i) { return values[i]; });
    const bool rules = std::all_of(table.rules.begin(), table.rules.end(), [&](const auto& rule) {
      return values[rule.selector] && values[rule.first] && values[rule.second];
    });
    return {results && rules ? ErrorCode::kOk : ErrorCode::kFaultSizes, 0};
  }
};

TEST_F(RandomTables, AreEvaluatedAsTheDriverDoes) {
  constexpr uint64_t kSeed = 20260118;
  constexpr int kTables = 1500;
  RecordProperty("seed", static_cast<int>(kSeed));
  Random random(kSeed);
  boot(2);
  open(1, 0);
  std::map<ErrorCode, int> seen;
  for (int i = 0; i < kTables && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", table " + std::to_string(i));
    const Table table = make(random, kStreamWords);
    const contract::Job job = place(table);
    std::vector<int64_t> sizes;
    for (const auto& symbol : table.symbols) sizes.push_back(pick(random, symbol.least, symbol.most));
    if (pick(random, 0, 9) == 0) sizes[static_cast<size_t>(pick(random, 0, std::ssize(sizes) - 1))] = number(random);
    const auto [code, other] = verdict(table, sizes);
    ++seen[code];
    if (code == ErrorCode::kOk) {
      run_well(1, job, table, sizes);
    } else {
      bring(job, table, sizes);
      EXPECT_EQ(run_badly(1, job, code).fault_other, other);
    }
  }
  EXPECT_GT(seen[ErrorCode::kOk], kTables / 10);
  for (const ErrorCode code : {ErrorCode::kSizeOutOfBounds, ErrorCode::kSizeMismatch, ErrorCode::kFaultSizes}) {
    EXPECT_GT(seen[code], 10) << contract::name(code);
  }
}

// Any words at all: nothing stops the firmware, and nothing outside of the stream changes.
TEST_F(RandomTables, OfAnyWordsHarmNothing) {
  constexpr uint64_t kSeed = 777;
  constexpr int kTries = 1500;
  Random random(kSeed);
  boot(2);
  open(1, 0);
  const std::vector<uint32_t> before = words(0x1f0000, 0x4000);
  for (int i = 0; i < kTries && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", try " + std::to_string(i));
    const Table table = make(random, kStreamWords);
    const contract::Job job = place(table);
    std::vector<int64_t> sizes;
    for (const auto& symbol : table.symbols) sizes.push_back(pick(random, symbol.least, symbol.most));
    bring(job, table, sizes);
    const auto bytes = static_cast<int64_t>(compiler::encode(table).size());
    for (int64_t j = pick(random, 1, 4); j > 0; --j) {
      const auto at = static_cast<uint64_t>(pick(random, 0, bytes / 4 - 1)) * 4;
      const uint32_t old = words(job.size_table + at, 1)[0];
      const auto flip = static_cast<uint32_t>(uint64_t{1} << pick(random, 0, 31));
      poke(job.size_table + at, {pick(random, 0, 3) == 0 ? static_cast<uint32_t>(random()) : old ^ flip});
    }
    const uint32_t id = driver.run(1, job, 0);
    ASSERT_TRUE(device.run());
    ASSERT_FALSE(device.stopped()) << device.uart;
    if (device.busy) {
      device.end_done(10);
      ASSERT_TRUE(device.run());
    }
    const auto done = driver.take(1);
    ASSERT_TRUE(done && done->id == id);
    EXPECT_EQ(words(0x1f0000, 0x4000), before);
    EXPECT_EQ(words(kStream + 4 * kStreamWords, 0x3c0), std::vector<uint32_t>(0x3c0, 0xa5a5a5a5));
  }
}

}  // namespace
}  // namespace npu::firmware_test
