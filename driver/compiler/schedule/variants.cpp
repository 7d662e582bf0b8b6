// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/variants.h"

#include <array>
#include <numeric>

#include "driver/compiler/play/player.h"
#include "driver/compiler/schedule/dram.h"
#include "driver/compiler/schedule/encode.h"
#include "driver/compiler/schedule/estimate.h"
#include "driver/compiler/schedule/exposure.h"
#include "driver/compiler/schedule/order.h"
#include "driver/compiler/schedule/tokens.h"

namespace npu::compiler::backend {
namespace {

// Whether loading of constants can hide behind earlier work depends on all layers at once, so several answers are
// tried for all steps alike; so does whether commands or the ends of short runs are what keeps DRAM busy.
struct FirstTuning {
  double exposed;
  int64_t group_cycles;
  bool fetches;
};
constexpr std::array<FirstTuning, 8> kFirstTunings = {{{0.3, 512, true},
                                                       {1.0, 2048, true},
                                                       {0.05, 512, true},
                                                       {0.1, 2048, true},
                                                       {0.3, 512, false},
                                                       {0.05, 512, false},
                                                       {0.1, 2048, false},
                                                       {1.0, 2048, false}}};
// More memory for constants that come early leaves less for those that come later.
constexpr Earliness kMostEarly = {64, 32};
constexpr std::array<Earliness, 3> kMoreEarly = {{{16, 32}, {64, 8}, kMostEarly}};
// Where later steps wait for constants, memory that earlier ones leave to those is worth more than it takes to cut into
// more tiles.
constexpr std::array<double, 3> kDearBytes = {1.0 / 512, 1.0 / 128, 1.0 / 32};
// Where a channel reads ahead, constants that are not joined come almost as early as those that are.
constexpr std::array<int64_t, 2> kFewerJoined = {0, 128};
// Below this gain the estimate cannot tell: it leaves out collisions in banks, which other addresses change.
constexpr double kWorthwhileVariant = 0.995;
// Cycles for each in which the port to DRAM is busy: what the quick estimate leaves out of collisions in DRAM.
constexpr double kCollisions = 0.05;
// Then the schedule says for each step what is hidden, and the steps are planned again with that, so many times.
constexpr int kRefinements = 6, kMostRefinements = 12;
constexpr double kObservedPart = 0.7;    // the rest is what was expected before
constexpr size_t kManyCommands = 20000;  // then so many answers must do
constexpr size_t kFewAnswers = 2;

template <class Entry>
void permute(std::vector<Entry>& entries, const std::vector<size_t>& order) {
  std::vector<Entry> out;
  out.reserve(order.size());
  for (size_t i : order) out.push_back(std::move(entries[i]));
  entries = std::move(out);
}

// Tries one tuning after the other, and keeps the best.
class Search {
 public:
  Search(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options)
      : module_(module), capabilities_(capabilities), options_(options) {}

  void run() {
    for (size_t i = 0; i < kFirstTunings.size(); ++i) {
      consider(begin(kFirstTunings.at(i)));
      const bool many = i + 1 >= kFewAnswers && best_.stream.commands.size() > kManyCommands;
      if (options_.effort == Effort::kLeast || !options_.prefetch || many) return;
    }
    Tuning tuning = tuning_;
    tuning.shared_rows = false;
    consider(tuning);
    tuning = tuning_;
    tuning.first_alone = true;
    if (!options_.resident_constants) consider(tuning);
    for (const double cycles : kDearBytes) {
      tuning = tuning_;
      tuning.byte_cycles = cycles;
      tuning.early = kMostEarly;
      consider(tuning, kWorthwhileVariant);
    }
    for (const int64_t cycles : kFewerJoined) {
      tuning = tuning_;
      tuning.group_cycles = cycles;
      consider(tuning, kWorthwhileVariant);
    }
    tuning = tuning_;
    for (const Earliness& early : kMoreEarly) {
      tuning.early = early;
      consider(tuning);
    }
    tuning = tuning_;
    std::vector<double> seen = seen_;
    const int refinements = options_.effort == Effort::kMost ? kMostRefinements : kRefinements;
    for (int i = 0; i < refinements; ++i) {
      for (size_t s = 0; s < seen.size(); ++s) tuning.exposed[s] += kObservedPart * (seen[s] - tuning.exposed[s]);
      seen = consider(tuning);
    }
    tuning = tuning_;
    for (const FirstTuning& first : kFirstTunings) {
      if (first.fetches != tuning.fetches) continue;
      Tuning next = begin(first);
      next.early = tuning.early;
      next.shared_rows = tuning.shared_rows;
      next.first_alone = tuning.first_alone;
      next.byte_cycles = tuning.byte_cycles;
      next.apart = true;
      consider(next, kWorthwhileVariant);
    }
  }

  // The best one with its constants.
  Schedule take() {
    Layout layout = std::move(best_.layout);
    best_ = {};  // frees the stream
    return make_schedule(module_, capabilities_, options_, std::move(layout), true);
  }

 private:
  [[nodiscard]] Tuning begin(const FirstTuning& first) const {
    return {std::vector<double>(module_.steps.size(), first.exposed), first.group_cycles, first.fetches};
  }

  // Keeps the schedule if it costs less than this part of the best one. Returns what of the loading of each step's
  // constants it leaves exposed.
  std::vector<double> consider(const Tuning& tuning, double worthwhile = 1) {
    Layout layout = make_layout(module_, capabilities_, options_, tuning);
    check_layout(layout, capabilities_);
    // Only with their constants do commands say where in DRAM these are.
    const bool contents = options_.effort == Effort::kMost;
    Schedule next = make_schedule(module_, capabilities_, options_, std::move(layout), contents);
    std::vector<double> seen = observe_exposure(next.stream.commands, next.timeline, tuning.exposed);
    if (best_.stream.commands.empty() || next.cost < best_.cost * worthwhile) {
      best_ = std::move(next);
      tuning_ = tuning;
      seen_ = seen;
    }
    return seen;
  }

  const Module& module_;
  const contract::Capabilities& capabilities_;
  const ScheduleOptions& options_;
  Schedule best_;
  Tuning tuning_;             // of the best
  std::vector<double> seen_;  // what consider() returned for it
};

}  // namespace

Schedule make_schedule(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
                       Layout layout, bool contents, std::span<const QueueCounts> more,
                       std::vector<size_t>* positions) {
  Schedule schedule;
  schedule.layout = std::move(layout);
  schedule.stream = emit(module, schedule.layout, capabilities, {contents, options.resident_constants});
  std::vector<Command>& commands = schedule.stream.commands;
  std::vector<std::vector<ByteSet>>& footprints = schedule.footprints;
  footprints.reserve(commands.size());
  for (const Command& command : commands) footprints.push_back(footprint(command.body));
  std::vector<QueueCounts> needs = find_needs(commands, footprints);
  for (size_t i = 0; i < more.size(); ++i) join(needs[i], more[i]);
  std::vector<size_t> order(commands.size());
  std::iota(order.begin(), order.end(), 0);
  if (options.prefetch) {
    order = hoist_loads(commands, needs, module.variables, capabilities);
    permute(commands, order);
    permute(footprints, order);
    permute(needs, order);
  }
  if (positions != nullptr) *positions = std::move(order);
  set_tokens(commands, needs);
  schedule.timeline = estimate_timeline(commands, module.variables, capabilities);
  if (options.effort == Effort::kMost) {
    const timing::Dram dram = options.dram.value_or(play::any_dram(capabilities));
    play::Player player(commands, words_of(commands), module.variables, capabilities, dram);
    schedule.cost = player.play().cycles();
  } else {
    schedule.cost = schedule.timeline.cycles() + kCollisions * schedule.timeline.moving;
  }
  return schedule;
}

Schedule best_schedule(const Module& module, const contract::Capabilities& capabilities,
                       const ScheduleOptions& options) {
  Search search(module, capabilities, options);
  search.run();
  return search.take();
}

}  // namespace npu::compiler::backend
