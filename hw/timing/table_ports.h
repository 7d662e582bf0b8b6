// SPDX-License-Identifier: Apache-2.0
// When the variable table asks for the persistent SRAM during an operation.
#pragma once

#include <cstdint>
#include <utility>

#include "hw/timing/ports.h"
#include "hw/timing/table_cycles.h"

namespace npu::timing {

// From the cycle in which the operation is taken. With every access granted at once it takes table_cycles() cycles.
class TablePorts final : public SteppedSchedule<TablePorts> {
 public:
  TablePorts() = default;
  // `late`: it is taken in the cycle behind this one.
  explicit TablePorts(TableOperation operation, bool late = false)
      : operation_(std::move(operation)), phase_(Phase::kStart), wait_(late ? 2 : 1) {}

  [[nodiscard]] Ports asking() const override {
    return (phase_ == Phase::kRead && reads_ + more_ > 0) || phase_ == Phase::kWrite ? 1 : 0;
  }
  void step(Ports granted) override {
    switch (phase_) {
      case Phase::kStart:
        if (--wait_ == 0) begin(operation_.first);
        return;
      case Phase::kRead:
        step_read(granted);
        return;
      case Phase::kWrite:
        if (granted == 0) return;
        phase_ = Phase::kWritten;
        wait_ = kPersistentAnswer;
        return;
      case Phase::kWritten:
        if (--wait_ == 0) next();
        return;
      case Phase::kEnd:
        return;
    }
  }
  [[nodiscard]] bool done() const override { return phase_ == Phase::kEnd; }
  // What it asks for is a write of a part of a row.
  [[nodiscard]] bool writes() const { return phase_ == Phase::kWrite; }
  // Cycles that it still takes, at least.
  [[nodiscard]] uint64_t cycles_left() const {
    if (phase_ == Phase::kEnd) return 0;
    uint64_t cycles = phase_ == Phase::kStart ? wait_ + table_cycles(operation_.first) : of_run();
    for (size_t i = next_; i < operation_.rest.size(); ++i) cycles += table_cycles(operation_.rest[i]);
    return cycles;
  }

 private:
  enum class Phase : uint8_t { kStart, kRead, kWrite, kWritten, kEnd };

  void begin(const TableRun& run) {
    phase_ = run.reads > 0 ? Phase::kRead : Phase::kEnd;
    reads_ = run.reads;
    more_ = run.more;
    writes_ = run.writes;
  }
  void next() {
    if (next_ < operation_.rest.size()) {
      begin(operation_.rest[next_++]);
    } else {
      phase_ = Phase::kEnd;
    }
  }
  void step_read(Ports granted) {
    if (reads_ > 0) {
      if (granted != 0 && --reads_ == 0) wait_ = kPersistentAnswer;
      return;
    }
    // The answer to the last one is under way. What is asked for when it is there goes on asking.
    const bool held_back = more_ > 0 && granted == 0;
    if (granted != 0) --more_;
    if (wait_ > 0) --wait_;
    if (wait_ > 0 || held_back) return;
    if (writes_) {
      phase_ = Phase::kWrite;
    } else {
      next();
    }
  }
  // From here to the end of the run that is under way.
  [[nodiscard]] uint64_t of_run() const {
    switch (phase_) {
      case Phase::kRead:
        return (reads_ > 0 ? reads_ + kPersistentAnswer : wait_) + (writes_ ? 1 + kPersistentAnswer : 0);
      case Phase::kWrite:
        return 1 + kPersistentAnswer;
      default:
        return wait_;
    }
  }

  TableOperation operation_;
  size_t next_ = 0;  // of the runs behind the first one
  Phase phase_ = Phase::kEnd;
  uint64_t reads_ = 0, more_ = 0;  // of the run
  bool writes_ = false;
  uint64_t wait_ = 0;  // cycles until it begins, or until the answer that it waits for has been looked at
};

}  // namespace npu::timing
