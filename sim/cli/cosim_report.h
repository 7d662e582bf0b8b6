// SPDX-License-Identifier: Apache-2.0
// The results of a regression for people and for machines. docs/reference/cosim.md defines the JSON's fields.
#pragma once

#include <string>

#include "sim/cli/cosim_result.h"

namespace npu::cli {

inline constexpr int kCosimSchemaVersion = 2;

// What did not pass, the first ones in full; a row a network and operator, a row a block, preset and kind of memory;
// the totals.
[[nodiscard]] std::string cosim_table(const CosimRun& run);
[[nodiscard]] std::string cosim_json(const CosimRun& run);
// Suites are networks, operators and the blocks; what was not run is skipped.
[[nodiscard]] std::string cosim_junit(const CosimRun& run);
// The document on what the model's cycles are worth, to be written to `file`.
[[nodiscard]] std::string cosim_markdown(const CosimRun& run, const std::string& file);

}  // namespace npu::cli
