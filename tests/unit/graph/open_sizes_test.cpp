// SPDX-License-Identifier: Apache-2.0
// Equalities whose solutions have no expression: coefficients beyond 64 bits.
#include "driver/graph/open_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace npu::graph {
namespace {

constexpr int64_t kLarge = 1'000'000'000'000'000'000;  // ten times as much is beyond

class OpenSizesTest : public ::testing::Test {
 protected:
  Dim add(const char* name, Symbol::Of of) { return Dim::symbol(sizes_.add(name, of, 1, INT64_MAX)); }
  [[nodiscard]] bool equal(const Dim& left, const Dim& right) {
    return sizes_.require({SizeRelation::kEqual, left, right, {}, ""});
  }

  OpenSizes sizes_;
  const Dim x_ = add("x", Symbol::Of::kInput), z_ = add("z", Symbol::Of::kInput);
  const Dim v_ = add("v", Symbol::Of::kResult), r_ = add("r", Symbol::Of::kResult);
};

TEST_F(OpenSizesTest, SettlesWhereAValueHasNoExpression) {
  ASSERT_TRUE(equal(r_, v_ * kLarge));
  ASSERT_TRUE(equal(v_, x_ * 10 - z_ * 9));
  EXPECT_FALSE(sizes_.settle());
  EXPECT_EQ(sizes_.simplified(r_), v_ * kLarge);
  std::vector<std::string> left;
  for (const Condition& condition : sizes_.conditions()) left.push_back(sizes_.text(condition));
  EXPECT_THAT(left, ::testing::Contains("v must equal 10*x - 9*z"));
}

TEST_F(OpenSizesTest, AValueStays) {
  const Dim y = add("y", Symbol::Of::kResult);
  ASSERT_TRUE(equal(r_, v_ * kLarge));
  ASSERT_TRUE(equal(r_ + v_ * (9 * kLarge), y * 3));  // r alone has a factor of 1, and 10 * kLarge no expression
  EXPECT_FALSE(sizes_.settle());
  EXPECT_EQ(sizes_.simplified(r_), v_ * kLarge);
}

}  // namespace
}  // namespace npu::graph
