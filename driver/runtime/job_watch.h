// SPDX-License-Identifier: Apache-2.0
// Sees that jobs in flight get nowhere although the device moves: its firmware works without an effect, or sleeps. The
// limits are those of docs/architecture/firmware.md (Faults).
#pragma once

#include <cstdint>
#include <optional>

#include "hw/contract/gen/capabilities.h"

namespace npu::runtime {

class JobWatch {
 public:
  // What the device shows of the jobs in flight.
  struct Sight {
    uint64_t time = 0;           // device time
    uint64_t busy_cycles = 0;    // of the control CPU, outside of wfi
    uint64_t commands_done = 0;  // of all jobs
    uint64_t cycle_limit = 0;    // the largest; 0: a job has none, and shows no commands
    uint64_t not_before = 0;     // the latest
    uint64_t sizes_cycles = 0;   // of the control CPU, that it may take for the sizes of the jobs
    bool all_done = false;       // one job is in flight at a time, and all of its commands have completed
  };

  explicit JobWatch(const contract::Capabilities& caps);

  // A job was submitted or has ended.
  void restart(uint64_t time);
  // Throws FirmwareGone when no command has completed for longer than the limits allow.
  void check(const Sight& sight);

 private:
  const uint64_t clock_mhz_, cpu_clock_mhz_;
  const uint64_t answer_;        // device cycles within which the firmware answers
  const uint64_t most_working_;  // cycles of the control CPU
  // When something happened last; the CPU's cycles since the first look after that.
  uint64_t time_ = 0, commands_done_ = 0;
  std::optional<uint64_t> busy_cycles_;
};

}  // namespace npu::runtime
