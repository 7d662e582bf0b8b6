// SPDX-License-Identifier: Apache-2.0
// Where the cycles of a job lie on the axis of device time.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/runtime/runtime.h"

namespace npu::report {

// A job that ran in one piece has cycle c at device time started + c. One that was interrupted ran in parts: the
// firmware's phases say when it was asked to stop and when it was made to go on, and it stopped at its first yield
// command after it was asked. That is a little early, because the firmware enters the phase before it has written the
// sequencer's registers. Where phases or events are missing, the job is taken for one piece, and what came
// behind an interruption lies too early.
class JobAxis {
 public:
  // `origin` is the device time of cycle 0 where the result has none (no firmware ran).
  JobAxis(const runtime::RunResult& result, uint64_t origin);

  // `cycle` counts from the start of the job, as in its events.
  [[nodiscard]] uint64_t time(uint64_t cycle) const;
  [[nodiscard]] size_t parts() const { return parts_.size(); }

 private:
  struct Part {
    uint64_t cycle = 0, time = 0;  // of its start
  };
  std::vector<Part> parts_;
};

}  // namespace npu::report
