// SPDX-License-Identifier: Apache-2.0
// Tables of sizes: what expressions, conditions and rules give, and how the firmware finds them in memory. That it
// computes the same of random tables, tests/firmware/sizes_errors_test.cpp shows.
#include "driver/compiler/size_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/unit/compiler/size_rule.h"

namespace npu::compiler {
namespace {

using contract::SizeOperation;
using contract::SizeRelation;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
constexpr std::optional<int64_t> kNone = std::nullopt;

std::optional<int64_t> compute(SizeOperation operation, int64_t a, int64_t b = 0) {
  SizeTable table;
  table.symbols = {{"a", 1, 1}, {"b", 1, 1}};
  table.expressions = {{operation, 0, 1}};
  return evaluate(table, std::vector<int64_t>{a, b}).back();
}

TEST(SizeTable, ExpressionsAreOf64BitsWithSign) {
  EXPECT_EQ(compute(SizeOperation::kConstant, 7, 8), 1) << "the immediate itself";
  EXPECT_EQ(compute(SizeOperation::kAdd, 7, -8), -1);
  EXPECT_EQ(compute(SizeOperation::kAdd, kMost, 1), kNone) << "beyond 64 bits there is none";
  EXPECT_EQ(compute(SizeOperation::kAdd, kLeast, -1), kNone);
  EXPECT_EQ(compute(SizeOperation::kSub, kLeast, 1), kNone);
  EXPECT_EQ(compute(SizeOperation::kSub, -1, kLeast), kMost);
  EXPECT_EQ(compute(SizeOperation::kSub, 0, kLeast), kNone);
  EXPECT_EQ(compute(SizeOperation::kMul, -3, 5), -15);
  EXPECT_EQ(compute(SizeOperation::kMul, int64_t{1} << 62, 4), kNone);
  EXPECT_EQ(compute(SizeOperation::kMul, int64_t{1} << 62, -2), kLeast);
  EXPECT_EQ(compute(SizeOperation::kMul, int64_t{1} << 62, 2), kNone);
  EXPECT_EQ(compute(SizeOperation::kMul, kLeast, -1), kNone);
  EXPECT_EQ(compute(SizeOperation::kMax, -1, 1), 1);
  EXPECT_EQ(compute(SizeOperation::kMin, -1, 1), -1);
}

TEST(SizeTable, DivisionsAreDefinedWhereSignsAreEqual) {
  for (const auto operation : {SizeOperation::kMod, SizeOperation::kDivFloor, SizeOperation::kDivCeil}) {
    EXPECT_EQ(compute(operation, 7, 0), kNone);
    EXPECT_EQ(compute(operation, 7, -1), kNone);
    EXPECT_EQ(compute(operation, -7, 2), kNone);
    EXPECT_EQ(compute(operation, 0, 3), 0);
  }
  EXPECT_EQ(compute(SizeOperation::kMod, -7, -2), kNone);
  EXPECT_EQ(compute(SizeOperation::kMod, 0, -2), kNone);
  EXPECT_EQ(compute(SizeOperation::kDivFloor, -7, -2), 3);
  EXPECT_EQ(compute(SizeOperation::kDivCeil, -7, -2), 4);
  for (const auto operation : {SizeOperation::kDivFloor, SizeOperation::kDivCeil}) {
    EXPECT_EQ(compute(operation, 0, -2), 0);
    EXPECT_EQ(compute(operation, kLeast, -1), kNone);
    EXPECT_EQ(compute(operation, kLeast, kLeast), 1);
  }
  EXPECT_EQ(compute(SizeOperation::kMod, 7, 3), 1);
  EXPECT_EQ(compute(SizeOperation::kDivFloor, 7, 3), 2);
  EXPECT_EQ(compute(SizeOperation::kDivCeil, 7, 3), 3);
  EXPECT_EQ(compute(SizeOperation::kDivCeil, 6, 3), 2);
  EXPECT_EQ(compute(SizeOperation::kDivCeil, kMost, 2), int64_t{1} << 62);
}

TEST(SizeTable, QuotientsLeaveNoRest) {
  EXPECT_EQ(compute(SizeOperation::kQuotient, 6, 3), 2);
  EXPECT_EQ(compute(SizeOperation::kQuotient, -6, 3), -2);
  EXPECT_EQ(compute(SizeOperation::kQuotient, -6, -3), 2);
  EXPECT_EQ(compute(SizeOperation::kQuotient, 7, 3), kNone);
  EXPECT_EQ(compute(SizeOperation::kQuotient, 7, 0), kNone);
  EXPECT_EQ(compute(SizeOperation::kQuotient, kLeast, -1), kNone);
  EXPECT_EQ(compute(SizeOperation::kQuotient, kLeast, 1), kLeast);
}

TEST(SizeTable, PowersAndLogarithms) {
  EXPECT_EQ(compute(SizeOperation::kExp2, 0), 1);
  EXPECT_EQ(compute(SizeOperation::kExp2, 62), int64_t{1} << 62);
  EXPECT_EQ(compute(SizeOperation::kExp2, 63), kNone);
  EXPECT_EQ(compute(SizeOperation::kExp2, -1), kNone);
  for (const auto operation : {SizeOperation::kLog2Floor, SizeOperation::kLog2Ceil}) {
    EXPECT_EQ(compute(operation, 0), kNone);
    EXPECT_EQ(compute(operation, -8), kNone);
    EXPECT_EQ(compute(operation, 1), 0);
    EXPECT_EQ(compute(operation, 8), 3);
  }
  EXPECT_EQ(compute(SizeOperation::kLog2Floor, 9), 3);
  EXPECT_EQ(compute(SizeOperation::kLog2Ceil, 9), 4);
  EXPECT_EQ(compute(SizeOperation::kLog2Ceil, kMost), 63);
}

TEST(SizeTable, WhatFollowsFromNothingIsNothing) {
  SizeTable table;
  table.symbols = {{"a", 1, 9}};
  table.expressions = {{SizeOperation::kConstant, 0, 2},
                       {SizeOperation::kQuotient, 0, 1},
                       {SizeOperation::kAdd, 0, 2},
                       {SizeOperation::kExp2, 2, 0}};
  EXPECT_EQ(evaluate(table, std::vector<int64_t>{6}), (SizeValues{6, 2, 3, 9, 8}));
  EXPECT_EQ(evaluate(table, std::vector<int64_t>{7}), (SizeValues{7, 2, kNone, kNone, kNone}));
}

TEST(SizeTable, Conditions) {
  const auto check = [](SizeRelation relation, std::optional<int64_t> left, std::optional<int64_t> right) {
    return holds({relation, 0, 1, ""}, {left, right});
  };
  EXPECT_TRUE(check(SizeRelation::kEqual, -3, -3));
  EXPECT_FALSE(check(SizeRelation::kEqual, 3, -3));
  EXPECT_TRUE(check(SizeRelation::kAtLeast, 3, 3));
  EXPECT_FALSE(check(SizeRelation::kAtLeast, 2, 3));
  EXPECT_TRUE(check(SizeRelation::kMultiple, 6, 3));
  EXPECT_TRUE(check(SizeRelation::kMultiple, -6, 3));
  EXPECT_TRUE(check(SizeRelation::kMultiple, 0, 3));
  EXPECT_FALSE(check(SizeRelation::kMultiple, 7, 3));
  EXPECT_FALSE(check(SizeRelation::kMultiple, 6, 0));
  EXPECT_FALSE(check(SizeRelation::kMultiple, 6, -3));
  EXPECT_TRUE(check(SizeRelation::kPowerOfTwo, 1, kNone));
  EXPECT_TRUE(check(SizeRelation::kPowerOfTwo, int64_t{1} << 62, kNone));
  EXPECT_FALSE(check(SizeRelation::kPowerOfTwo, 6, kNone));
  EXPECT_FALSE(check(SizeRelation::kPowerOfTwo, 0, kNone));
  EXPECT_FALSE(check(SizeRelation::kPowerOfTwo, kLeast, kNone));
  EXPECT_TRUE(check(SizeRelation::kDefined, 0, kNone));
  for (uint32_t relation = 0; relation <= 4; ++relation) {
    EXPECT_FALSE(check(static_cast<SizeRelation>(relation), kNone, 1)) << relation;
  }
  for (const auto relation : {SizeRelation::kEqual, SizeRelation::kAtLeast, SizeRelation::kMultiple}) {
    EXPECT_FALSE(check(relation, 1, kNone));
  }
}

TEST(SizeTable, RulesArePiecewise) {
  const SizeTable::Rule rule = testing::rule_of(0, {{1, 64, 0}, {32, 0, 2048}, {60, -1, 5}}, {});
  const auto word = [&](int64_t value) { return word_of(rule, {value}); };
  EXPECT_EQ(word(1), 64u);
  EXPECT_EQ(word(31), 31 * 64u);
  EXPECT_EQ(word(32), 2048u);
  EXPECT_EQ(word(59), 2048u);
  EXPECT_EQ(word(60), static_cast<uint32_t>(-55));
  EXPECT_EQ(word(0), 0u) << "below the first piece it is the first";
}

TEST(SizeTable, RulesTakeTwoValuesAndAThirdChoosesThePiece) {
  SizeTable::Rule rule;
  rule.selector = 2;
  rule.first = 0;
  rule.second = 1;
  rule.most = 20;
  rule.pieces = {{1, 2, 3, 4}, {10, -1, 0, 0}};
  EXPECT_EQ(word_of(rule, {5, 7, 9}), 2 * 5 + 3 * 7 + 4u);
  EXPECT_EQ(word_of(rule, {5, 7, 10}), static_cast<uint32_t>(-5));
  EXPECT_EQ(word_of(rule, {kMost, 7, 10}), 1u) << "modulo 2^32";
  EXPECT_EQ(word_of(rule, {5, 7, 20}), static_cast<uint32_t>(-5));
  EXPECT_EQ(word_of(rule, {5, 7, 21}), std::nullopt) << "beyond `most` it leaves its words as they are";
}

TEST(SizeTable, RulesWriteTheirWordsAndNoOthers) {
  SizeTable table;
  table.symbols = {{"a", 1, 9}};
  table.expressions = {{SizeOperation::kMul, 0, 0}};
  table.rules = {testing::rule_of(0, {{0, 2, 1}}, {0, 3}), testing::rule_of(1, {{0, 1, 0}}, {2}),
                 testing::rule_of(0, {{0, 0, 77}}, {3})};
  table.rules.back().most = 5;
  std::vector<uint32_t> commands = {9, 9, 9, 9, 9};
  apply_rules(table, evaluate(table, std::vector<int64_t>{5}), commands);
  EXPECT_EQ(commands, (std::vector<uint32_t>{11, 9, 25, 77, 9})) << "the last rule takes effect last";
  apply_rules(table, evaluate(table, std::vector<int64_t>{6}), commands);
  EXPECT_EQ(commands, (std::vector<uint32_t>{13, 9, 36, 13, 9}));
}

// Byte by byte, as the contract lists it.
TEST(SizeTable, Encoding) {
  SizeTable table;
  table.symbols = {{"a", 1, 64}};
  table.expressions = {{SizeOperation::kDivCeil, 0, 0}};
  table.conditions = {{SizeRelation::kMultiple, 1, 0, "text"}};
  table.results = {1};
  SizeTable::Rule& rule = table.rules.emplace_back();
  rule.selector = 1;
  rule.second = 1;
  rule.most = 0x7000;
  rule.pieces = {{1, -2, 4, 3}};
  rule.words = {17, 18};
  const std::vector<uint8_t> bytes = encode(table);
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.begin() + 4), (std::vector<uint8_t>{'S', 'I', 'Z', 'E'}));
  EXPECT_EQ(bytes[4], 1);
  const std::vector<uint8_t> rows = {1,  0,    0, 0, 64,   0,    0,    0,  // bounds
                                     8,  0,    0, 0, 0,    0,    0,    0,  // expression: 0 / 0, rounded up
                                     2,  0,    1, 0, 0,    0,    0,    0,  // condition: 1 is a multiple of 0
                                     1,  0,    0, 0,                       // result
                                     1,  0,    0, 0, 1,    0,    1,    0,  // rule of values 1, 0 and 1, a piece
                                     0,  0x70, 0, 0, 2,    0,    0,    0,  // up to 0x7000, two words
                                     1,  0,    0, 0, 0xfe, 0xff, 0xff, 0xff, 4, 0, 0, 0, 3, 0, 0, 0,  // piece
                                     17, 0,    0, 0, 18,   0,    0,    0,                             // words
                                     0,  0,    0, 0};  // to a multiple of 8
  const size_t head = contract::SizeTable::kBytes;
  ASSERT_EQ(bytes.size(), head + rows.size());
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin() + static_cast<ptrdiff_t>(head), bytes.end()), rows);
  const auto parsed = contract::SizeTable::load(bytes.data());
  EXPECT_EQ(parsed.total_bytes, bytes.size());
  EXPECT_EQ(parsed.symbols, 1);
  EXPECT_EQ(parsed.expressions, 1);
  EXPECT_EQ(parsed.conditions, 1);
  EXPECT_EQ(parsed.results, 1);
  EXPECT_EQ(parsed.rules, 1u);
  EXPECT_EQ(parsed.current, 0u);
  EXPECT_EQ(parsed.hash, hash_of(bytes));
  EXPECT_EQ(encoded_bytes(table), bytes.size());
}

TEST(SizeTable, TheHashIsFnv1aOfTheRows) {
  std::vector<uint8_t> bytes(contract::SizeTable::kBytes, 77);
  EXPECT_EQ(hash_of(bytes), 0x811c9dc5u) << "of nothing";
  bytes.push_back('a');
  EXPECT_EQ(hash_of(bytes), 0xe40c292cu);
  for (const char c : std::string_view("bc")) bytes.push_back(static_cast<uint8_t>(c));
  EXPECT_EQ(hash_of(bytes), 0x1a47e90bu);
}

TEST(SizeTable, EncodedBytesAreThoseOfTheEncoding) {
  SizeTable table;
  table.symbols = {{"a", 1, 64}, {"b", 1, 2}};
  for (uint32_t i = 0; i < 9; ++i) {
    table.rules.push_back({0, 0, 0, INT32_MAX, std::vector<SizeTable::Piece>(1 + i % 3), std::vector<uint32_t>(i % 4)});
    table.results.push_back(0);
    EXPECT_EQ(encoded_bytes(table), encode(table).size()) << i;
    EXPECT_EQ(encoded_bytes(table) % 8, 0u);
  }
}

}  // namespace
}  // namespace npu::compiler
