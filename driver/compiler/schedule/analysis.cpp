// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/analysis.h"

#include <algorithm>

namespace npu::compiler::backend {
namespace {

constexpr size_t kNearSteps = 2;       // steps apart that may run beside each other
constexpr double kLeastOverlap = 400;  // cycles worth cutting a step for

std::vector<Lifetime> lifetimes(const Module& module, const std::vector<std::unique_ptr<TiledStep>>& steps) {
  std::vector<Lifetime> out(module.buffers.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    if (!steps[s]) continue;
    for (const Operand& o : steps[s]->operands()) {
      if (o.view == nullptr) continue;
      Lifetime& life = out[o.view->buffer];
      life.first = std::min(life.first, static_cast<int64_t>(s));
      life.last = static_cast<int64_t>(s);
      if (o.result) life.last_write = static_cast<int64_t>(s);
      life.traffic += packed_bytes(*o.view, whole(*o.view), true);
    }
  }
  return out;
}

bool feeds(const TiledStep& from, const TiledStep& to) {
  for (const Operand& result : from.operands()) {
    for (const Operand& source : to.operands()) {
      if (result.result && !source.result && source.view != nullptr && source.view->buffer == result.view->buffer) {
        return true;
      }
    }
  }
  return false;
}

std::vector<double> overlaps(const std::vector<std::unique_ptr<TiledStep>>& steps, const std::vector<double>& cycles) {
  std::vector<double> out(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    for (size_t t = s + 1; steps[s] && t < std::min(steps.size(), s + 1 + kNearSteps); ++t) {
      if (!steps[t] || steps[s]->engine() == steps[t]->engine() || !feeds(*steps[s], *steps[t])) continue;
      const double both = std::min(cycles[s], cycles[t]);
      if (both < kLeastOverlap) continue;
      out[s] = std::max(out[s], both);
      out[t] = std::max(out[t], both);
    }
  }
  return out;
}

double whole_cycles(const TiledStep& step) {
  std::vector<int64_t> size;
  for (const Axis& axis : step.axes()) size.push_back(axis.extent);
  return step.cycles(size);
}

}  // namespace

void measure(const Module& module, const ScheduleOptions& options, Analysis& analysis) {
  analysis.lifetimes = lifetimes(module, analysis.steps);
  analysis.overlap.assign(analysis.steps.size(), 0);
  if (!options.double_buffer) return;
  std::vector<double> cycles;
  for (const auto& step : analysis.steps) cycles.push_back(step ? whole_cycles(*step) : 0);
  analysis.overlap = overlaps(analysis.steps, cycles);
}

Analysis analyse(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  Analysis analysis;
  for (const Step& step : module.steps) analysis.steps.push_back(make_tiled(step, capabilities));
  measure(module, options, analysis);
  return analysis;
}

}  // namespace npu::compiler::backend
