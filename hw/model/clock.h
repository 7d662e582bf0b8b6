// SPDX-License-Identifier: Apache-2.0
// Integer cycles of the NPU's clock. Cycle 0 is the start of the job, so that cycles repeat exactly wherever on the
// simulation's time axis a job begins.
#pragma once

#include <cstdint>
#include <systemc>

#include "hw/model/config.h"

namespace npu::model {

class Clock {
 public:
  // A period of whole picoseconds (rounded).
  Clock(uint32_t mhz, Mode mode)
      : period_(static_cast<double>(picoseconds(mhz)), sc_core::SC_PS), timed_(mode == Mode::kTimed) {}

  // Makes this moment cycle 0.
  void restart() {
    origin_ = sc_core::sc_time_stamp();
    seen_ = origin_.value();
    cycle_ = 0;
  }

  // This moment, rounded up to a cycle; always 0 in functional mode.
  [[nodiscard]] uint64_t now() const {
    if (!timed_) return 0;
    const uint64_t stamp = sc_core::sc_time_stamp().value();
    if (stamp != seen_) {
      seen_ = stamp;
      cycle_ = round_up(stamp - origin_.value());
    }
    return cycle_;
  }
  // The same for the moment `delay` from now.
  [[nodiscard]] uint64_t after(const sc_core::sc_time& delay) const {
    return timed_ ? round_up((sc_core::sc_time_stamp() + delay - origin_).value()) : 0;
  }
  // Time from now to the beginning of a cycle; zero when it has passed.
  [[nodiscard]] sc_core::sc_time until(uint64_t cycle) const {
    const uint64_t target = cycle * period_.value(), elapsed = sc_core::sc_time_stamp().value() - origin_.value();
    // Exact below 2^52 units of time, and much faster than sc_time::from_value().
    return target > elapsed ? resolution_ * static_cast<double>(target - elapsed) : sc_core::SC_ZERO_TIME;
  }
  [[nodiscard]] const sc_core::sc_time& period() const { return period_; }
  [[nodiscard]] bool timed() const { return timed_; }

 private:
  static uint64_t picoseconds(uint32_t mhz) { return (1'000'000 + mhz / 2) / mhz; }
  [[nodiscard]] uint64_t round_up(uint64_t elapsed) const { return (elapsed + period_.value() - 1) / period_.value(); }

  sc_core::sc_time period_;
  sc_core::sc_time resolution_ = sc_core::sc_time::from_value(1);
  sc_core::sc_time origin_;
  bool timed_;
  mutable uint64_t seen_ = 0, cycle_ = 0;  // the last answer of now()
};

}  // namespace npu::model
