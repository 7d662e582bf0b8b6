// SPDX-License-Identifier: Apache-2.0
// The results of conformance tests for people and for machines.
#pragma once

#include <string>
#include <vector>

#include "sim/conformance/judge.h"

namespace npu::conformance {

struct Result {
  std::string name;  // of the test: its folder, from the root of the tree
  ConformanceTest test;
  Verdict verdict;
  double seconds = 0;  // of host time that running and judging it took
};

inline constexpr int kSchemaVersion = 1;

[[nodiscard]] bool all_passed(const std::vector<Result>& results);

// What did not pass, the first ones in full; counts per operator and per profile and extension; the totals.
[[nodiscard]] std::string to_table(const std::vector<Result>& results);
// The same and every result as a JSON document; docs/reference/conformance.md defines the fields. `machine`: the
// device's name; empty: the software reference ran them.
[[nodiscard]] std::string to_json_text(const std::vector<Result>& results, const std::string& machine);
// JUnit XML: a suite per operator, its cases by name, with their times; a test that did not pass has a failure, or an
// error where it could not be judged.
[[nodiscard]] std::string to_junit_text(const std::vector<Result>& results);

}  // namespace npu::conformance
