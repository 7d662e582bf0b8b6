// SPDX-License-Identifier: Apache-2.0
// Which stored bits of a memory are wrong, alone.
#include "hw/model/ecc.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace npu::model {
namespace {

TEST(EccTest, OneWrongBitIsPutRightWherever) {
  for (uint32_t bit = 0; bit < Ecc::kWordBits; ++bit) {
    Ecc ecc;
    ecc.flip(3, bit);
    EXPECT_FALSE(ecc.clean());
    EXPECT_EQ(ecc.read(0, 24), std::nullopt);
    EXPECT_EQ(ecc.corrected(), 0u);
    EXPECT_EQ(ecc.read(31, 32), std::nullopt);
    EXPECT_EQ(ecc.corrected(), 1u);
    EXPECT_TRUE(ecc.clean());
    EXPECT_EQ(ecc.uncorrectable(), 0u);
  }
}

TEST(EccTest, TwoWrongBitsAreAlwaysFound) {
  for (uint32_t one = 0; one < Ecc::kWordBits; ++one) {
    for (uint32_t two = one + 1; two < Ecc::kWordBits; ++two) {
      Ecc ecc;
      ecc.flip(3, one);
      ecc.flip(3, two);
      ASSERT_EQ(ecc.read(0, 64), 24u);
      ASSERT_EQ(ecc.read(31, 32), 24u);
      ASSERT_EQ(ecc.uncorrectable(), 2u);
      ASSERT_EQ(ecc.address(), 24u);
      ASSERT_EQ(ecc.corrected(), 0u);
    }
  }
}

TEST(EccTest, ABitThatFlipsTwiceIsRight) {
  Ecc ecc;
  ecc.flip(0, 70);
  ecc.flip(0, 70);
  EXPECT_TRUE(ecc.clean());
}

TEST(EccTest, AReadStopsAtTheFirstBadWord) {
  Ecc ecc;
  ecc.flip(1, 0);
  for (const uint64_t word : {2, 4}) {
    ecc.flip(word, 5);
    ecc.flip(word, 6);
  }
  ecc.flip(3, 0);
  EXPECT_EQ(ecc.read(0, 40), 16u);
  EXPECT_EQ(ecc.corrected(), 1u);
  EXPECT_EQ(ecc.uncorrectable(), 1u);
  ecc.scrub();
  EXPECT_EQ(ecc.corrected(), 2u);
  EXPECT_EQ(ecc.uncorrectable(), 3u);
  EXPECT_EQ(ecc.address(), 32u);
}

// Words that a write keeps bytes of stay as they are; the others become right.
TEST(EccTest, AWriteReplacesWholeWords) {
  Ecc ecc;
  for (uint64_t word = 0; word < 4; ++word) {
    ecc.flip(word, 1);
    ecc.flip(word, 2);
  }
  ecc.wrote(8, 24);
  EXPECT_EQ(ecc.read(8, 24), std::nullopt);
  EXPECT_EQ(ecc.read(4, 24), 0u);
  EXPECT_EQ(ecc.read(8, 25), 24u);
  ecc.wrote(25, 32);
  EXPECT_EQ(ecc.read(24, 25), 24u);
}

TEST(EccTest, ReplacedHalvesMendAWord) {
  Ecc ecc;
  ecc.flip(1, 0);
  ecc.flip(1, 33);
  ecc.flip(1, 71);
  ecc.replace(8, 12);
  EXPECT_FALSE(ecc.clean());  // the other half has one
  ecc.replace(12, 16);
  EXPECT_TRUE(ecc.clean());
  ecc.replace(0, 4);
}

// Against the plain rule: a word is good with at most one wrong bit.
TEST(EccTest, RandomFlipsAndReads) {
  constexpr uint64_t kSeed = 1, kWords = 6;
  std::mt19937_64 random(kSeed);
  Ecc ecc;
  std::vector<std::vector<bool>> wrong(kWords, std::vector<bool>(Ecc::kWordBits));
  const auto count = [&](uint64_t word) { return std::count(wrong[word].begin(), wrong[word].end(), true); };
  uint64_t compared = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t word = random() % kWords;
    if (random() % 2 == 0) {
      const auto bit = static_cast<uint32_t>(random() % Ecc::kWordBits);
      wrong[word][bit] = !wrong[word][bit];
      ecc.flip(word, bit);
      continue;
    }
    if (random() % 4 == 0) {
      ecc.wrote(word * 8, word * 8 + 8);
      wrong[word].assign(Ecc::kWordBits, false);
      continue;
    }
    ASSERT_EQ(ecc.read(word * 8 + random() % 8, word * 8 + 8).has_value(), count(word) > 1) << "seed " << kSeed;
    if (count(word) == 1) wrong[word].assign(Ecc::kWordBits, false);
    ++compared;
  }
  std::printf("0 of %llu reads differ, seed %llu\n", static_cast<unsigned long long>(compared),
              static_cast<unsigned long long>(kSeed));
}

// Behind a word that cannot be put right, those of its row are looked at, too.
TEST(EccTest, ARowIsReadAtOnce) {
  Ecc ecc(32);
  for (const uint64_t word : {3u, 5u, 9u}) ecc.flip(word, 1);
  ecc.flip(4, 1);
  ecc.flip(4, 2);
  EXPECT_EQ(ecc.read(0, 128), 32u);
  EXPECT_EQ(ecc.corrected(), 2u);  // words 3 and 5, but not 9
  EXPECT_EQ(ecc.uncorrectable(), 1u);
  EXPECT_FALSE(ecc.right(72, 80));
  EXPECT_TRUE(ecc.right(40, 48));
  EXPECT_EQ(ecc.read(32, 40), 32u);
  EXPECT_EQ(ecc.scrub(), 1u);
  EXPECT_EQ(ecc.corrected(), 3u);
}

}  // namespace
}  // namespace npu::model
