// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/residency.h"

#include <algorithm>
#include <string>

#include "driver/compiler/room.h"
#include "driver/compiler/schedule/cost.h"

namespace npu::compiler::backend {
namespace {

constexpr int64_t kEdgeSteps = 2;    // at the beginning and the end, where nothing hides a transfer
constexpr double kHiddenPart = 0.1;  // of a transfer elsewhere that other work does not hide
constexpr int kPasses = 4;
constexpr double kWorthwhileResidency = 0.995;

// Whether it is for the schedule to say where such a buffer lives.
bool is_movable(const Buffer& buffer) {
  switch (buffer.kind) {
    case BufferKind::kInput:
    case BufferKind::kOutput:
      return true;
    case BufferKind::kIntermediate:
      return !buffer.on_chip;
    case BufferKind::kConstant:
    case BufferKind::kVariable:
      return false;
  }
  return false;
}

}  // namespace

Residency::Residency(const Module& module, const Analysis& analysis, const PlanSettings& settings)
    : module_(module),
      analysis_(analysis),
      settings_(settings),
      size_(settings.capabilities.spm_bytes),
      homes_(module.buffers.size(), Home::kDram),
      live_(module.steps.size(), 0),
      operand_homes_(module.steps.size()),
      uses_(module.buffers.size()),
      least_(module.steps.size()),
      cycles_(module.steps.size()) {
  list_operands();
  for (BufferId b = 0; b < module_.buffers.size(); ++b) {
    switch (module_.buffers[b].kind) {
      case BufferKind::kConstant:
        set_home(b, Home::kConstant);
        break;
      case BufferKind::kVariable:
        if (!module_.variables[module_.buffers[b].index].in_dram) set_home(b, Home::kPersistent);
        break;
      case BufferKind::kInput:
      case BufferKind::kOutput:
      case BufferKind::kIntermediate:
        if (analysis_.lifetimes[b].last >= 0) toggle(b);
        break;
    }
  }
}

bool Residency::resident_at(BufferId buffer, size_t step) const {
  const Lifetime& life = analysis_.lifetimes[buffer];
  return resident(buffer) && life.first <= static_cast<int64_t>(step) && static_cast<int64_t>(step) <= life.last;
}

bool Residency::can_leave(BufferId buffer, size_t step) const {
  return resident_at(buffer, step) && is_movable(module_.buffers[buffer]);
}

int64_t Residency::footprint(BufferId buffer) const {
  return round_up(static_cast<int64_t>(module_.buffers[buffer].bytes), kBufferAlignment);
}

void Residency::list_operands() {
  for (size_t step = 0; step < module_.steps.size(); ++step) {
    if (!analysis_.steps[step]) continue;
    for (const Operand& o : analysis_.steps[step]->operands()) {
      if (o.view != nullptr) uses_[o.view->buffer].push_back({step, operand_homes_[step].size()});
      operand_homes_[step].push_back(o.view == nullptr ? Home::kConstant : homes_[o.view->buffer]);
    }
  }
}

void Residency::set_home(BufferId buffer, Home home) {
  homes_[buffer] = home;
  for (const Use& use : uses_[buffer]) operand_homes_[use.step][use.operand] = home;
}

void Residency::toggle(BufferId buffer) {
  const bool was = resident(buffer);
  set_home(buffer, was ? Home::kDram : Home::kScratchpad);
  const Lifetime& life = analysis_.lifetimes[buffer];
  for (int64_t s = life.first; s <= life.last; ++s) live_[static_cast<size_t>(s)] += (was ? -1 : 1) * footprint(buffer);
}

void Residency::move_to_dram(BufferId buffer) {
  NPU_CHECK(resident(buffer));
  toggle(buffer);
}

// A plan with no memory at all: it says what the smallest tile needs.
const TilePlan& Residency::least(size_t step) {
  const std::vector<Home>& homes = operand_homes(step);
  const auto found = least_[step].find(homes);
  if (found != least_[step].end()) return found->second;
  return least_[step].emplace(homes, plan_step(*analysis_.steps[step], homes, 0, {}, settings_)).first->second;
}

void Residency::choose() {
  for (;;) {
    int64_t excess = 0;
    size_t worst = 0;
    for (size_t s = 0; s < live_.size(); ++s) {
      if (!analysis_.steps[s]) continue;
      const int64_t over = least(s).least_bytes - available(s);
      if (over > excess) {
        excess = over;
        worst = s;
      }
    }
    if (excess == 0) break;
    demote_one(worst);
  }
  improve();
}

// Moves the buffer to DRAM that frees most room for least traffic, of those that live in the step.
void Residency::demote_one(size_t step) {
  const int64_t need = least(step).least_bytes;
  BufferId best = 0;
  double best_score = 0;
  for (BufferId b = 0; b < homes_.size(); ++b) {
    if (!can_leave(b, step)) continue;
    set_home(b, Home::kDram);
    const int64_t freed = footprint(b) - (least(step).least_bytes - need);
    set_home(b, Home::kScratchpad);
    if (freed <= 0) continue;
    const Lifetime& life = analysis_.lifetimes[b];
    const double score = static_cast<double>(footprint(b)) * static_cast<double>(life.last - life.first + 1) /
                         static_cast<double>(life.traffic + 1);
    if (score > best_score) {
      best_score = score;
      best = b;
    }
  }
  if (best_score > 0) return move_to_dram(best);
  // No buffer alone helps, but all of them together may: then the step has the whole scratchpad.
  for (BufferId b = 0; b < homes_.size(); ++b) {
    if (can_leave(b, step)) move_to_dram(b);
  }
  if (least(step).least_bytes > available(step)) fail(step);
}

void Residency::fail(size_t step) {
  const TilePlan& plan = least(step);
  const uint32_t layer = module_.steps[step].layer;
  throw NoRoom(contract::ErrorCode::kScratchpadFull,
               "layer " + (layer < module_.layers.size() ? module_.layers[layer].name : "?") +
                   " does not fit into the scratchpad: its smallest tile needs " + std::to_string(plan.least_bytes) +
                   " bytes (the largest part: " + plan.largest + "), " + std::to_string(available(step)) + " of " +
                   std::to_string(size_) + " are available");
}

std::optional<double> Residency::step_cycles(size_t step) {
  if (!analysis_.steps[step]) return 0;
  if (available(step) < 0) return std::nullopt;
  const std::vector<Home>& homes = operand_homes(step);
  const auto [found, is_new] = cycles_[step][homes].emplace(available(step), std::nullopt);
  if (is_new) {
    const TilePlan plan = plan_step(*analysis_.steps[step], homes, available(step),
                                    {analysis_.overlap[step], analysis_.exposed[step]}, settings_);
    if (plan.fits) found->second = plan.cycles;
  }
  return found->second;
}

// Estimate for what a buffer's home changes: the steps during its life, and the transfer of a resident port.
std::optional<double> Residency::buffer_cycles(BufferId buffer) {
  const Lifetime& life = analysis_.lifetimes[buffer];
  double cycles = 0;
  for (int64_t s = life.first; s <= life.last; ++s) {
    const std::optional<double> step = step_cycles(static_cast<size_t>(s));
    if (!step) return std::nullopt;
    cycles += *step;
  }
  if (!resident(buffer)) return cycles;
  // Other work hides a transfer, unless it is the first or the last there is.
  const auto moved = [&](bool exposed) {
    return (exposed ? 1.0 : kHiddenPart) *
           (transfer_latency(true) + transfer_cycles(1, footprint(buffer), true, settings_.capabilities));
  };
  switch (module_.buffers[buffer].kind) {
    case BufferKind::kInput:
      return cycles + moved(life.first < kEdgeSteps);
    case BufferKind::kOutput:
      return cycles + moved(life.last_write >= static_cast<int64_t>(live_.size()) - kEdgeSteps);
    case BufferKind::kConstant:
    case BufferKind::kVariable:
    case BufferKind::kIntermediate:
      return cycles;
  }
  return cycles;
}

void Residency::improve() {
  std::vector<BufferId> order;
  for (BufferId b = 0; b < homes_.size(); ++b) {
    if (is_movable(module_.buffers[b]) && analysis_.lifetimes[b].last >= 0 && footprint(b) <= size_) order.push_back(b);
  }
  std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) { return footprint(a) > footprint(b); });
  for (int pass = 0; pass < kPasses; ++pass) {
    bool moved = false;
    for (BufferId b : order) {
      const std::optional<double> before = buffer_cycles(b);
      toggle(b);
      const std::optional<double> after = buffer_cycles(b);
      if (after && (!before || *after < *before * kWorthwhileResidency)) {
        moved = true;
      } else {
        toggle(b);
      }
    }
    if (!moved) return;
  }
}

}  // namespace npu::compiler::backend
