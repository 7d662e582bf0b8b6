// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "sim/tool/stop.h"

namespace npu::regression {

void TrialNumbers::add(const TrialNumbers& other) {
  trials += other.trials;
  failed += other.failed;
  compared += other.compared;
  differing += other.differing;
  port_differences += other.port_differences;
  cycles.add(other.cycles);
  device.add(other.device);
  for (const auto& [kind, number] : other.kinds) kinds[kind] += number;
}

void DeviceNumbers::add(const DeviceNumbers& other) {
  const auto both = [](const auto& a, const auto& b) { return a && b ? std::optional(*a + *b) : std::nullopt; };
  invocations += other.invocations;
  compared += other.compared;
  differing += other.differing;
  tiles += other.tiles;
  exact += other.exact;
  same_requests += other.same_requests;
  elements += other.elements;
  model_cycles = both(model_cycles, other.model_cycles);
  rtl_cycles = both(rtl_cycles, other.rtl_cycles);
}

std::string wrong_cycles(const DeviceNumbers& numbers) {
  if (numbers.exact != numbers.tiles) {
    return fmt::format("{} of {} tiles take other cycles on RTL than the model says", numbers.tiles - numbers.exact,
                       numbers.tiles);
  }
  if (numbers.same_requests != numbers.tiles) {
    return fmt::format("{} of {} tiles ask for memory on RTL in other cycles than the schedule says",
                       numbers.tiles - numbers.same_requests, numbers.tiles);
  }
  if (numbers.model_cycles != numbers.rtl_cycles) {
    return fmt::format("the device takes {} cycles with its engines on RTL, {} on the model alone",
                       numbers.rtl_cycles.value(), numbers.model_cycles.value());
  }
  return "";
}

const char* name(Outcome outcome) {
  static constexpr std::array kNames = {"passed", "failed", "broken", "not_run", "missing"};
  return kNames[static_cast<size_t>(outcome)];
}

Result result_of(const std::function<Result()>& work) {
  try {
    return work();
  } catch (const tool::Stopped&) {
    throw;
  } catch (const std::exception& error) {
    Result result;
    result.outcome = Outcome::kBroken;
    result.reason = error.what();
    return result;
  }
}

uint64_t count(const RegressionRun& run, Outcome outcome) {
  return static_cast<uint64_t>(std::count_if(run.results.begin(), run.results.end(),
                                             [&](const Result& result) { return result.outcome == outcome; }));
}

bool all_good(const RegressionRun& run) {
  return count(run, Outcome::kFailed) == 0 && count(run, Outcome::kBroken) == 0;
}

std::vector<BlockNumbers> by_block(const RegressionRun& run) {
  std::vector<BlockNumbers> blocks;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const Case& one = run.cases[i];
    const auto* trials = std::get_if<TrialCase>(&one.work);
    if (trials == nullptr || run.results[i].trials.trials == 0) continue;
    auto found = std::find_if(blocks.begin(), blocks.end(), [&](const BlockNumbers& b) {
      return b.block == trials->block && b.preset == one.preset;
    });
    if (found == blocks.end()) found = blocks.insert(blocks.end(), {trials->block, one.preset, {}, {}, {}});
    (trials->held_back ? found->held_back : found->ideal).add(run.results[i].trials);
    if (std::find(found->seeds.begin(), found->seeds.end(), one.seed) == found->seeds.end()) {
      found->seeds.push_back(one.seed);
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const BlockNumbers& a, const BlockNumbers& b) { return a.block < b.block; });
  return blocks;
}

}  // namespace npu::regression
