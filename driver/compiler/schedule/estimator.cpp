// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/estimator.h"

#include <algorithm>

#include "driver/compiler/schedule/cost.h"
#include "driver/compiler/schedule/table_use.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"
#include "hw/timing/dma_cycles.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/sequencer_cycles.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler::backend {
namespace {

constexpr double kPortShare = 0.8;  // of the port's rate that DRAM keeps up with
// A command has so many words, more or less: what the sequencer takes for it, and how many the device's prefetch holds.
constexpr uint64_t kTypicalWords = 29;
constexpr size_t kFetchAhead = timing::kPrefetchBytes / (4 * kTypicalWords);
constexpr auto kIssue = static_cast<double>(timing::decode_cycles(kTypicalWords));

double table_time(const timing::TableOperation& operation) {
  return static_cast<double>(timing::table_cycles(operation));
}

}  // namespace

double BusyTimes::take(double start, double cycles) {
  size_t at = 0;
  while (at < intervals_.size() && intervals_[at].end < start) ++at;
  Interval taken{start, start};
  const size_t first = at;
  double now = start;
  for (;; ++at) {
    if (at == intervals_.size() || intervals_[at].begin >= now + cycles) break;
    if (intervals_[at].begin > now) cycles -= intervals_[at].begin - now;
    taken.begin = std::min(taken.begin, intervals_[at].begin);
    now = std::max(now, intervals_[at].end);
  }
  taken.end = now + cycles;
  const auto begin = intervals_.begin();
  intervals_.erase(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(at));
  intervals_.insert(intervals_.begin() + static_cast<std::ptrdiff_t>(first), taken);
  return taken.end;
}

void BusyTimes::forget(double before) {
  size_t count = 0;
  while (count < intervals_.size() && intervals_[count].end < before) ++count;
  intervals_.erase(intervals_.begin(), intervals_.begin() + static_cast<std::ptrdiff_t>(count));
}

Estimator::Estimator(size_t commands, std::span<const Variable> variables, const contract::Capabilities& capabilities)
    : variables_(variables),
      capabilities_(capabilities),
      table_(timing::TableAccesses::of(capabilities)),
      fetch_(fetch_cycles(1, capabilities)),
      unfetched_(commands - std::min(commands, kFetchAhead)),
      clock_(table_time(table_.begin_job())) {
  port_.take(0, fetch_ * static_cast<double>(std::min(commands, kFetchAhead)));
}

Estimator::Times Estimator::issue(const Command& command, const QueueCounts* needs) {
  const Times times = run(command, needs);
  port_.forget(clock_);
  if (unfetched_ == 0) return times;
  --unfetched_;
  port_.take(clock_, fetch_);
  return times;
}

bool Estimator::has_room(contract::Queue queue) const {
  const std::vector<double>& started = queues_[queue].started;
  const size_t depth = capabilities_.fifo_depth;
  return started.size() <= depth || started[started.size() - depth] <= clock_;
}

Estimator::Times Estimator::run(const Command& command, const QueueCounts* needs) {
  const Body& body = command.body;
  const contract::Header& header = header_of(body);
  clock_ += kIssue;
  const Times at_once{clock_, clock_, clock_};
  if (const auto* branch = std::get_if<contract::BranchCommand>(&body)) {
    go(*branch);
    return at_once;
  }
  if (std::holds_alternative<contract::LabelCommand>(body)) {
    drain();
    return at_once;
  }
  if (std::holds_alternative<contract::DeclareCommand>(body)) clock_ += table_time(table_.declare(false));
  if (!contract::engine_of(header.queue)) return at_once;
  QueueState& own = queues_[header.queue];
  const size_t depth = capabilities_.fifo_depth;
  if (own.started.size() > depth) clock_ = std::max(clock_, own.started[own.started.size() - depth]);
  Times times;
  times.started = own.done.empty() ? clock_ : std::max(clock_, own.done.back());
  times.ready = times.started;
  for (const contract::Queue queue : contract::kQueuesOfEngines) {
    const QueueState& other = queues_[queue];
    const size_t k = header.wait[contract::index_of(queue)];
    const size_t count = needs != nullptr ? static_cast<size_t>((*needs)[queue])
                         : k > 0          ? other.done.size() - k + 1
                                          : 0;
    if (count == 0) continue;
    times.started = std::max(times.started, other.done[count - 1]);
    if (!other.constants[count - 1]) times.ready = std::max(times.ready, other.done[count - 1]);
  }
  const TableUse use = table_use(body, table_);
  const auto begins = static_cast<double>(use.begin);
  clock_ += static_cast<double>(use.sequencer);
  times.started = std::max(times.started, clock_) + begins;
  times.ready = std::max(times.ready, clock_) + begins;
  const bool load = loads(body);
  const bool ahead = capabilities_.dma_read_ahead != 0 && load && own.loads && own.done.back() == times.started;
  own.loads = load;
  times.done = finish(body, times.started, ahead ? own.started.back() : times.started) + static_cast<double>(use.end);
  own.started.push_back(times.started);
  own.done.push_back(times.done);
  own.constants.push_back(loads_constants(command));
  end_ = std::max(end_, times.done);
  return times;
}

void Estimator::drain() { end_ = clock_ = std::max(clock_, end_); }

// As if it went to its target: then the stream is fetched anew. What it jumps over counts, too, and once.
void Estimator::go(const contract::BranchCommand& branch) {
  drain();
  switch (branch.mode) {
    case contract::BranchMode::kAlways:
      break;
    case contract::BranchMode::kIfFalse:
      clock_ += static_cast<double>(timing::kConditionCycles);
      break;
    case contract::BranchMode::kRepeat:
      clock_ += static_cast<double>(timing::kCounterCycles);
      break;
  }
  clock_ += transfer_latency(true);
  end_ = clock_;
}

// A plain load from DRAM into the chip: what the device reads ahead, and behind what.
bool Estimator::loads(const Body& body) const {
  const auto* dma = std::get_if<contract::DmaCommand>(&body);
  return dma != nullptr && dma->mode == contract::DmaMode::kCopy && is_dram(dma->src, variables_) &&
         !is_dram(dma->dst, variables_);
}

// `asked`: from when on the first bytes can be on their way.
double Estimator::finish(const Body& body, double start, double asked) {
  const auto add = [&](const timing::Cycles& cycles) { return start + static_cast<double>(cycles.total()); };
  return std::visit(
      Overloaded{
          [&](const contract::DmaCommand& command) { return transfer(command, start, asked); },
          [&](const contract::MxuCommand& command) { return add(timing::mxu_cycles(command, capabilities_)); },
          [&]<contract::VpuCommand Command>(const Command& command) {
            return add(timing::vpu_cycles(command, capabilities_));
          },
          [&](const contract::DeclareCommand&) { return start; },
          [&](const contract::LabelCommand&) { return start; },
          [&](const contract::BranchCommand&) { return start; },
      },
      body);
}

double Estimator::transfer(const contract::DmaCommand& c, double start, double asked) {
  const auto runs = static_cast<int64_t>(timing::dma_pieces(c));
  const int64_t run = static_cast<int64_t>(timing::dma_bytes(c)) / std::max<int64_t>(runs, 1);
  const bool reads = c.mode != contract::DmaMode::kFill && is_dram(c.src, variables_),
             writes = is_dram(c.dst, variables_);
  if (contract::has_indices(c)) {  // all of them come first
    const auto bytes =
        static_cast<int64_t>(contract::element_bytes(contract::Element::kI32) * contract::index_count(c));
    start += transfer_latency(is_dram(c.index, variables_)) +
             transfer_cycles(1, bytes, is_dram(c.index, variables_), capabilities_);
    asked = start;
  }
  if (!reads && !writes) return start + transfer_latency(false) + transfer_cycles(runs, run, false, capabilities_);
  const double busy = transfer_cycles(runs, run, true, capabilities_) / kPortShare * (reads && writes ? 2 : 1);
  moving_ += busy;
  return port_.take(std::max(start + transfer_latency(false), asked + transfer_latency(true)), busy);
}

}  // namespace npu::compiler::backend
