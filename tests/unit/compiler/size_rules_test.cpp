// SPDX-License-Identifier: Apache-2.0
// Rules made of words by size give these words back, for every size that counts.
#include "driver/compiler/schedule/size_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <random>

namespace npu::compiler::backend {
namespace {

using Rules = std::vector<SizeTable::Rule>;

constexpr uint32_t kWord = 5;

// Of one word; empty where the maker has none.
Rules rules_of(const ValuesBySize& values, const WordBySize& words) {
  RuleMaker maker(values);
  if (!maker.add(kWord, words)) return {};
  return maker.take();
}

// Applies them as the driver and the firmware do, to the words of the largest sizes.
void expect_words(const Rules& rules, const ValuesBySize& values, const WordBySize& words) {
  SizeTable table;
  table.rules = rules;
  for (size_t size = 0; size < words.size(); ++size) {
    if (!words[size]) continue;
    SizeValues own;
    for (const std::vector<int64_t>& by_size : values) own.emplace_back(by_size[size]);
    std::vector<uint32_t> commands(kWord + 1, words.front().value_or(0xdead));
    apply_rules(table, own, commands);
    ASSERT_EQ(commands[kWord], *words[size]) << "size " << size;
  }
}

Rules checked(const ValuesBySize& values, const WordBySize& words) {
  const Rules rules = rules_of(values, words);
  EXPECT_FALSE(rules.empty());
  expect_words(rules, values, words);
  return rules;
}

// From `most` down to 1, as the largest sizes come first.
std::vector<int64_t> down_from(int64_t most) {
  std::vector<int64_t> values;
  for (int64_t value = most; value >= 1; --value) values.push_back(value);
  return values;
}

// All pairs of 1..a and 1..b, and these values of theirs.
struct Pairs {
  std::vector<int64_t> first, second;
  Pairs(int64_t a, int64_t b) {
    for (int64_t x = a; x >= 1; --x) {
      for (int64_t y = b; y >= 1; --y) {
        first.push_back(x);
        second.push_back(y);
      }
    }
  }
  template <typename Word>
  [[nodiscard]] WordBySize words(Word&& word) const {
    WordBySize all;
    for (size_t i = 0; i < first.size(); ++i) all.push_back(static_cast<uint32_t>(word(first[i], second[i])));
    return all;
  }
};

template <typename Word>
WordBySize words_of(const std::vector<int64_t>& values, Word&& word) {
  WordBySize words;
  for (const int64_t value : values) words.push_back(static_cast<uint32_t>(word(value)));
  return words;
}

TEST(SizeRules, AConstantIsOnePieceWithoutFactors) {
  const std::vector<int64_t> x = down_from(9);
  const Rules rules = checked({x}, words_of(x, [](int64_t) { return 77; }));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].pieces, (std::vector<SizeTable::Piece>{{1, 0, 0, 77}}));
  EXPECT_EQ(rules[0].words, std::vector<uint32_t>{kWord});
}

TEST(SizeRules, AnAffineFunctionIsOnePiece) {
  const std::vector<int64_t> x = down_from(50);
  Rules rules = checked({x}, words_of(x, [](int64_t v) { return 12 * v + 5; }));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].pieces, (std::vector<SizeTable::Piece>{{1, 12, 0, 5}}));
  rules = checked({x}, words_of(x, [](int64_t v) { return 3 - 7 * v; }));  // below 0, modulo 2^32
  EXPECT_EQ(rules[0].pieces, (std::vector<SizeTable::Piece>{{1, -7, 0, 3}}));
}

TEST(SizeRules, AFieldOfAWordThatWrapsIsAffineToo) {
  const std::vector<int64_t> x = down_from(50);
  const Rules rules = checked({x}, words_of(x, [](int64_t v) { return 0xfffffff0U + static_cast<uint32_t>(v); }));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].pieces.size(), 1U);
}

TEST(SizeRules, AClampIsTwoPieces) {
  const std::vector<int64_t> x = down_from(40);
  Rules rules = checked({x}, words_of(x, [](int64_t v) { return std::min<int64_t>(v, 16); }));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].pieces.size(), 2U);
  rules = checked({x}, words_of(x, [](int64_t v) { return std::clamp<int64_t>(v - 10, 0, 8); }));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].pieces.size(), 3U);
}

TEST(SizeRules, TheValueWithFewestPiecesIsTaken) {
  const std::vector<int64_t> x = down_from(40);
  std::vector<int64_t> halves;
  for (const int64_t v : x) halves.push_back((v + 1) / 2);
  const Rules rules = checked({x, halves}, words_of(x, [](int64_t v) { return 6 * ((v + 1) / 2) + 1; }));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].selector, 1);
  EXPECT_EQ(rules[0].pieces, (std::vector<SizeTable::Piece>{{1, 6, 0, 1}}));
}

TEST(SizeRules, EqualFunctionsShareARule) {
  const std::vector<int64_t> x = down_from(9);
  RuleMaker maker({x});
  const WordBySize twice = words_of(x, [](int64_t v) { return 2 * v; });
  EXPECT_TRUE(maker.add(3, twice));
  EXPECT_TRUE(maker.add(8, twice));
  EXPECT_TRUE(maker.add(9, words_of(x, [](int64_t v) { return 2 * v + 1; })));
  const Rules rules = maker.take();
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].words, (std::vector<uint32_t>{3, 8}));
  EXPECT_EQ(rules[1].words, std::vector<uint32_t>{9});
}

TEST(SizeRules, ASumOfTwoValuesIsOnePiece) {
  const Pairs pairs(9, 7);
  const Rules rules =
      checked({pairs.first, pairs.second}, pairs.words([](int64_t x, int64_t y) { return 5 * x - 3 * y + 2; }));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].first, 0);
  EXPECT_EQ(rules[0].second, 1);
  EXPECT_EQ(rules[0].pieces, (std::vector<SizeTable::Piece>{{1, 5, -3, 2}}));
}

TEST(SizeRules, AThirdValueChoosesBetweenSumsOfTwo) {
  ValuesBySize values(3);
  WordBySize words;
  for (int64_t x = 5; x >= 1; --x) {
    for (int64_t y = 6; y >= 1; --y) {
      for (int64_t z = 4; z >= 1; --z) {
        values[0].push_back(x);
        values[1].push_back(y);
        values[2].push_back(z);
        words.push_back(static_cast<uint32_t>(z >= 3 ? 4 * x + y : x + 9 * y - 1));
      }
    }
  }
  const Rules rules = checked(values, words);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].selector, 2);
  EXPECT_EQ(rules[0].pieces, (std::vector<SizeTable::Piece>{{1, 1, 9, -1}, {3, 4, 1, 0}}));
}

TEST(SizeRules, BoundsOfSeveralValuesAreARuleEach) {
  const Pairs pairs(9, 9);
  const Rules rules = checked({pairs.first, pairs.second},
                              pairs.words([](int64_t x, int64_t y) { return x >= 4 && y >= 7 ? 100 : 2; }));
  ASSERT_EQ(rules.size(), 2U);
  // The first one makes the word, the second one leaves it as it is for large sizes.
  EXPECT_EQ(rules[0].most, std::numeric_limits<int32_t>::max());
  EXPECT_EQ(rules[0].pieces.size(), 2U);
  EXPECT_EQ(rules[1].most, 6);
  EXPECT_EQ(rules[1].pieces, (std::vector<SizeTable::Piece>{{1, 0, 0, 2}}));
}

TEST(SizeRules, WhatLeavesWordsAloneComesLast) {
  const Pairs pairs(9, 9);
  RuleMaker maker({pairs.first, pairs.second});
  EXPECT_TRUE(maker.add(1, pairs.words([](int64_t x, int64_t y) { return x >= 4 && y >= 7 ? 100 : 2; })));
  EXPECT_TRUE(maker.add(2, pairs.words([](int64_t x, int64_t) { return x; })));
  EXPECT_TRUE(maker.add(3, pairs.words([](int64_t x, int64_t y) { return x >= 2 && y >= 3 ? 8 : 1; })));
  bool partial = false;
  for (const SizeTable::Rule& rule : maker.take()) {
    const bool leaves = rule.most != std::numeric_limits<int32_t>::max();
    EXPECT_TRUE(leaves || !partial);
    partial = leaves;
  }
  EXPECT_TRUE(partial);
}

TEST(SizeRules, SizesThatDoNotCountMayBeAnything) {
  const std::vector<int64_t> x = down_from(20);
  WordBySize words = words_of(x, [](int64_t v) { return 3 * v; });
  for (const size_t size : {0U, 3U, 4U, 11U, 19U}) words[size] = std::nullopt;
  const Rules rules = checked({x}, words);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].pieces, (std::vector<SizeTable::Piece>{{1, 3, 0, 0}}));
}

TEST(SizeRules, ReservedBitsStayClearWhereTheWordDoesNotCount) {
  constexpr uint32_t kReserved = 0xffff0000;
  const std::vector<int64_t> x = down_from(30);
  WordBySize words = words_of(x, [](int64_t v) { return 5 * (v - 12); });
  for (size_t size = 0; size < x.size(); ++size) {
    if (x[size] <= 12) words[size].reset();  // below 0 there
  }
  ASSERT_EQ(checked({x}, words)[0].pieces.size(), 1U);
  RuleMaker maker({x});
  ASSERT_TRUE(maker.add(kWord, words, kReserved));
  const Rules rules = maker.take();
  expect_words(rules, {x}, words);
  for (const int64_t value : x) {
    std::vector<uint32_t> commands(kWord + 1, *words.front());
    apply_rules({{}, {}, {}, {}, rules}, {value}, commands);
    EXPECT_EQ(commands[kWord] & kReserved, 0U) << value;
  }
}

TEST(SizeRules, AProductIsOnePieceAsAValue) {
  const Pairs pairs(7, 9);
  const auto product = [](int64_t x, int64_t y) { return x * y; };
  // As a multiple of the second value for each one of the first.
  EXPECT_EQ(checked({pairs.first, pairs.second}, pairs.words(product))[0].pieces.size(), 7U);
  std::vector<int64_t> products;
  for (size_t i = 0; i < pairs.first.size(); ++i) products.push_back(pairs.first[i] * pairs.second[i]);
  const Rules rules = checked({pairs.first, pairs.second, products}, pairs.words(product));
  EXPECT_EQ(rules[0].selector, 2);
  EXPECT_EQ(rules[0].pieces.size(), 1U);
}

TEST(SizeRules, WhatIsNoneOfTheseFunctionsHasNoRule) {
  const Pairs pairs(7, 9);
  EXPECT_TRUE(
      rules_of({pairs.first, pairs.second}, pairs.words([](int64_t x, int64_t y) { return x * x * y * y; })).empty());
}

TEST(SizeRules, NothingThatCountsHasNoRule) {
  const std::vector<int64_t> x = down_from(4);
  EXPECT_TRUE(rules_of({x}, WordBySize(x.size())).empty());
}

// As large as sizes may be: the arithmetic of the maker has 64 bits.
TEST(SizeRules, TakesTheLargestValues) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const std::vector<int64_t> x = {kMost, kMost, 1, 1}, y = {kMost, 1, kMost, 1};
  const WordBySize words = {0x7fffffff, 0x80000000, 0, 0xffffffff};
  RuleMaker maker({x, y});
  if (maker.add(kWord, words)) expect_words(maker.take(), {x, y}, words);
  WordBySize sums;
  for (size_t i = 0; i < x.size(); ++i) sums.push_back(static_cast<uint32_t>(x[i] - y[i]));
  static_cast<void>(checked({x, y}, sums));
}

// Whatever the maker says it has rules for, they are right.
TEST(SizeRules, RandomWordsComeBack) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t limit) { return static_cast<int64_t>(random() % limit); };
  int made = 0, refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const size_t sizes = 1 + random() % 40;
    ValuesBySize values(1 + random() % 4);
    for (std::vector<int64_t>& by_size : values) {
      for (size_t i = 0; i < sizes; ++i) by_size.push_back(1 + below(trial % 2 == 0 ? 6 : 40));
    }
    const size_t a = random() % values.size(), b = random() % values.size(), c = random() % values.size();
    const int64_t p = below(9) - 4, q = below(9) - 4, edge = below(12), kind = below(5);
    WordBySize words;
    for (size_t i = 0; i < sizes; ++i) {
      const int64_t x = values[a][i], y = values[b][i], z = values[c][i];
      int64_t word = 0;
      if (kind == 0) word = x >= edge ? p * x + q : q * x - p;
      if (kind == 1) word = p * x + q * y + 3;
      if (kind == 2) word = x >= edge && y >= edge / 2 && z >= 2 ? 7 : 9;
      if (kind == 3) word = z >= edge ? p * x + y : q * y;
      if (kind == 4) word = x * y % 5;
      words.emplace_back(static_cast<uint32_t>(word));
      if (random() % 4 == 0) words.back().reset();
    }
    RuleMaker maker(values);
    if (!maker.add(kWord, words)) {
      ++refused;
      continue;
    }
    ++made;
    expect_words(maker.take(), values, words);
    if (HasFatalFailure()) FAIL() << "trial " << trial;
  }
  std::cout << made << " words with rules, " << refused << " without\n";
  EXPECT_GT(made, 1000);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace npu::compiler::backend
