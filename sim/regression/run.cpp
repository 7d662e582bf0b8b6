// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "driver/graph/text.h"
#include "sim/regression/device.h"
#include "sim/regression/trials.h"
#include "sim/tool/parallel.h"
#include "sim/tool/progress.h"
#include "sim/tool/temporary_folder.h"

namespace npu::regression {
namespace {

namespace fs = std::filesystem;
using graph::in_quotes;
using Clock = std::chrono::steady_clock;

// The folder for a case's bundle, which does not exist yet: the case's name with '-' for '/'.
fs::path bundle_for(const Case& one, const fs::path& folder) {
  std::string name = one.name;
  std::replace(name.begin(), name.end(), '/', '-');
  fs::path free = folder / name;
  for (int i = 2; fs::exists(free); ++i) free = folder / fmt::format("{}-{}", name, i);
  return free;
}

// `folder` is where bundles go.
Result run_case(const Case& one, TrialBlocks& blocks, const fs::path& folder) {
  const auto* network = std::get_if<NetworkCase>(&one.work);
  if (network != nullptr && network->file.empty()) {
    Result result;
    result.outcome = Outcome::kMissing;
    result.reason = fmt::format("the optional network {} is in no folder of networks", in_quotes(network->network));
    return result;
  }
  const fs::path bundle = bundle_for(one, folder);
  if (std::holds_alternative<TrialCase>(one.work)) return run_trials(one, blocks, bundle);
  return run_on_device(one, bundle);
}

}  // namespace

void run_cases(RegressionRun& run, const RunOptions& options) {
  const Clock::time_point start = Clock::now();
  const tool::TemporaryFolder scratch;
  const bool keep = !options.bundles.empty();
  const fs::path folder = keep ? fs::absolute(options.bundles) : scratch.path();
  std::vector<TrialBlocks> blocks(options.jobs);
  tool::Progress progress(static_cast<int64_t>(run.cases.size()), "case", options.quiet);
  run.results.resize(run.cases.size());
  tool::run_parallel(run.cases.size(), options.jobs, progress, [&](size_t i, size_t worker) {
    Result& result = run.results[i];
    if (options.budget && Clock::now() - start >= *options.budget) {
      result.reason = "no time was left";
      return;
    }
    result = result_of([&] { return run_case(run.cases[i], blocks[worker], folder); });
    if (!keep) result.bundle.clear();
  });
}

}  // namespace npu::regression
