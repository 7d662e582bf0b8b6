// SPDX-License-Identifier: Apache-2.0
// Expressions of sizes: their one form, what they are worth, how they print.
#include "driver/graph/dim.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace npu::graph {
namespace {

const Dim kX = Dim::symbol(0), kY = Dim::symbol(1);

std::string text(const Dim& dim) {
  return dim.text([](SymbolId id) { return std::string(1, static_cast<char>('x' + id)); });
}

std::optional<int64_t> at(const Dim& dim, int64_t x, int64_t y = 1) { return dim.evaluate(std::array{x, y}); }

TEST(Dim, NumbersStayNumbers) {
  EXPECT_EQ((Dim(3) + 4).number(), 7);
  EXPECT_EQ((Dim(3) - 4).number(), -1);
  EXPECT_EQ((Dim(3) * 4).number(), 12);
  EXPECT_EQ(Dim(12).quotient(4).number(), 3);
  EXPECT_EQ(Dim(-7).floor_quotient(2).number(), -4);
  EXPECT_FALSE(Dim(7).quotient(2).is_number());
  EXPECT_FALSE(at(Dim(7).quotient(2), 1));
}

TEST(Dim, HasOneForm) {
  EXPECT_EQ(kX + kY, kY + kX);
  EXPECT_EQ((kX + 1) * (kX - 1), kX * kX - 1);
  EXPECT_EQ(kX - kX, Dim(0));
  EXPECT_EQ((kX * 4 + 2).quotient(2), kX * 2 + 1);
  EXPECT_EQ((kX - 1).quotient(2) * 2 + 1, kX);
  EXPECT_EQ((kX * kY * 6).quotient(kY * 2), kX * 3);
  EXPECT_EQ((kX * kY + kY).quotient(kX + 1), kY);
  EXPECT_EQ((kX * 4 + 6).floor_quotient(4), kX + 1 + Dim(0));
  EXPECT_EQ((kX.floor_quotient(2) + 3).floor_quotient(1), kX.floor_quotient(2) + 3);
  EXPECT_EQ((kX * 2 + 1).floor_quotient(4), kX.floor_quotient(2));
  EXPECT_EQ(Dim::call(SizeOperation::kMax, kX, kY), Dim::call(SizeOperation::kMax, kY, kX));
  EXPECT_EQ(Dim::call(SizeOperation::kMax, kX, kX), kX);
}

TEST(Dim, PrintsWithTheConstantLast) {
  EXPECT_EQ(text(Dim(2) - kX), "-x + 2");
  EXPECT_EQ(text(kX * kX * 3 + kY - 1), "3*x*x + y - 1");
  EXPECT_EQ(text((kX + 1).quotient(2)), "(x + 1) / 2");
  EXPECT_EQ(text((kX * kY).quotient(4)), "x*y / 4");
  EXPECT_EQ(text((kX + 1).floor_quotient(2) + 1), "floor((x + 1) / 2) + 1");
  EXPECT_EQ(text(kX.quotient(kY)), "(x / (y))");
  EXPECT_EQ(text(Dim::call(SizeOperation::kMod, kX, 4)), "mod(x, 4)");
  EXPECT_EQ(text(Dim::call(SizeOperation::kExp2, kX, 0)), "exp2(x)");
  EXPECT_EQ(text(Dim::call(SizeOperation::kDivCeil, kX - 1, 3)), "ceil((x - 1) / 3)");
  EXPECT_EQ(text_of({kX, 4}, [](SymbolId) { return "in.0"; }), "[in.0, 4]");
}

TEST(Dim, IsWorthWhatItSays) {
  const Dim window = (kX - 1).quotient(2) + 1;
  EXPECT_EQ(at(window, 7), 4);
  EXPECT_FALSE(at(window, 8)) << "leaves a rest";
  EXPECT_EQ(at(kX.floor_quotient(2), 7), 3);
  EXPECT_EQ(at(kX.quotient(kY), 12, 4), 3);
  EXPECT_FALSE(at(kX.quotient(kY), 12, 5));
  EXPECT_FALSE(at(Dim::call(SizeOperation::kMod, kX, kY), 3, 0)) << "is undefined";
  EXPECT_FALSE(at(kX * kX, INT64_MAX)) << "overflows";
  EXPECT_FALSE(at(kX + kY, INT64_MAX, 1)) << "overflows";
}

TEST(Dim, SubstitutesAndFoldsAgain) {
  EXPECT_EQ((kX * kY + kX).substitute(0, 3), kY * 3 + 3);
  EXPECT_EQ(((kX + 1).floor_quotient(2)).substitute(0, kY * 2), kY);
  EXPECT_EQ(Dim::call(SizeOperation::kMax, kX, kY).substitute(0, kY), kY);
  EXPECT_EQ(kX.quotient(kY).substitute(0, kY * 3), Dim(3));
  EXPECT_EQ((kX - 1).quotient(2).substitute(0, kY * 2 + 1), kY);
}

TEST(Dim, KnowsWhereItIsAffineAndLinear) {
  const auto affine = (kX * 2 + kY - 3).quotient(4).affine();
  ASSERT_TRUE(affine);
  EXPECT_EQ(affine->terms, (std::vector<std::pair<SymbolId, int64_t>>{{0, 2}, {1, 1}}));
  EXPECT_EQ(affine->constant, -3);
  EXPECT_EQ(affine->denominator, 4);
  EXPECT_FALSE((kX * kY).affine());
  EXPECT_FALSE(kX.floor_quotient(2).affine());
  const auto linear = (kX * kY * 2 + kY * kY - 1).linear_in(0);
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->factor, kY * 2);
  EXPECT_EQ(linear->rest, kY * kY - 1);
  EXPECT_FALSE((kX * kY + kY * kY).linear_in(1));
  EXPECT_FALSE((kX + kX.floor_quotient(2)).linear_in(0));
}

TEST(Dim, WhatGrowsTooLargeIsNotExpressible) {
  EXPECT_THROW(static_cast<void>(kX * INT64_MAX * 2), NotExpressible);
  EXPECT_THROW(static_cast<void>(kX * INT64_MAX + kX), NotExpressible);
  EXPECT_THROW(static_cast<void>((kX * INT64_MAX).quotient(3) * INT64_MAX), NotExpressible);
  Dim sum = 0;
  EXPECT_THROW(
      {
        for (SymbolId id = 0; id < 1000; ++id) sum = sum + Dim::symbol(id);
      },
      NotExpressible);
  Dim deep = kX;
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) deep = Dim::call(SizeOperation::kMax, deep + 1, deep * 2);
      },
      NotExpressible);
}

}  // namespace
}  // namespace npu::graph
