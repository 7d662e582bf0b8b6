// SPDX-License-Identifier: Apache-2.0
// A persistent SRAM of RTL beside its schedule: both are offered the same, and compared in every cycle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rtl/verilated/persistent_sram.h"
#include "sim/cosim/persistent_sram_schedule.h"
#include "sim/cosim/random_persistent_sram.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

class PersistentSramDriver {
 public:
  using Injection = PersistentSramSchedule::Injection;
  using Operation = rtl::PersistentSram::Operation;
  using Power = rtl::PersistentSram::Power;

  // Resets the block. What differs goes to `trial`.
  PersistentSramDriver(rtl::PersistentSram& block, Trial& trial);

  // Offered from the next cycle on until they are taken; there must be none on offer.
  void offer(PersistentSramAccess access);
  void offer(const Operation& operation);
  void offer(const Injection& injection);
  [[nodiscard]] bool offers_access() const { return access_.has_value(); }
  [[nodiscard]] bool offers_operation() const { return operation_.has_value(); }
  [[nodiscard]] bool offers_injection() const { return injection_.has_value(); }
  // While nothing is on offer or under way.
  void set_power(Power power);
  void clear_lost(bool clear);

  // One cycle; returns what the schedule says of it.
  const PersistentSramSchedule::Outputs& cycle();
  [[nodiscard]] uint64_t cycles() const { return cycles_; }
  // The cycle of the last answer or end of an operation; each side's own.
  [[nodiscard]] uint64_t last_of_block() const { return of_block_.last; }
  [[nodiscard]] uint64_t last_of_schedule() const { return of_schedule_.last; }
  // Block and schedule went different ways: there is no sense in going on. What was under way came to its end.
  [[nodiscard]] bool apart() const { return !trial_.port_difference.empty(); }
  [[nodiscard]] const PersistentSramSchedule& schedule() const { return schedule_; }
  [[nodiscard]] Power power() const { return power_; }

 private:
  using Outputs = PersistentSramSchedule::Outputs;

  // What one side has under way, and when it ended something last.
  struct Side {
    uint64_t under_way = 0, last = 0;
    void see(bool access_taken, bool operation_taken, bool answered, bool ended, uint64_t cycle);
  };

  void see();
  void finish();
  void compare_handshakes();
  void compare_answer(const PersistentSramSchedule::Answer& answer);
  void compare_end(const PersistentSramSchedule::End& end);
  void compare(uint64_t got, uint64_t wanted, const char* what);
  void expect(uint64_t got, uint64_t wanted, const char* what);  // as compare, but is not counted
  void withdraw();

  rtl::PersistentSram& block_;
  Trial& trial_;
  PersistentSramSchedule schedule_;
  Outputs outputs_;  // of the last cycle
  uint64_t cycles_ = 0;
  Side of_block_, of_schedule_;
  std::optional<PersistentSramAccess> access_;
  std::optional<Operation> operation_;
  std::optional<Injection> injection_;
  Power power_ = Power::kOn;
  bool clear_lost_ = false;
};

}  // namespace npu::cosim
