// SPDX-License-Identifier: Apache-2.0
// The results of a regression for people and for machines. docs/reference/cosim.md defines the JSON's fields.
#pragma once

#include <string>

#include "sim/regression/result.h"

namespace npu::regression {

inline constexpr int kSchemaVersion = 2;

// What did not pass, the first ones in full; a row a network and operator, a row a block, preset and kind of memory;
// the totals.
[[nodiscard]] std::string to_table(const RegressionRun& run);
[[nodiscard]] std::string to_json_text(const RegressionRun& run);
// Suites are networks, operators and the blocks; what was not run is skipped.
[[nodiscard]] std::string to_junit_text(const RegressionRun& run);
// The document on what the model's cycles are worth, to be written to `file`.
[[nodiscard]] std::string to_markdown(const RegressionRun& run, const std::string& file);

}  // namespace npu::regression
