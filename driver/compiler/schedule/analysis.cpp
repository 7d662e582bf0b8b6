// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/analysis.h"

#include <algorithm>
#include <utility>

#include "driver/compiler/schedule/step_views.h"

namespace npu::compiler::backend {
namespace {

constexpr size_t kNearSteps = 2;       // steps apart that may run beside each other
constexpr double kLeastOverlap = 400;  // cycles worth cutting a step for

// Collects the lifetimes of buffers, step by step.
class Lifetimes {
 public:
  explicit Lifetimes(const Module& module) : module_(module), out_(module.buffers.size()), reads_first_(out_.size()) {}

  std::vector<Lifetime> run(const Analysis& analysis) {
    for (size_t s = 0; s < analysis.steps.size(); ++s) {
      if (analysis.steps[s]) {
        for (const Operand& o : analysis.steps[s]->operands()) {
          if (o.view != nullptr) touch(s, *o.view, o.result, o.moved);
        }
      } else if (analysis.flow.is_control(s)) {
        for (const auto& [view, result] : views_of(module_.steps[s])) touch(s, *view, result, -1);
      }
    }
    if (!analysis.flow.straight()) {
      if (!analysis.flow.loops().empty()) note_ends();
      for (const StepRange& loop : analysis.flow.loops()) extend_over(loop);
      extend_ports(analysis.flow);
    }
    return std::move(out_);
  }

 private:
  // `moved`: bytes, where they are not all of the view; else -1.
  void touch(size_t s, const View& view, bool result, int64_t moved) {
    Lifetime& life = out_[view.buffer];
    const auto now = static_cast<int64_t>(s);
    // A step that does both may read what an iteration before it wrote.
    if (life.first > now || (life.first == now && !result)) reads_first_[view.buffer] = !result;
    life.first = std::min(life.first, now);
    life.last = now;
    if (result) life.last_write = now;
    life.traffic += moved >= 0 ? moved : packed_bytes(view, whole(view), true);
  }

  void note_ends() {
    for (BufferId b = 0; b < out_.size(); ++b) {
      if (out_[b].last < 0) continue;
      ends_.emplace_back(out_[b].first, b);
      ends_.emplace_back(out_[b].last, b);
    }
    std::sort(ends_.begin(), ends_.end());
  }

  // Inner loops come first: what lives in all of one is written before it, or the loop around it reads it first. So a
  // life that begins or ends in the loop did so before it was extended; only these change.
  void extend_over(const StepRange& loop) {
    const auto first = static_cast<int64_t>(loop.first), last = static_cast<int64_t>(loop.last);
    auto end = std::lower_bound(ends_.begin(), ends_.end(), std::make_pair(first, BufferId{0}));
    for (; end != ends_.end() && end->first <= last; ++end) {
      Lifetime& life = out_[end->second];
      if (life.first >= first && life.last <= last && !reads_first_[end->second]) continue;
      life.first = std::min(life.first, first);
      life.last = std::max(life.last, last);
    }
  }

  void extend_ports(const Flow& flow) {
    for (BufferId b = 0; b < out_.size(); ++b) {
      Lifetime& life = out_[b];
      if (!is_port(module_.buffers[b].kind) || life.last < 0) continue;
      if (const StepRange* construct = flow.construct_of(static_cast<size_t>(life.first))) {
        life.first = static_cast<int64_t>(construct->first);
      }
      if (const StepRange* construct = flow.construct_of(static_cast<size_t>(life.last))) {
        life.last = static_cast<int64_t>(construct->last);
      }
      if (life.last_write < 0) continue;
      if (const StepRange* construct = flow.construct_of(static_cast<size_t>(life.last_write))) {
        life.last_write = static_cast<int64_t>(construct->last);
      }
    }
  }

  static bool is_port(BufferKind kind) {
    switch (kind) {
      case BufferKind::kInput:
      case BufferKind::kOutput:
        return true;
      case BufferKind::kConstant:
      case BufferKind::kVariable:
      case BufferKind::kIntermediate:
        return false;
    }
    return false;
  }

  const Module& module_;
  std::vector<Lifetime> out_;
  std::vector<bool> reads_first_;                   // by buffer: its first step reads it
  std::vector<std::pair<int64_t, BufferId>> ends_;  // first and last steps of lives, as steps touch them; ascending
};

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

std::vector<double> overlaps(const Analysis& analysis, const std::vector<double>& cycles) {
  const std::vector<std::unique_ptr<TiledStep>>& steps = analysis.steps;
  std::vector<double> out(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    for (size_t t = s + 1; steps[s] && t < std::min(steps.size(), s + 1 + kNearSteps); ++t) {
      if (!analysis.flow.same_block(s, t)) break;
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
  analysis.lifetimes = Lifetimes(module).run(analysis);
  analysis.overlap.assign(analysis.steps.size(), 0);
  if (!options.double_buffer) return;
  std::vector<double> cycles;
  for (const auto& step : analysis.steps) cycles.push_back(step ? whole_cycles(*step) : 0);
  analysis.overlap = overlaps(analysis, cycles);
}

Analysis analyse(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  Analysis analysis;
  analysis.flow = Flow(module.steps);
  for (const Step& step : module.steps) analysis.steps.push_back(make_tiled(step, capabilities));
  measure(module, options, analysis);
  return analysis;
}

}  // namespace npu::compiler::backend
