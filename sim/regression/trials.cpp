// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/trials.h"

#include <fmt/format.h>

#include <optional>

#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/tool/stop.h"

namespace npu::regression {
namespace {

using cosim::Trial;

// What is wrong with a trial, in words.
std::string complaint(const Trial& trial) {
  if (!trial.difference.empty()) return trial.difference;
  if (!trial.port_difference.empty()) return trial.port_difference;
  return fmt::format("{} cycles on the RTL, {} were said", trial.rtl_cycles, trial.expected_cycles);
}

// The options with which the list runs a trial alone.
std::string how_to_repeat(const Case& one, uint64_t number) {
  const std::string all = one.name.substr(0, one.name.rfind('/') + 1);
  return fmt::format("; it runs alone with --only '{}' --seed {} --trial {}", all, one.seed, number);
}

void count(const Trial& trial, TrialNumbers& numbers) {
  ++numbers.trials;
  ++numbers.kinds[trial.kind];
  numbers.failed += trial.passed() ? 0 : 1;
  numbers.compared += trial.compared;
  numbers.differing += trial.differing;
  numbers.port_differences += trial.port_difference.empty() ? 0 : 1;
  numbers.cycles.add(trial.rtl_cycles, trial.expected_cycles);
  if (trial.device_cycles) numbers.device.add(trial.rtl_cycles, *trial.device_cycles);
}

}  // namespace

cosim::Trials& TrialBlocks::of(cosim::Block block, const std::string& preset) {
  std::unique_ptr<cosim::Trials>& trials = blocks_[{block, preset}];
  if (!trials) trials = cosim::make_trials(block, presets::load_preset(preset).caps);
  return *trials;
}

Result run_trials(const Case& one, TrialBlocks& blocks, const std::filesystem::path& bundle) {
  const auto& work = std::get<TrialCase>(one.work);
  cosim::Trials& trials = blocks.of(work.block, one.preset);
  Result result;
  result.outcome = Outcome::kPassed;
  std::optional<uint64_t> first_failed;
  for (uint64_t number = work.first; number < work.first + work.count; ++number) {
    tool::check_stopped();
    const uint64_t seed = trial_seed(one.seed, number);
    const Trial trial = trials.run(seed, work.held_back);
    count(trial, result.trials);
    if (trial.passed()) continue;
    result.outcome = Outcome::kFailed;
    if (!first_failed) {
      first_failed = number;
      result.reason =
          fmt::format("trial {} of seed {}, {}: {}: {}", number, seed, trial.kind, trial.text, complaint(trial));
    }
    if (!trial.bundle || !result.bundle.empty()) continue;
    write_bundle(*trial.bundle, bundle);
    result.bundle = bundle.string();
  }
  if (result.trials.failed > 0) result.reason += how_to_repeat(one, *first_failed);
  if (result.trials.failed > 1) result.reason += fmt::format("; and {} more", result.trials.failed - 1);
  return result;
}

}  // namespace npu::regression
