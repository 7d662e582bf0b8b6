#include "driver/compiler/schedule/analysis.h"

#include <algorithm>

#include "driver/compiler/schedule/cost.h"

namespace npu::compiler::backend {
namespace {

constexpr size_t kNear = 2;             // steps apart that may run beside each other
constexpr double kLeastOverlap = 400;   // cycles worth cutting a step for
constexpr double kLeastExposed = 0.25;  // memory for loading ahead is never free everywhere

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
    for (size_t t = s + 1; steps[s] && t < std::min(steps.size(), s + 1 + kNear); ++t) {
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
  double compute = 0, constants = 0;
  for (const Step& step : module.steps) {
    const TiledStep* tiled = analysis.steps.emplace_back(make_tiled(step, capabilities)).get();
    if (tiled == nullptr) continue;
    compute += whole_cycles(*tiled);
    std::vector<int64_t> size;
    for (const Axis& axis : tiled->axes()) size.push_back(axis.extent);
    for (size_t i = 0; i < tiled->operands().size(); ++i) {
      const Operand& o = tiled->operands()[i];
      if (o.view != nullptr && module.buffers[o.view->buffer].kind != BufferKind::kConstant) continue;
      constants += transfer_cycles(1, tiled->largest_bytes(i, size), true, capabilities);
    }
  }
  if (options.prefetch) analysis.exposed = std::clamp(constants / std::max(compute, 1.0), kLeastExposed, 1.0);
  measure(module, options, analysis);
  return analysis;
}

}  // namespace npu::compiler::backend
