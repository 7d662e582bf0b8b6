// SPDX-License-Identifier: Apache-2.0
#include "sim/conformance/suite.h"

#include <gmock/gmock.h>

#include "hw/contract/error.h"
#include "tests/unit/conformance/tree.h"

namespace npu::conformance {
namespace {

using contract::ErrorCode;
using testing::ElementsAre;

struct SuiteTest : Tree {
  [[nodiscard]] static std::vector<std::string> names(const Selection& selection) {
    std::vector<std::string> names;
    for (const Result& result : select_tests(selection)) names.push_back(result.name);
    return names;
  }
  [[nodiscard]] static ErrorCode refusal(const Selection& selection) {
    try {
      static_cast<void>(select_tests(selection));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kOk;
  }
};

TEST_F(SuiteTest, FindsTestsInOrderWithoutUnfinishedOnes) {
  static_cast<void>(add("b/two", descriptor_of("ADD")));
  static_cast<void>(add("a/one", descriptor_of("CONV2D")));
  static_cast<void>(add("a.partial/three", descriptor_of("ADD")));
  EXPECT_THAT(names({root, "", ""}), ElementsAre("a/one", "b/two"));
  EXPECT_THAT(names({root, "^b", ""}), ElementsAre("b/two"));
  EXPECT_THAT(names({root, "", "conv2d"}), ElementsAre("a/one"));
}

TEST_F(SuiteTest, AWrongDescriptorIsBrokenAndOfAnyOperator) {
  static_cast<void>(add("good", descriptor_of("ADD")));
  static_cast<void>(add("wrong", "{"));
  const std::vector<Result> results = select_tests({root, "", "CONV2D"});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].name, "wrong");
  EXPECT_EQ(results[0].verdict.outcome, Outcome::kBroken);
  EXPECT_EQ(results[0].verdict.reason, "desc.json: is not JSON");
}

TEST_F(SuiteTest, NothingToRunIsAMistake) {
  EXPECT_EQ(refusal({root, "", ""}), ErrorCode::kBadOption);
  EXPECT_EQ(refusal({root / "none", "", ""}), ErrorCode::kCannotRead);
  static_cast<void>(add("t", descriptor_of("ADD")));
  EXPECT_EQ(refusal({root, "other", ""}), ErrorCode::kBadOption);
  EXPECT_EQ(refusal({root, "(", ""}), ErrorCode::kBadOption);
}

TEST_F(SuiteTest, ATestWhoseNetworkIsNotThereIsBroken) {
  static_cast<void>(add("t", descriptor_of("ADD")));
  std::vector<Result> results = select_tests({root, "", ""});
  judge_all(results, reference_runner(), 2, true);
  EXPECT_EQ(results[0].verdict.outcome, Outcome::kBroken);
  EXPECT_FALSE(all_passed(results));
}

}  // namespace
}  // namespace npu::conformance
