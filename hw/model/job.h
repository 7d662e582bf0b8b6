// SPDX-License-Identifier: Apache-2.0
// The job that runs: its registers as they were at the start, its fault, and how it is stopped. A fault is data: the
// first one is kept, every unit is woken and gives up its command, and the sequencer ends the job.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/model/address_map.h"
#include "hw/model/clock.h"

namespace npu::model {

struct JobRegisters {
  uint64_t command_base = 0;
  uint32_t command_words = 0;
  uint32_t command_start = 0;  // word of the stream
  uint64_t event_base = 0;
  uint32_t event_capacity = 0;
  uint64_t cycle_limit = 0;
  uint64_t cycle_base = 0;    // of the events
  uint64_t counter_base = 0;  // DRAM; 0: nowhere
  bool keep_scratchpad = false;
  uint16_t owner = 0;
  uint8_t epoch = 0;
  RegionTable regions{};
};

// The fault registers.
struct Fault {
  contract::ErrorCode code = contract::ErrorCode::kOk;
  uint32_t command = 0;
  uint32_t other = 0;
  uint32_t queue = 0;
  uint64_t offset = 0;  // in its region
  uint8_t region = 0;
  uint16_t variable = 0;
  uint64_t cycle = 0;

  void at(const contract::Address& address, uint64_t in_region) {
    offset = in_region;
    region = static_cast<uint8_t>(address.region);
    variable = address.region == contract::Region::kVariable ? address.variable : uint16_t{0};
  }
};

// Where a job stopped that was asked to.
struct Preemption {
  bool happened = false;
  uint32_t next = 0;     // word of the stream
  uint32_t segment = 0;  // of the yield command
};

class Job {
 public:
  explicit Job(const Clock& clock) : clock_(clock) {}

  // Called whenever the job is aborted, so that everybody who waits looks up.
  void on_abort(std::function<void()> wake) { wake_.push_back(std::move(wake)); }

  void begin(const JobRegisters& registers) {
    registers_ = registers;
    fault_ = {};
    preemption_ = {};
    aborting_ = preempt_requested_ = false;
    running_ = true;
  }
  void end() {
    running_ = false;
    aborting_ = preempt_requested_ = false;
  }

  // The job shall stop at its next yield command; nothing without a job.
  void request_preempt() { preempt_requested_ = running_; }
  [[nodiscard]] bool preempt_requested() const { return preempt_requested_; }
  void preempt(uint32_t next, uint32_t segment) { preemption_ = {true, next, segment}; }

  // Keeps the first fault of the job and stops it. The cycle is filled in here.
  void fault(Fault fault) {
    if (!running_ || aborting_) return;
    fault.cycle = clock_.now();
    fault_ = fault;
    stop();
  }
  // Stops the job without a fault (reset).
  void stop() {
    aborting_ = true;
    for (const auto& wake : wake_) wake();
  }

  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] bool aborting() const { return aborting_; }
  [[nodiscard]] const Fault& fault() const { return fault_; }
  [[nodiscard]] const Preemption& preemption() const { return preemption_; }
  [[nodiscard]] const JobRegisters& registers() const { return registers_; }

 private:
  const Clock& clock_;
  std::vector<std::function<void()>> wake_;
  JobRegisters registers_;
  Fault fault_;
  Preemption preemption_;
  bool running_ = false, aborting_ = false, preempt_requested_ = false;
};

}  // namespace npu::model
