// SPDX-License-Identifier: Apache-2.0
// Expressions of a table of sizes are worth what those of the graph are.
#include "driver/compiler/size_expressions.h"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "driver/graph/size_functions.h"
#include "hw/contract/error.h"
#include "tests/unit/errors/code_of.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using contract::SizeOperation;
using graph::Dim;
using npu::test::code_of;

class SizeExpressionsTest : public ::testing::Test {
 protected:
  SizeExpressionsTest() {
    for (const char* name : {"x.0", "x.1"}) table_.symbols.push_back({name, 1, 100});
  }

  // Compares for many sizes, and says for how many there is a value.
  int expect_equal(const Dim& dim) { return expect_equal(dim, expressions_); }
  int expect_equal(const Dim& dim, SizeExpressions& expressions) {
    const uint16_t number = expressions.number_of(dim);
    int defined = 0;
    for (int64_t x = 1; x < 20; ++x) {
      for (int64_t y = 1; y < 20; ++y) {
        // Numbers of symbols of the graph are not those of the table.
        const std::vector<int64_t> in_graph = {0, 0, 0, x, 0, y};
        const std::optional<int64_t> want = dim.evaluate(in_graph);
        const std::optional<int64_t> got = evaluate(table_, std::vector<int64_t>{x, y}).at(number);
        EXPECT_EQ(got, want) << x << ", " << y;
        defined += want ? 1 : 0;
      }
    }
    return defined;
  }

  SizeTable table_;
  const std::vector<graph::SymbolId> symbols_ = {3, 5};
  SizeExpressions expressions_{symbols_, table_};
  const Dim x_ = Dim::symbol(3), y_ = Dim::symbol(5);
};

TEST_F(SizeExpressionsTest, SymbolsHaveTheirNumbers) {
  EXPECT_EQ(expressions_.number_of(x_), 0);
  EXPECT_EQ(expressions_.number_of(y_), 1);
  EXPECT_TRUE(table_.expressions.empty());
}

TEST_F(SizeExpressionsTest, ConstantsAreThereOnce) {
  const uint16_t seven = expressions_.number_of(7);
  EXPECT_EQ(expressions_.number_of(7), seven);
  EXPECT_NE(expressions_.number_of(-7), seven);
  EXPECT_EQ(table_.expressions.size(), 2U);
  EXPECT_EQ(expect_equal(0), 19 * 19);
  EXPECT_EQ(expect_equal(INT32_MIN), 19 * 19);
}

TEST_F(SizeExpressionsTest, PolynomialsAndQuotients) {
  EXPECT_EQ(expect_equal(x_ + 1), 19 * 19);
  EXPECT_EQ(expect_equal(x_ - y_ * 3 + 2), 19 * 19);
  EXPECT_EQ(expect_equal(x_ * y_ * x_ - y_ * 5), 19 * 19);
  const int halves = expect_equal((x_ * 3 + 1).quotient(2));
  EXPECT_GT(halves, 0);
  EXPECT_LT(halves, 19 * 19) << "a rest has no value";
  EXPECT_LT(expect_equal((x_ * 12).quotient(y_)), 19 * 19);
}

TEST_F(SizeExpressionsTest, EveryFunction) {
  for (const SizeOperation function :
       {SizeOperation::kAdd, SizeOperation::kSub, SizeOperation::kMul, SizeOperation::kMax, SizeOperation::kMin,
        SizeOperation::kMod, SizeOperation::kDivFloor, SizeOperation::kDivCeil, SizeOperation::kExp2,
        SizeOperation::kLog2Floor, SizeOperation::kLog2Ceil, SizeOperation::kQuotient}) {
    SCOPED_TRACE(static_cast<int>(function));
    EXPECT_GT(expect_equal(Dim::call(function, x_, y_)), 0);
    EXPECT_GT(expect_equal(Dim::call(function, x_ * 2 + 1, Dim(3)) + y_), 0);
  }
}

TEST_F(SizeExpressionsTest, FunctionsOfFunctions) {
  const Dim rounded = Dim::call(SizeOperation::kDivCeil, x_ + y_, 4) * 4;
  EXPECT_EQ(expect_equal(Dim::call(SizeOperation::kMax, rounded, Dim::call(SizeOperation::kMod, y_, 7)) - rounded * 2),
            19 * 19);
  EXPECT_LT(expect_equal(Dim::call(SizeOperation::kMod, x_, y_ - 5)), 19 * 19) << "undefined for divisors below 1";
}

TEST_F(SizeExpressionsTest, EqualOnesAreThereOnce) {
  static_cast<void>(expressions_.number_of(x_ * 2 + y_));
  const size_t count = table_.expressions.size();
  static_cast<void>(expressions_.number_of(y_ + x_ * 2));
  EXPECT_EQ(table_.expressions.size(), count);
}

TEST_F(SizeExpressionsTest, WhatATableHasNoFormForIsNamed) {
  std::string text;
  EXPECT_EQ(code_of([&] { static_cast<void>(expressions_.number_of(x_ * (int64_t{1} << 40))); }, &text),
            ErrorCode::kArgumentUnsupported);
  EXPECT_NE(text.find("1099511627776"), std::string::npos) << text;
}

TEST_F(SizeExpressionsTest, ATableHoldsSoMany) {
  std::string text;
  const auto fill = [&] {
    for (int64_t i = 1; i <= contract::kMostSizeValues; ++i) static_cast<void>(expressions_.number_of(i));
  };
  EXPECT_EQ(code_of(fill, &text), ErrorCode::kArgumentUnsupported);
  EXPECT_NE(text.find("more different sizes"), std::string::npos) << text;
  EXPECT_EQ(table_.symbols.size() + table_.expressions.size(), contract::kMostSizeValues);
}

TEST_F(SizeExpressionsTest, RandomOnesAreWorthWhatTheGraphSays) {
  std::mt19937 random(3);
  int defined = 0;
  for (int trial = 0; trial < 400; ++trial) {
    table_.expressions.clear();
    SizeExpressions fresh(symbols_, table_);
    std::vector<Dim> dims = {x_, y_, Dim(2), Dim(static_cast<int64_t>(random() % 9))};
    for (int i = 0; i < 5; ++i) {
      const Dim &a = dims[random() % dims.size()], &b = dims[random() % dims.size()];
      try {
        const auto function = static_cast<SizeOperation>(1 + random() % 12);
        dims.push_back(Dim::call(function, a, graph::is_unary(function) ? Dim(0) : b));
      } catch (const graph::NotExpressible&) {
        continue;
      }
    }
    try {
      defined += expect_equal(dims.back(), fresh);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kArgumentUnsupported) << error.what();
    }
    if (HasFailure()) FAIL() << "trial " << trial;
  }
  std::cout << defined << " values compared\n";
  EXPECT_GT(defined, 10000);
}

}  // namespace
}  // namespace npu::compiler
