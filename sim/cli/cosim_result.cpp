#include "sim/cli/cosim_result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>

#include "sim/cli/stop.h"

namespace npu::cli {
namespace {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

bool larger(int64_t a, int64_t b) { return std::abs(a) > std::abs(b); }

}  // namespace

void CycleComparison::add(uint64_t rtl_cycles, uint64_t said) {
  const auto difference = static_cast<int64_t>(rtl_cycles - said);
  ++count;
  exact += difference == 0 ? 1 : 0;
  rtl += rtl_cycles;
  absolute += static_cast<uint64_t>(std::abs(difference));
  sum += difference;
  if (larger(difference, worst)) worst = difference;
  const double relative = ratio(static_cast<double>(difference), static_cast<double>(rtl_cycles));
  if (std::abs(relative) > std::abs(worst_relative)) worst_relative = relative;
}

void CycleComparison::add(const CycleComparison& other) {
  count += other.count;
  exact += other.exact;
  rtl += other.rtl;
  absolute += other.absolute;
  sum += other.sum;
  if (larger(other.worst, worst)) worst = other.worst;
  if (std::abs(other.worst_relative) > std::abs(worst_relative)) worst_relative = other.worst_relative;
}

double CycleComparison::share_exact() const { return ratio(static_cast<double>(exact), static_cast<double>(count)); }
double CycleComparison::mean_absolute() const {
  return ratio(static_cast<double>(absolute), static_cast<double>(count));
}
double CycleComparison::mean() const { return ratio(static_cast<double>(sum), static_cast<double>(count)); }
double CycleComparison::relative() const { return ratio(static_cast<double>(sum), static_cast<double>(rtl)); }

void TrialNumbers::add(const TrialNumbers& other) {
  trials += other.trials;
  failed += other.failed;
  compared += other.compared;
  differing += other.differing;
  port_differences += other.port_differences;
  cycles.add(other.cycles);
  handed_over.add(other.handed_over);
  for (const auto& [kind, number] : other.kinds) kinds[kind] += number;
}

void DeviceNumbers::add(const DeviceNumbers& other) {
  const auto both = [](const auto& a, const auto& b) { return a && b ? std::optional(*a + *b) : std::nullopt; };
  invocations += other.invocations;
  compared += other.compared;
  differing += other.differing;
  tiles += other.tiles;
  exact += other.exact;
  elements += other.elements;
  model_cycles = both(model_cycles, other.model_cycles);
  rtl_cycles = both(rtl_cycles, other.rtl_cycles);
}

const char* name(CosimOutcome outcome) {
  static constexpr std::array kNames = {"passed", "failed", "broken", "not_run", "missing"};
  return kNames[static_cast<size_t>(outcome)];
}

CosimResult result_of(const std::function<CosimResult()>& work) {
  try {
    return work();
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception& error) {
    CosimResult result;
    result.outcome = CosimOutcome::kBroken;
    result.reason = error.what();
    return result;
  }
}

uint64_t count(const CosimRun& run, CosimOutcome outcome) {
  return static_cast<uint64_t>(std::count_if(run.results.begin(), run.results.end(),
                                             [&](const CosimResult& result) { return result.outcome == outcome; }));
}

bool all_good(const CosimRun& run) {
  return count(run, CosimOutcome::kFailed) == 0 && count(run, CosimOutcome::kBroken) == 0;
}

std::vector<BlockNumbers> by_block(const CosimRun& run) {
  std::vector<BlockNumbers> blocks;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const CosimCase& one = run.cases[i];
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

}  // namespace npu::cli
