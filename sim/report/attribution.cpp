// SPDX-License-Identifier: Apache-2.0
#include "sim/report/attribution.h"

#include <algorithm>
#include <numeric>

#include "hw/contract/queues.h"
#include "sim/report/unroll.h"

namespace npu::report {
namespace {

using contract::Engine;
using contract::Event;
using contract::Queue;

__extension__ using Wide = unsigned __int128;

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

// The part of `amount`, spread evenly over a command, that lies in [begin, end); parts of the whole command sum up to
// it.
uint64_t part_of(uint64_t amount, const Event& event, uint64_t begin, uint64_t end) {
  const uint64_t duration = event.completed - event.started;
  if (duration == 0) return 0;
  const auto until = [&](uint64_t at) {
    return static_cast<uint64_t>(static_cast<Wide>(at - event.started) * amount / duration);
  };
  return until(end) - until(begin);
}

class Sweep {
 public:
  Sweep(std::span<const Event> events, uint64_t cycles, size_t layers, const Subject& subject)
      : subject_(subject),
        path_(critical_path(events, cycles, subject.commands, subject.sequencer)),
        late_(late_for_room(path_, subject.commands)),
        result_(layers) {
    NPU_CHECK(layers > 0);
    times_ = {0, cycles};
    for (const Event& event : events) {
      const Queue queue = contract::queue_of(event);
      if (!contract::engine_of(queue)) continue;
      lines_[queue].events.push_back(&event);
      if (*contract::engine_of(queue) != Engine::kDma) first_compute_ = std::min(first_compute_, event.started);
      for (const uint64_t time : {event.issued, event.started, event.completed}) {
        if (time < cycles) times_.push_back(time);
      }
      if (last_ == nullptr || event.command > last_->command) last_ = &event;
    }
    for (const PathPart& part : path_) times_.push_back(part.begin);
    for (QueueLine& line : lines_) {
      std::sort(line.events.begin(), line.events.end(),
                [](const Event* a, const Event* b) { return a->command < b->command; });
    }
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  }

  std::vector<Charge> run() {
    for (size_t i = 0; i + 1 < times_.size(); ++i) charge(times_[i], times_[i + 1]);
    return std::move(result_);
  }

 private:
  void charge(uint64_t begin, uint64_t end) {
    for (QueueLine& line : lines_) line.advance(begin);
    const Event* owner = this->owner(begin);
    charge_ = &result_[owner == nullptr ? 0 : std::min<size_t>(owner->layer, result_.size() - 1)];
    left_ = end - begin;
    const uint64_t dram = count_busy(begin, end);
    while (part_ + 1 < path_.size() && path_[part_].end <= begin) ++part_;
    const Event* event = path_[part_].event;
    of_other_layer_ = event != nullptr && owner != nullptr && event->layer != owner->layer;
    charge_path(path_[part_], begin, end, dram);
  }

  [[nodiscard]] const Event* owner(uint64_t time) const {
    for (const Queue queue : {Queue::kMxu, Queue::kVpu}) {
      if (const Event* event = lines_[queue].executing(time)) return event;
    }
    if (const Event* event = oldest([&](const QueueLine& line) { return line.executing(time); })) return event;
    if (const Event* event = oldest([&](const QueueLine& line) { return line.waiting(time); })) return event;
    const Event* event = oldest([&](const QueueLine& line) { return line.to_come(time); });
    return event != nullptr ? event : last_;
  }

  // What the resources do meanwhile. Returns the cycles of DRAM.
  uint64_t count_busy(uint64_t begin, uint64_t end) {
    uint64_t dram = 0;
    bool dma = false;
    const auto computes = [&](Resource engine, const Event& event) {
      busy(engine) += end - begin - part_of(stalled(event), event, begin, end);
      busy(Resource::kScratchpadPort) += part_of(work_of(event).port, event, begin, end);
    };
    for (const QueueLine& line : lines_) {
      const Event* event = line.executing(begin);
      if (event == nullptr) continue;
      switch (*contract::engine_of(contract::queue_of(*event))) {  // lines are of engines
        case Engine::kMxu:
          computes(Resource::kMxu, *event);
          break;
        case Engine::kVpu:
          computes(Resource::kVpu, *event);
          break;
        case Engine::kDma:
          dma = true;
          dram += part_of(dram_cycles(*event), *event, begin, end);
          break;
      }
    }
    busy(Resource::kDram) += dram;
    if (dma) busy(Resource::kDma) += end - begin;
    return dram;
  }

  void charge_path(const PathPart& part, uint64_t begin, uint64_t end, uint64_t dram) {
    if (part.event == nullptr) return rest(Cause::kCommandIssue, Resource::kCommandIssue);
    switch (part.why) {
      case PathPart::Why::kIssue:
        return rest(Cause::kCommandIssue, Resource::kCommandIssue);
      case PathPart::Why::kTable:
        return rest(Cause::kVariableTable, Resource::kCommandIssue);
      case PathPart::Why::kFetch:
        take(Cause::kCommandFetch, Resource::kDram, dram);
        return rest(Cause::kCommandFetch, Resource::kLatency);
      case PathPart::Why::kTokens:
        return rest(Cause::kTokens, Resource::kLatency);
      case PathPart::Why::kExecutes:
        return charge_command(part, begin, end, dram);
    }
  }

  void charge_command(const PathPart& part, uint64_t begin, uint64_t end, uint64_t dram) {
    const Event& event = *part.event;
    const std::optional<Engine> engine = contract::engine_of(contract::queue_of(event));
    if (!engine) return rest(Cause::kCommandIssue, Resource::kCommandIssue);  // the sequencer's own work
    switch (*engine) {
      case Engine::kMxu:
        take(Cause::kBankConflicts, Resource::kScratchpadPort, part_of(stalled(event), event, begin, end));
        take(Cause::kWeightLoadPort, Resource::kScratchpadPort, part_of(work_of(event).port_wait, event, begin, end));
        take(Cause::kFillDrain, Resource::kMxu, part_of(work_of(event).fill_drain, event, begin, end));
        return rest(Cause::kMxuCompute, Resource::kMxu);
      case Engine::kVpu:
        take(Cause::kBankConflicts, Resource::kScratchpadPort, part_of(stalled(event), event, begin, end));
        take(Cause::kFillDrain, Resource::kVpu, part_of(work_of(event).fill_drain, event, begin, end));
        return rest(Cause::kVpuCompute, Resource::kVpu);
      case Engine::kDma:
        return charge_transfer(event, begin, dram);
    }
  }

  // A transfer with DRAM waits for DRAM's bytes, its own and those of others, and otherwise for answers.
  void charge_transfer(const Event& event, uint64_t begin, uint64_t dram) {
    const bool known = event.command < subject_.commands.size();
    const Transfer transfer = known ? subject_.commands[event.command].transfer : Transfer::kOnChip;
    if (event.dram_read == 0 && event.dram_written == 0) {
      return rest(transfer == Transfer::kState ? Cause::kState : Cause::kOnChipCopy, Resource::kDma);
    }
    switch (transfer) {
      case Transfer::kConstants:
        return charge_constants(begin, dram);
      case Transfer::kState:
        take(Cause::kState, Resource::kDram, dram);
        return rest(Cause::kState, Resource::kLatency);
      case Transfer::kDramWrite:
        take(Cause::kDramWrite, Resource::kDram, dram);
        return rest(Cause::kDramLatency, Resource::kLatency);
      case Transfer::kDramRead:
      case Transfer::kOnChip:  // by its fields, which are those of another program than the device had
      case Transfer::kNone:
        take(Cause::kDramRead, Resource::kDram, dram);
        return rest(Cause::kDramLatency, Resource::kLatency);
    }
  }

  // Why nothing hides this load: nothing computes yet, or what held its place in the scratchpad did until it started;
  // else DRAM is what it waits for.
  void charge_constants(uint64_t begin, uint64_t dram) {
    const bool first = begin < first_compute_, room = late_[part_];
    const Cause unhidden = first ? Cause::kWeightLoadFirst : Cause::kWeightLoadRoom;
    take(first || room ? unhidden : Cause::kWeightLoadDram, Resource::kDram, dram);
    rest(first || room ? unhidden : Cause::kWeightLoadLatency, Resource::kLatency);
  }

  // So many of the interval's cycles that are left.
  void take(Cause cause, Resource resource, uint64_t cycles) {
    cycles = std::min(cycles, left_);
    charge_->causes[static_cast<size_t>(cause)] += cycles;
    if (of_other_layer_) charge_->others[static_cast<size_t>(cause)] += cycles;
    charge_->limits[static_cast<size_t>(resource)] += cycles;
    left_ -= cycles;
  }

  void rest(Cause cause, Resource resource) { take(cause, resource, left_); }

  [[nodiscard]] uint64_t& busy(Resource resource) { return charge_->busy[static_cast<size_t>(resource)]; }

  [[nodiscard]] static uint64_t stalled(const Event& event) {
    return std::min<uint64_t>(event.stalled, event.completed - event.started);
  }

  [[nodiscard]] uint64_t dram_cycles(const Event& event) const {
    return subject_.dram.cycles(uint64_t{event.dram_read} + event.dram_written);
  }

  [[nodiscard]] const CommandWork& work_of(const Event& event) const {
    static const CommandWork kUnknown;
    return event.command < subject_.work.size() ? subject_.work[event.command] : kUnknown;
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

  const Subject& subject_;
  const std::vector<PathPart> path_;
  const std::vector<bool> late_;         // parts of it that are loads for which there was no room earlier
  size_t part_ = 0;                      // of the path, that the time has come to
  uint64_t first_compute_ = UINT64_MAX;  // when the first command of an engine that computes started
  std::vector<Charge> result_;
  Charge* charge_ = nullptr;     // of the layer that the interval is charged to
  bool of_other_layer_ = false;  // the interval's command on the path
  uint64_t left_ = 0;            // cycles of the interval without a cause yet
  contract::EngineQueueTable<QueueLine> lines_;
  std::vector<uint64_t> times_;  // where anything changes
  const Event* last_ = nullptr;  // the last command of the stream
};

}  // namespace

uint64_t Charge::cycles() const { return std::accumulate(causes.begin(), causes.end(), uint64_t{0}); }

Charge& Charge::operator+=(const Charge& more) {
  for (size_t i = 0; i < kCauseCount; ++i) causes[i] += more.causes[i];
  for (size_t i = 0; i < kCauseCount; ++i) others[i] += more.others[i];
  for (size_t i = 0; i < kResourceCount; ++i) limits[i] += more.limits[i];
  for (size_t i = 0; i < kResourceCount; ++i) busy[i] += more.busy[i];
  return *this;
}

std::vector<Charge> attribute(std::span<const Event> events, uint64_t cycles, size_t layers, const Subject& subject) {
  if (cycles == 0) return std::vector<Charge>(layers);
  if (has_branches(subject.commands)) {
    const Unrolled job = unroll(events, subject.commands, subject.work);
    return Sweep(job.events, cycles, layers, {job.commands, job.work, subject.dram, subject.sequencer}).run();
  }
  return Sweep(events, cycles, layers, subject).run();
}

}  // namespace npu::report
