// SPDX-License-Identifier: Apache-2.0
// The results of conformance tests for people and for machines.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/conformance_judge.h"

namespace npu::cli {

struct ConformanceResult {
  std::string name;  // of the test: its folder, from the root of the tree
  ConformanceTest test;
  Verdict verdict;
  double seconds = 0;  // of host time that running and judging it took
};

inline constexpr int kConformanceSchemaVersion = 1;

[[nodiscard]] bool all_passed(const std::vector<ConformanceResult>& results);

// What did not pass, the first ones in full; counts per operator and per profile and extension; the totals.
[[nodiscard]] std::string conformance_table(const std::vector<ConformanceResult>& results);
// The same and every result as a JSON document; docs/reference/conformance.md defines the fields.
[[nodiscard]] std::string conformance_json(const std::vector<ConformanceResult>& results);
// JUnit XML: a suite per operator, its cases by name, with their times; a test that did not pass has a failure, or an
// error where it could not be judged.
[[nodiscard]] std::string conformance_junit(const std::vector<ConformanceResult>& results);

}  // namespace npu::cli
