// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/chains.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "driver/compiler/schedule/chain.h"

namespace npu::compiler::backend {
namespace {

constexpr size_t kLongest = 12;
constexpr double kWorthwhileChain = 0.97;

BufferId result_of(const TiledStep& step) {
  BufferId buffer = 0;
  for (const Operand& o : step.operands()) {
    if (o.result) buffer = o.view->buffer;
  }
  return buffer;
}

std::vector<const TiledStep*> steps_of(const Analysis& analysis, size_t first, size_t count) {
  std::vector<const TiledStep*> steps;
  for (size_t s = first; s < first + count; ++s) steps.push_back(analysis.steps[s].get());
  return steps;
}

std::unique_ptr<TiledStep> chain_of(const Analysis& analysis, size_t first, const std::vector<ChainLink>& links) {
  return make_chain(steps_of(analysis, first, links.size() + 1), links);
}

// How many later ones touch the result of step `i` of these; nullopt where one cannot take it over.
std::optional<int> readers_in_chain(std::span<const TiledStep* const> steps, std::span<const RowAxis> rows, size_t i,
                                    int64_t bytes) {
  int readers = 0;
  for (size_t later = i + 1; later < steps.size(); ++later) {
    if (!touches_result(*steps[later], *steps[i])) continue;
    if (!can_chain({*steps[i], rows[i]}, {*steps[later], rows[later]}, bytes)) return std::nullopt;
    ++readers;
  }
  return readers;
}

class ChainFormer {
 public:
  ChainFormer(const Module& module, const PlanSettings& settings, bool shared, Residency& residency, Analysis& analysis)
      : module_(module), settings_(settings), shared_(shared), residency_(residency), analysis_(analysis) {}

  bool run() {
    count_uses();
    const size_t steps = analysis_.steps.size();
    // The best that can be done for the steps before each, and the chain that ends there.
    std::vector<double> best(steps + 1, std::numeric_limits<double>::infinity());
    std::vector<size_t> length(steps + 1, 1);
    best[0] = 0;
    for (size_t s = 0; s < steps; ++s) {
      const double alone = best[s] + cycles_alone(s);
      if (alone < best[s + 1]) {
        best[s + 1] = alone;
        length[s + 1] = 1;
      }
      double apart = cycles_alone(s);
      for (size_t n = 2; n <= kLongest && s + n <= steps && follows(s, s + n - 1); ++n) {
        apart += cycles_alone(s + n - 1);
        const std::optional<std::vector<ChainLink>> links = links_of(s, n);
        if (!links) continue;
        const Joined joined = weigh(s, *links);
        if (!joined.possible) break;  // longer ones need even more memory
        const double cycles = joined.cycles + held(s + n - 1);
        if (cycles < apart * kWorthwhileChain && best[s] + cycles < best[s + n]) {
          best[s + n] = best[s] + cycles;
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

  // What it costs that the result of step `s` lies in the scratchpad.
  [[nodiscard]] double held(size_t s) const {
    if (!analysis_.steps[s]) return 0;
    const BufferId result = result_of(s);
    return residency_.resident(result) ? settings_.byte_cycles * static_cast<double>(residency_.footprint(result)) : 0;
  }
  [[nodiscard]] double cycles_alone(size_t s) const { return residency_.step_cycles(s).value_or(kNever) + held(s); }

  void count_uses() {
    uses_.assign(module_.buffers.size(), 0);
    for (const auto& step : analysis_.steps) {
      if (!step) continue;
      for (const Operand& o : step->operands()) {
        if (o.view != nullptr) ++uses_[o.view->buffer];
      }
    }
  }

  [[nodiscard]] BufferId result_of(size_t s) const { return backend::result_of(*analysis_.steps[s]); }

  // Whether step `s` can be in a chain that begins with step `first`.
  [[nodiscard]] bool follows(size_t first, size_t s) const {
    return analysis_.steps[first] && analysis_.steps[s] && analysis_.flow.same_block(first, s);
  }

  // The results of a chain's steps but the last; nullopt where these steps are none, or none of them goes to DRAM.
  [[nodiscard]] std::optional<std::vector<ChainLink>> links_of(size_t first, size_t n) const {
    const std::vector<const TiledStep*> steps = steps_of(analysis_, first, n);
    const std::vector<RowAxis> rows = rows_of_chain(steps);
    if (rows.empty()) return std::nullopt;
    std::vector<ChainLink> links;
    bool dram = false;
    for (size_t s = first; s + 1 < first + n; ++s) {
      const BufferId id = result_of(s);
      const Buffer& buffer = module_.buffers[id];
      if (buffer.kind != BufferKind::kIntermediate || buffer.on_chip) return std::nullopt;
      ChainLink link{static_cast<int64_t>(buffer.bytes)};
      const int readers = readers_in_chain(steps, rows, s - first, link.bytes).value_or(0);
      if (readers == 0) return std::nullopt;
      link.stored = uses_[id] > 1 + readers;  // itself
      const bool may_share =
          shared_ && analysis_.flow.straight() && analysis_.lifetimes[id].first == static_cast<int64_t>(s);
      if (link.stored && !may_share) return std::nullopt;
      dram |= !residency_.resident(id);
      links.push_back(link);
    }
    const bool saves = dram || settings_.byte_cycles > kByteCycles;
    if (!saves || !interleaves(first, n)) return std::nullopt;
    return links;
  }

  // The chain's parts run interleaved: what the last one writes, no other one may touch.
  [[nodiscard]] bool interleaves(size_t first, size_t n) const {
    const TiledStep& last = *analysis_.steps[first + n - 1];
    for (size_t s = first; s + 1 < first + n; ++s) {
      if (touches_result(*analysis_.steps[s], last)) return false;
    }
    return true;
  }

  struct Joined {
    bool possible = false;  // in the whole scratchpad at least
    double cycles = kNever;
  };
  [[nodiscard]] Joined weigh(size_t first, const std::vector<ChainLink>& links) const {
    const auto begin = static_cast<int64_t>(first), end = static_cast<int64_t>(first + links.size());
    int64_t available = settings_.capabilities.spm_bytes;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const Lifetime& life = analysis_.lifetimes[b];
      if (residency_.resident(b) && life.first <= end && life.last >= begin) available -= residency_.footprint(b);
    }
    for (size_t i = 0; i < links.size(); ++i) {
      const BufferId b = result_of(first + i);
      if (!links[i].stored && residency_.resident(b)) available += residency_.footprint(b);
    }
    const std::unique_ptr<TiledStep> step = chain_of(analysis_, first, links);
    std::vector<Home> homes;
    for (const Operand& o : step->operands()) {
      homes.push_back(o.view == nullptr ? Home::kConstant : residency_.homes()[o.view->buffer]);
    }
    const TilePlan plan = plan_step(*step, homes, available, {0, analysis_.exposed[first]}, settings_);
    return {plan.least_bytes <= settings_.capabilities.spm_bytes, plan.fits ? plan.cycles : kNever};
  }

  void join(size_t first, size_t n) {
    JoinedSteps steps{first, {}};
    const std::vector<ChainLink> links = links_of(first, n).value();
    for (const ChainLink& link : links) steps.stored.push_back(link.stored);
    NPU_CHECK(join_steps(module_, {steps}, analysis_));
  }

  const Module& module_;
  const PlanSettings& settings_;
  const bool shared_;
  Residency& residency_;
  Analysis& analysis_;
  std::vector<int> uses_;  // one a buffer
};

}  // namespace

bool join_steps(const Module& module, const std::vector<JoinedSteps>& joined, Analysis& analysis) {
  for (const JoinedSteps& steps : joined) {
    const std::vector<const TiledStep*> all = steps_of(analysis, steps.first, steps.stored.size() + 1);
    const std::vector<RowAxis> rows = rows_of_chain(all);
    if (rows.empty()) return false;
    std::vector<ChainLink> links;
    for (size_t i = 0; i < steps.stored.size(); ++i) {
      const auto bytes = static_cast<int64_t>(module.buffers[result_of(*all[i])].bytes);
      if (!readers_in_chain(all, rows, i, bytes)) return false;
      links.push_back({bytes, steps.stored[i]});
    }
    std::unique_ptr<TiledStep> chain = chain_of(analysis, steps.first, links);
    for (size_t s = steps.first; s <= steps.first + links.size(); ++s) {
      analysis.chained.push_back(std::move(analysis.steps[s]));
    }
    analysis.steps[steps.first] = std::move(chain);
    analysis.joined.push_back(steps);
  }
  return true;
}

bool form_chains(const Module& module, const PlanSettings& settings, bool shared, Residency& residency,
                 Analysis& analysis) {
  if (!ChainFormer(module, settings, shared, residency, analysis).run()) return false;
  measure(module, settings.options, analysis);
  return true;
}

}  // namespace npu::compiler::backend
