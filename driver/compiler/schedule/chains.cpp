// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/chains.h"

#include <algorithm>
#include <limits>

#include "driver/compiler/schedule/chain.h"

namespace npu::compiler::backend {
namespace {

constexpr size_t kLongest = 6;
constexpr double kWorthwhileChain = 0.97;

class ChainFormer {
 public:
  ChainFormer(const Module& module, const PlanSettings& settings, Residency& residency, Analysis& analysis)
      : module_(module), settings_(settings), residency_(residency), analysis_(analysis) {}

  bool run() {
    count_uses();
    const size_t steps = analysis_.steps.size();
    // The best that can be done for the steps before each, and the chain that ends there.
    std::vector<double> best(steps + 1, std::numeric_limits<double>::infinity());
    std::vector<size_t> length(steps + 1, 1);
    best[0] = 0;
    for (size_t s = 0; s < steps; ++s) {
      const double alone = best[s] + residency_.step_cycles(s).value_or(kNever);
      if (alone < best[s + 1]) {
        best[s + 1] = alone;
        length[s + 1] = 1;
      }
      double apart = residency_.step_cycles(s).value_or(kNever);
      for (size_t n = 2; n <= kLongest && s + n <= steps && linked(s + n - 2); ++n) {
        apart += residency_.step_cycles(s + n - 1).value_or(kNever);
        const double together = chain_cycles(s, n);
        if (together == kNever) break;  // longer ones need even more memory
        if (together < apart * kWorthwhileChain && best[s] + together < best[s + n]) {
          best[s + n] = best[s] + together;
          length[s + n] = n;
        }
      }
    }
    bool any = false;
    for (size_t end = steps; end > 0; end -= length[end]) {
      if (length[end] == 1) continue;
      join(end - length[end], length[end]);
      any = true;
    }
    return any;
  }

 private:
  static constexpr double kNever = 1e18;  // a step that does not fit now

  void count_uses() {
    uses_.assign(module_.buffers.size(), 0);
    for (const auto& step : analysis_.steps) {
      if (!step) continue;
      for (const Operand& o : step->operands()) {
        if (o.view != nullptr) ++uses_[o.view->buffer];
      }
    }
  }

  [[nodiscard]] BufferId result_of(size_t s) const {
    BufferId buffer = 0;
    for (const Operand& o : analysis_.steps[s]->operands()) {
      if (o.result) buffer = o.view->buffer;
    }
    return buffer;
  }

  // Whether step `s` hands its result to step `s + 1` alone, by way of DRAM.
  [[nodiscard]] bool linked(size_t s) const {
    if (!analysis_.steps[s] || !analysis_.steps[s + 1]) return false;
    const BufferId buffer = result_of(s);
    return module_.buffers[buffer].kind == BufferKind::kIntermediate && residency_.homes()[buffer] == Home::kDram &&
           uses_[buffer] == 2 &&
           can_chain(*analysis_.steps[s], *analysis_.steps[s + 1], static_cast<int64_t>(module_.buffers[buffer].bytes));
  }

  [[nodiscard]] std::unique_ptr<TiledStep> chain(size_t first, size_t n) const {
    std::vector<const TiledStep*> parts;
    std::vector<int64_t> bytes;
    for (size_t s = first; s < first + n; ++s) {
      parts.push_back(analysis_.steps[s].get());
      if (s + 1 < first + n) bytes.push_back(static_cast<int64_t>(module_.buffers[result_of(s)].bytes));
    }
    return make_chain(std::move(parts), std::move(bytes));
  }

  // The chain's parts run interleaved: what the last one writes, no other one may touch.
  [[nodiscard]] bool interleaves(size_t first, size_t n) const {
    const BufferId last = result_of(first + n - 1);
    for (size_t s = first; s + 1 < first + n; ++s) {
      for (const Operand& o : analysis_.steps[s]->operands()) {
        if (o.view != nullptr && o.view->buffer == last) return false;
      }
    }
    return true;
  }

  [[nodiscard]] double chain_cycles(size_t first, size_t n) const {
    if (!interleaves(first, n)) return kNever;
    int64_t available = settings_.capabilities.spm_bytes;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const Lifetime& life = analysis_.lifetimes[b];
      if (residency_.resident(b) && life.first < static_cast<int64_t>(first + n) &&
          life.last >= static_cast<int64_t>(first)) {
        available -= residency_.footprint(b);
      }
    }
    const std::unique_ptr<TiledStep> step = chain(first, n);
    std::vector<Home> homes;
    for (const Operand& o : step->operands()) {
      homes.push_back(o.view == nullptr ? Home::kConstant : residency_.homes()[o.view->buffer]);
    }
    const TilePlan plan = plan_step(*step, homes, available, {0, analysis_.exposed[first]}, settings_);
    return plan.fits ? plan.cycles : kNever;
  }

  void join(size_t first, size_t n) {
    std::unique_ptr<TiledStep> joined = chain(first, n);
    for (size_t s = first; s < first + n; ++s) analysis_.chained.push_back(std::move(analysis_.steps[s]));
    analysis_.steps[first] = std::move(joined);
  }

  const Module& module_;
  const PlanSettings& settings_;
  Residency& residency_;
  Analysis& analysis_;
  std::vector<int> uses_;  // one a buffer
};

}  // namespace

bool form_chains(const Module& module, const PlanSettings& settings, Residency& residency, Analysis& analysis) {
  if (!ChainFormer(module, settings, residency, analysis).run()) return false;
  measure(module, settings.options, analysis);
  return true;
}

}  // namespace npu::compiler::backend
