// SPDX-License-Identifier: Apache-2.0
#include "sim/report/critical_path.h"

#include <algorithm>
#include <optional>

#include "hw/contract/queues.h"
#include "hw/timing/sequencer_cycles.h"
#include "hw/timing/table_cycles.h"

namespace npu::report {
namespace {

using contract::Event;
using contract::Opcode;
using contract::Queue;
using Why = PathPart::Why;

class Walk {
 public:
  Walk(std::span<const Event> events, uint64_t cycles, std::span<const CommandInfo> commands,
       const SequencerCosts& costs)
      : commands_(commands), costs_(costs), now_(cycles) {
    for (const Event& event : events) {
      if (!known(contract::queue_of(event))) continue;
      if (event.command >= by_command_.size()) by_command_.resize(size_t{event.command} + 1);
      by_command_[event.command] = &event;
    }
    for (size_t c = 0; c < std::max(by_command_.size(), commands.size()); ++c) {
      const std::optional<Queue> queue = queue_of(c);
      if (queue && contract::engine_of(*queue)) queues_[*queue].push_back(static_cast<uint32_t>(c));
    }
  }

  std::vector<PathPart> run() {
    const Event* event = last();
    if (event != nullptr) cut(Why::kIssue, event, event->completed);
    const Event* first = event;
    while (event != nullptr) {
      first = event;
      cut(Why::kExecutes, event, event->started);
      const Event* before = latest_dependency(*event);
      const uint64_t done = before == nullptr ? 0 : before->completed;
      cut(Why::kTokens, event, std::max(done, event->issued));
      event = before != nullptr && done >= event->issued ? before : follow_stream(*event);
    }
    cut(Why::kIssue, first, 0);
    std::reverse(parts_.begin(), parts_.end());
    return std::move(parts_);
  }

 private:
  // Everything from `to` to where the path has come so far.
  void cut(Why why, const Event* event, uint64_t to) {
    if (to >= now_) return;
    parts_.push_back({to, now_, why, event});
    now_ = to;
  }

  [[nodiscard]] const Event* event_of(size_t command) const {
    return command < by_command_.size() ? by_command_[command] : nullptr;
  }

  [[nodiscard]] std::optional<Queue> queue_of(size_t command) const {
    if (command < commands_.size()) return commands_[command].queue;
    if (const Event* event = event_of(command)) return contract::queue_of(*event);
    return std::nullopt;
  }

  // The last of the queued commands to complete.
  [[nodiscard]] const Event* last() const {
    const Event* best = nullptr;
    for (const Event* event : by_command_) {
      if (event == nullptr || is_sequencer(*event) || event->completed > now_) continue;
      if (best == nullptr || event->completed >= best->completed) best = event;
    }
    return best;
  }

  [[nodiscard]] static bool is_sequencer(const Event& event) { return contract::queue_of(event) == Queue::kSequencer; }

  // The command `back` places before this one in a queue, with an event.
  [[nodiscard]] const Event* earlier(Queue queue, uint32_t command, size_t back) const {
    const std::vector<uint32_t>& line = queues_[queue];
    const auto here = static_cast<size_t>(std::lower_bound(line.begin(), line.end(), command) - line.begin());
    return back == 0 || here < back ? nullptr : event_of(line[here - back]);
  }

  // What completed last of all that the command had to wait for; null for nothing.
  [[nodiscard]] const Event* latest_dependency(const Event& event) const {
    const Event* best = is_sequencer(event) ? nullptr : earlier(contract::queue_of(event), event.command, 1);
    if (event.command >= commands_.size()) return best;
    const auto& wait = commands_[event.command].wait;
    for (const Queue queue : contract::kQueuesOfEngines) {
      const uint8_t token = wait[contract::index_of(queue)];
      const Event* other = token == 0 ? nullptr : earlier(queue, event.command, token);
      if (other != nullptr && (best == nullptr || other->completed > best->completed)) best = other;
    }
    return best;
  }

  [[nodiscard]] bool is(size_t command, Opcode opcode) const {
    return command < commands_.size() && commands_[command].opcode == opcode;
  }

  [[nodiscard]] bool cuts_blocks(size_t command) const {
    return is(command, Opcode::kLabel) || is(command, Opcode::kBranch);
  }

  // Whether it waited for all commands before it: at a yield the job then stopped.
  [[nodiscard]] bool drained_at(const Event& own) const {
    return cuts_blocks(own.command) || (is(own.command, Opcode::kYield) && own.completed > decoded(own));
  }

  [[nodiscard]] uint32_t words_of(const Event& event) const {
    return event.command < commands_.size() ? commands_[event.command].words : 0;
  }

  // Of the variables of a command that is handed over.
  [[nodiscard]] uint64_t check_cycles(const Event& event) const {
    return event.command < commands_.size() ? costs_.check * commands_[event.command].variables.size() : 0;
  }

  // When the sequencer had decoded a command of its own.
  [[nodiscard]] uint64_t decoded(const Event& own) const { return own.issued + timing::decode_cycles(words_of(own)); }

  // What the sequencer waited for before it completed a command of its own; null where it was not kept waiting.
  [[nodiscard]] const Event* awaited(const Event& own) const {
    const Event* best = latest_dependency(own);
    if (drained_at(own)) {
      for (size_t c = own.command; c-- > 0 && !cuts_blocks(c);) {
        const Event* other = event_of(c);
        if (other == nullptr || is_sequencer(*other)) continue;
        if (best == nullptr || other->completed > best->completed) best = other;
      }
    }
    return best != nullptr && best->completed > decoded(own) ? best : nullptr;
  }

  // A command of the sequencer's own, from its end to where the sequencer had its words.
  void cut_own(const Event& own) {
    if (is(own.command, Opcode::kDeclare)) cut(Why::kTable, &own, decoded(own));
    cut(Why::kIssue, &own, own.issued);
  }

  // What comes before a command is handed over, or before the sequencer has the words of one of its own: back to
  // `came`, when it was done with the command before.
  void cut_fetch(const Event& event, uint64_t came) {
    const auto back = [&](Why why, uint64_t cycles) {
      cut(why, &event, std::max(came, now_ - std::min(now_, cycles)));
    };
    const uint32_t words = words_of(event);
    if (words == 0) return cut(Why::kIssue, &event, came);
    if (!is_sequencer(event)) {
      back(Why::kTable, check_cycles(event));
      back(Why::kIssue, timing::decode_cycles(words));
    }
    if (came > 0) return cut(Why::kFetch, &event, came);
    cut(Why::kFetch, &event, costs_.begin);
    cut(Why::kTable, &event, 0);
  }

  // Commands of a queue before this one, and those of them that had completed by a cycle: before it, or in it too.
  [[nodiscard]] size_t issued_before(Queue queue, uint32_t command) const {
    const std::vector<uint32_t>& line = queues_[queue];
    return static_cast<size_t>(std::lower_bound(line.begin(), line.end(), command) - line.begin());
  }
  [[nodiscard]] size_t completed_by(Queue queue, uint64_t cycle, bool inclusive) const {
    const std::vector<uint32_t>& line = queues_[queue];
    const auto is_done = [&](uint32_t command) {
      const Event* event = event_of(command);
      return event != nullptr && (inclusive ? event->completed <= cycle : event->completed < cycle);
    };
    return static_cast<size_t>(std::partition_point(line.begin(), line.end(), is_done) - line.begin());
  }

  // Whether the prefetch paused with the commands before this one, as of a cycle.
  [[nodiscard]] bool paused(uint32_t command, uint64_t cycle, bool inclusive) const {
    timing::UnderWay under_way;
    for (const Queue queue : contract::kQueuesOfEngines) {
      const size_t issued = issued_before(queue, command), done = completed_by(queue, cycle, inclusive);
      under_way.add(queue, issued - std::min(issued, done));
    }
    return timing::prefetch_pauses(under_way);
  }

  // The command whose completion let the prefetch of the words of another go on, after the sequencer had come to it;
  // null where it did not pause, or had them before.
  [[nodiscard]] const Event* ended_pause(const Event& event, uint64_t came) const {
    const uint32_t words = words_of(event);
    if (words == 0 || !paused(event.command, came, true)) return nullptr;
    const uint64_t behind_words = is_sequencer(event) ? 0 : timing::decode_cycles(words) + check_cycles(event);
    const Event* best = nullptr;
    for (const Queue queue : contract::kQueuesOfEngines) {
      for (size_t i = completed_by(queue, came, true); i < issued_before(queue, event.command); ++i) {
        const Event* other = event_of(queues_[queue][i]);
        if (other == nullptr || other->completed + behind_words > now_) break;
        if (!paused(event.command, other->completed, false) || paused(event.command, other->completed, true)) continue;
        if (best == nullptr || other->completed > best->completed) best = other;
      }
    }
    return best;
  }

  // Back along the stream, from where `event` was issued: to the command whose completion let the sequencer go on, or
  // to the start.
  const Event* follow_stream(const Event& event) {
    for (uint32_t command = event.command;;) {
      const Event& here = *by_command_[command];
      const bool own = is_sequencer(here);
      if (!own) cut(Why::kIssue, &here, here.issued);
      // A full FIFO takes a command when the one in the engine's hands completes.
      const Event* room =
          own ? awaited(here) : earlier(contract::queue_of(here), command, size_t{costs_.fifo_depth} + 1);
      while (command > 0 && event_of(command - 1) == nullptr) --command;
      const Event* before = command == 0 ? nullptr : by_command_[command - 1];
      const uint64_t came = before == nullptr ? 0 : is_sequencer(*before) ? before->completed : before->issued;
      // The words came before that, or after it.
      const Event* resumed = own ? nullptr : ended_pause(here, came);
      const bool words_were_late = resumed != nullptr && room != nullptr && resumed->completed > room->completed;
      if (room != nullptr && !words_were_late && room->completed <= now_ && room->completed > came) {
        cut(Why::kIssue, &here, room->completed);
        return room;
      }
      if (own) {
        cut_own(here);
        resumed = ended_pause(here, came);
      }
      cut_fetch(here, resumed == nullptr ? came : resumed->completed);
      if (resumed != nullptr) return resumed;
      if (before == nullptr) return nullptr;
      command = before->command;
    }
  }

  std::span<const CommandInfo> commands_;
  const SequencerCosts costs_;
  uint64_t now_;                                              // what is behind it is explained
  std::vector<const Event*> by_command_;                      // null: no record
  contract::EngineQueueTable<std::vector<uint32_t>> queues_;  // commands, ascending
  std::vector<PathPart> parts_;
};

}  // namespace

std::vector<bool> late_for_room(std::span<const PathPart> path, std::span<const CommandInfo> commands) {
  std::vector<bool> late(path.size());
  const Event* before = nullptr;  // what the next command waits for; null: the sequencer
  bool was_late = false;          // that one
  for (size_t i = 0; i < path.size(); ++i) {
    const Event* event = path[i].event;
    if (path[i].why == Why::kTokens) continue;
    if (path[i].why != Why::kExecutes || event == nullptr) {
      before = nullptr;
      continue;
    }
    const bool constants =
        event->command < commands.size() && commands[event->command].transfer == Transfer::kConstants;
    if (constants && before != nullptr && before != event) {
      late[i] = contract::queue_of(*before) != contract::queue_of(*event) || was_late;
    }
    was_late = late[i];
    before = event;
  }
  return late;
}

SequencerCosts SequencerCosts::of(const contract::Capabilities& caps) {
  const timing::TableAccesses accesses = timing::TableAccesses::of(caps);
  return {caps.fifo_depth, timing::table_cycles(accesses.begin_job()), timing::table_cycles(accesses.check())};
}

std::vector<PathPart> critical_path(std::span<const Event> events, uint64_t cycles,
                                    std::span<const CommandInfo> commands, const SequencerCosts& costs) {
  return Walk(events, cycles, commands, costs).run();
}

}  // namespace npu::report
