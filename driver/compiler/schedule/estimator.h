// SPDX-License-Identifier: Apache-2.0
// Plays a stream of commands, one after the other, as a device would: in-order issue into FIFOs, tokens, the engines'
// formulas and the shared port to DRAM; memory is otherwise ideal.
#pragma once

#include <span>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/tokens.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/timing/table_cycles.h"

namespace npu::compiler::backend {

// When a resource that one user has at a time is busy.
class BusyTimes {
 public:
  // Takes the first free `cycles` from `start` on, in pieces where they are; returns the end of the last one.
  double take(double start, double cycles);
  // No start will be before this time any more.
  void forget(double before);

 private:
  struct Interval {
    double begin, end;
  };
  std::vector<Interval> intervals_;  // ascending, apart from each other
};

class Estimator {
 public:
  // Of a stream of so many commands. All times are cycles from the start of the job. The references must outlive this.
  Estimator(size_t commands, std::span<const Variable> variables, const contract::Capabilities& capabilities);

  // Of one command: when its engine begins with it, when it would, had it not to wait for constants, and its end.
  struct Times {
    double started = 0, ready = 0, done = 0;
  };
  // The next command of the stream. It waits for what its tokens name; or, where they are not set yet, for `needs`.
  Times issue(const Command& command, const QueueCounts* needs = nullptr);

  [[nodiscard]] double clock() const { return clock_; }    // of the sequencer
  [[nodiscard]] double end() const { return end_; }        // of all commands so far
  [[nodiscard]] double moving() const { return moving_; }  // cycles in which they keep the port to DRAM busy
  // Whether the FIFO would take a command now, and the sequencer not stand still.
  [[nodiscard]] bool has_room(contract::Queue queue) const;
  // Commands of a queue so far.
  [[nodiscard]] size_t issued(contract::Queue queue) const { return queues_[queue].done.size(); }

 private:
  struct QueueState {
    std::vector<double> started, done;
    std::vector<bool> constants;  // whether a command loads such
    bool loads = false;           // the last command does so from DRAM
  };
  Times run(const Command& command, const QueueCounts* needs);
  void drain();
  void go(const contract::BranchCommand& branch);
  double finish(const Body& body, double start, double asked);
  double transfer(const contract::DmaCommand& c, double start, double asked);
  [[nodiscard]] bool loads(const Body& body) const;

  const std::span<const Variable> variables_;
  const contract::Capabilities& capabilities_;
  contract::EngineQueueTable<QueueState> queues_;
  const timing::TableAccesses table_;
  const double fetch_;  // cycles of the port that fetching a command takes
  size_t unfetched_;
  BusyTimes port_;
  double clock_, end_ = 0, moving_ = 0;
};

}  // namespace npu::compiler::backend
