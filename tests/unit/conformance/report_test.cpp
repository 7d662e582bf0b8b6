// SPDX-License-Identifier: Apache-2.0
// The forms of a report; the results are made here.
#include "sim/conformance/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace npu::conformance {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Result result_of(const std::string& name, const std::string& operator_name, Outcome outcome) {
  Result result;
  result.name = name;
  result.test.operator_name = operator_name;
  result.test.requirements = {"tosa-pro-int"};
  result.verdict = {outcome, outcome == Outcome::kPassed ? "" : "why <so>", "int8"};
  return result;
}

TEST(ConformanceReports, CountEachOutcome) {
  const std::vector<Result> results = {result_of("a", "ADD", Outcome::kPassed), result_of("b", "ADD", Outcome::kFailed),
                                       result_of("c", "", Outcome::kUnsupported),
                                       result_of("d", "SUB", Outcome::kBroken)};
  EXPECT_FALSE(all_passed(results));
  const json document = json::parse(to_json_text(results, ""));
  EXPECT_EQ(document["on"], "reference");
  EXPECT_FALSE(document.contains("machine"));
  EXPECT_EQ(json::parse(to_json_text(results, "nano"))["machine"], "nano");
  EXPECT_EQ(document["tests"], 4);
  for (const char* outcome : {"passed", "failed", "unsupported", "broken"}) EXPECT_EQ(document[outcome], 1) << outcome;
  EXPECT_EQ(document["operators"][1]["name"], "ADD");
  EXPECT_EQ(document["operators"][1]["failed"], 1);
  EXPECT_EQ(document["requirements"][0]["tests"], 4);
  EXPECT_EQ(document["results"][2]["operator"], "(unnamed)");
  EXPECT_THAT(to_table(results), HasSubstr("failed: b: why <so>\n"));
  const std::string junit = to_junit_text(results);
  EXPECT_THAT(junit, HasSubstr("tests=\"4\" failures=\"2\" errors=\"1\" skipped=\"0\""));
  EXPECT_THAT(junit, HasSubstr("message=\"why &lt;so&gt;\""));
}

}  // namespace
}  // namespace npu::conformance
