// SPDX-License-Identifier: Apache-2.0
// A tree of conformance tests: which of them are asked for, and their verdicts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/conformance/report.h"

namespace npu::conformance {

// Which tests are asked for.
struct Selection {
  std::filesystem::path root;  // of the tree
  std::string filter;          // a regular expression that a name must match somewhere
  std::string operator_name;   // "CONV2D", in letters of any case; empty: any
};

// The tests that are asked for, by their folders' names, with their descriptors and without verdicts. One whose
// descriptor is wrong stays, as broken: it could be any. Throws Error: bad_option for a selection that leaves nothing,
// cannot_read; Stopped.
[[nodiscard]] std::vector<Result> select_tests(const Selection& selection);

// Judges those that are not broken yet, `jobs` at a time. Throws Error(cannot_write) when there is no temporary folder;
// Stopped.
void judge_all(std::vector<Result>& results, const Run& run, size_t jobs, bool quiet);

}  // namespace npu::conformance
