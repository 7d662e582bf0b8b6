// SPDX-License-Identifier: Apache-2.0
#include "sim/report/attribution.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "hw/contract/error.h"

namespace npu::report {
namespace {

using contract::Event;
using contract::Queue;

constexpr size_t kQueues = 16;

__extension__ using Wide = unsigned __int128;

Cause cause_of(Transfer transfer) {
  switch (transfer) {
    case Transfer::kConstants:
      return Cause::kWeightLoad;
    case Transfer::kDramRead:
      return Cause::kDramRead;
    case Transfer::kDramWrite:
      return Cause::kDramWrite;
    case Transfer::kState:
      return Cause::kState;
    case Transfer::kNone:
    case Transfer::kOnChip:
      break;
  }
  return Cause::kOnChipCopy;
}

// The events of one queue in order; its cursor moves with the time.
struct QueueLine {
  std::vector<const Event*> events;
  size_t next = 0;  // first event that has not completed

  void advance(uint64_t time) {
    while (next < events.size() && events[next]->completed <= time) ++next;
  }
  [[nodiscard]] const Event* executing(uint64_t time) const {
    return next < events.size() && events[next]->started <= time ? events[next] : nullptr;
  }
  [[nodiscard]] const Event* waiting(uint64_t time) const {
    return next < events.size() && events[next]->started > time && events[next]->issued <= time ? events[next]
                                                                                                : nullptr;
  }
  [[nodiscard]] const Event* to_come(uint64_t time) const {
    for (size_t i = next; i < events.size(); ++i) {
      if (events[i]->issued > time) return events[i];
    }
    return nullptr;
  }
};

class Sweep {
 public:
  Sweep(std::span<const Event> events, uint64_t cycles, size_t layers, std::span<const CommandInfo> commands)
      : commands_(commands), result_(layers) {
    NPU_CHECK(layers > 0);
    times_ = {0, cycles};
    for (const Event& event : events) {
      if (event.queue >= kQueues || static_cast<Queue>(event.queue) == Queue::kSequencer) continue;
      lines_[event.queue].events.push_back(&event);
      for (const uint64_t time : {event.issued, event.started, event.completed}) {
        if (time < cycles) times_.push_back(time);
      }
      if (last_ == nullptr || event.command > last_->command) last_ = &event;
    }
    for (QueueLine& line : lines_) {
      std::sort(line.events.begin(), line.events.end(),
                [](const Event* a, const Event* b) { return a->command < b->command; });
    }
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  }

  std::vector<CauseCycles> run() {
    for (size_t i = 0; i + 1 < times_.size(); ++i) charge(times_[i], times_[i + 1] - times_[i]);
    return std::move(result_);
  }

 private:
  void charge(uint64_t time, uint64_t length) {
    for (QueueLine& line : lines_) line.advance(time);
    for (const auto& [queue, compute] :
         {std::pair{Queue::kMxu, Cause::kMxuCompute}, std::pair{Queue::kVpu, Cause::kVpuCompute}}) {
      if (const Event* event = line(queue).executing(time)) return charge_compute(*event, time, length, compute);
    }
    if (const Event* event = oldest([&](const QueueLine& line) { return line.executing(time); })) {
      const bool known = event->command < commands_.size();
      return add(*event, known ? cause_of(commands_[event->command].transfer) : Cause::kOnChipCopy, length);
    }
    if (const Event* event = oldest([&](const QueueLine& line) { return line.waiting(time); })) {
      return add(*event, Cause::kTokens, length);
    }
    const Event* event = oldest([&](const QueueLine& line) { return line.to_come(time); });
    if (event == nullptr) event = last_;
    if (event != nullptr) return add(*event, Cause::kCommandIssue, length);
    result_.front()[static_cast<size_t>(Cause::kCommandIssue)] += length;
  }

  // Stalls are spread evenly over the command; the rounding is such that the parts of a command sum up exactly.
  void charge_compute(const Event& event, uint64_t time, uint64_t length, Cause compute) {
    const uint64_t duration = event.completed - event.started;
    const auto stalled_until = [&](uint64_t at) {
      return static_cast<uint64_t>(static_cast<Wide>(at - event.started) * std::min<uint64_t>(event.stalled, duration) /
                                   duration);
    };
    const uint64_t stalled = stalled_until(time + length) - stalled_until(time);
    add(event, Cause::kBankConflicts, stalled);
    add(event, compute, length - stalled);
  }

  template <typename Pick>
  [[nodiscard]] const Event* oldest(Pick&& pick) const {
    const Event* best = nullptr;
    for (const QueueLine& line : lines_) {
      const Event* event = pick(line);
      if (event != nullptr && (best == nullptr || event->command < best->command)) best = event;
    }
    return best;
  }

  void add(const Event& event, Cause cause, uint64_t length) {
    const size_t layer = std::min<size_t>(event.layer, result_.size() - 1);
    result_[layer][static_cast<size_t>(cause)] += length;
  }

  QueueLine& line(Queue queue) { return lines_[static_cast<size_t>(queue)]; }

  std::span<const CommandInfo> commands_;
  std::vector<CauseCycles> result_;
  std::array<QueueLine, kQueues> lines_;
  std::vector<uint64_t> times_;  // where anything changes
  const Event* last_ = nullptr;  // the last command of the stream
};

}  // namespace

std::string_view name(Cause cause) {
  switch (cause) {
    case Cause::kMxuCompute:
      return "mxu_compute";
    case Cause::kVpuCompute:
      return "vpu_compute";
    case Cause::kBankConflicts:
      return "bank_conflicts";
    case Cause::kWeightLoad:
      return "weight_load";
    case Cause::kDramRead:
      return "dram_read";
    case Cause::kDramWrite:
      return "dram_write";
    case Cause::kState:
      return "state";
    case Cause::kOnChipCopy:
      return "on_chip_copy";
    case Cause::kTokens:
      return "tokens";
    case Cause::kCommandIssue:
      return "command_issue";
  }
  return "?";
}

std::string_view words(Cause cause) {
  switch (cause) {
    case Cause::kMxuCompute:
      return "MXU compute";
    case Cause::kVpuCompute:
      return "VPU compute";
    case Cause::kBankConflicts:
      return "bank conflicts";
    case Cause::kWeightLoad:
      return "weight load";
    case Cause::kDramRead:
      return "DRAM read";
    case Cause::kDramWrite:
      return "DRAM write";
    case Cause::kState:
      return "state access";
    case Cause::kOnChipCopy:
      return "on-chip copy";
    case Cause::kTokens:
      return "waiting for tokens";
    case Cause::kCommandIssue:
      return "command issue";
  }
  return "?";
}

std::vector<CauseCycles> attribute(std::span<const Event> events, uint64_t cycles, size_t layers,
                                   std::span<const CommandInfo> commands) {
  if (cycles == 0) return std::vector<CauseCycles>(layers);
  return Sweep(events, cycles, layers, commands).run();
}

}  // namespace npu::report
