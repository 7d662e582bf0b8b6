// SPDX-License-Identifier: Apache-2.0
// Power of engines and scratchpad (register engine_power). Switched on, they can work kOnCycles later, in functional
// mode at once. Nothing waits here: the caller compares the time.
#pragma once

#include <cstdint>
#include <systemc>

#include "hw/model/clock.h"

namespace npu::model {

class Power {
 public:
  static constexpr uint64_t kOnCycles = 1000;

  // On and ready.
  explicit Power(const Clock& clock) : clock_(clock) {}

  void switch_on() {
    if (on_) return;
    on_ = true;
    if (clock_.timed()) ready_at_ = sc_core::sc_time_stamp() + kOnCycles * clock_.period();
  }
  void switch_off() { on_ = false; }

  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] bool ready() const { return on_ && sc_core::sc_time_stamp() >= ready_at_; }

 private:
  const Clock& clock_;
  bool on_ = true;
  sc_core::sc_time ready_at_;
};

}  // namespace npu::model
