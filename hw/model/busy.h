// SPDX-License-Identifier: Apache-2.0
// Something that takes a stretch of time from a moment on; no time in functional mode. Nothing waits here: the unit
// that asks compares the time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>

#include "hw/model/clock.h"

namespace npu::model {

class Busy {
 public:
  explicit Busy(const Clock& clock) : clock_(clock) {}

  // Behind what it is busy with already.
  void start(uint64_t cycles) {
    if (!clock_.timed()) return;
    until_ = std::max(until_, sc_core::sc_time_stamp()) + static_cast<double>(cycles) * clock_.period();
  }
  void stop() { until_ = sc_core::SC_ZERO_TIME; }
  // Cycles from now on, rounded up.
  [[nodiscard]] uint64_t left() const {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    if (until_ <= now) return 0;
    return ((until_ - now).value() + clock_.period().value() - 1) / clock_.period().value();
  }

 private:
  const Clock& clock_;
  sc_core::sc_time until_;
};

}  // namespace npu::model
