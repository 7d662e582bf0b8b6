// SPDX-License-Identifier: Apache-2.0
// Runs the cases of a regression, several at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>

#include "sim/regression/result.h"

namespace npu::regression {

struct RunOptions {
  size_t jobs = 1;                             // cases at a time
  std::optional<std::chrono::seconds> budget;  // no case begins after this time of the host
  std::filesystem::path bundles;               // where bundles of tiles that differ stay; empty: they go
  bool quiet = false;                          // no progress
};

// Gives each case of `run` its result; what a case throws is its result, too. Throws Error(cannot_write) when there is
// no temporary folder; Stopped.
void run_cases(RegressionRun& run, const RunOptions& options);

}  // namespace npu::regression
