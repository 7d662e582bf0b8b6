// SPDX-License-Identifier: Apache-2.0
// How jobs reach a device: over firmware (firmware_link.h) or straight into the sequencer (direct_link.h).
// Nothing above this interface knows which. All calls with the device's lock held.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/runtime/monitor.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/gen/commands.h"

namespace npu::runtime {

// How a job ended, as the device tells it.
struct JobEnd {
  enum class Kind : uint8_t {
    kDone,
    kFault,  // see `fault`
    kReset   // the user reset the device
  };
  Kind kind = Kind::kDone;
  Fault fault;
  // kFaultFirmware and kFaultRing: what happened, in sentences.
  std::string story;
  uint64_t cycles = 0;
  uint64_t event_count = 0;  // records produced, those that did not fit included
  Counters counters;
  JobTimes times;
  std::vector<FirmwarePhase> phases;
  // kFaultTimeout: the registers of these names.
  std::array<uint32_t, 16> queue_state{}, queue_command{};
};

// A job in flight. Told exactly once; must not call the link then.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void job_ended(JobEnd end) = 0;

  // How far the job is, as the device shows it.
  struct Progress {
    uint64_t commands_done = 0;
    bool shown = false;     // the device records the commands that complete
    bool all_done = false;  // all commands have completed
  };
  [[nodiscard]] virtual Progress progress() = 0;
};

// The variable table in persistent SRAM.
class VariableEntries {
 public:
  struct Write {
    uint32_t index = 0;
    contract::VariableEntry entry;
  };
  virtual ~VariableEntries() = default;
  virtual void write_entries(std::span<const Write> writes) = 0;
  [[nodiscard]] virtual std::vector<contract::VariableEntry> read_entries(std::span<const uint32_t> indices) = 0;
};

// What a link keeps in the device for a loaded program; gone with the object. Of one for sizes within bounds also the
// sizes of its job.
class Placement {
 public:
  virtual ~Placement() = default;
  // Before a job: a value a symbol.
  virtual void bring_sizes(std::span<const int64_t>) {}
  // Behind its end: what the device has computed, as the table of sizes names it. Empty where it computes nothing.
  [[nodiscard]] virtual std::vector<int64_t> read_results() { return {}; }
};

class Link : public VariableEntries {
 public:
  // Brings the device to its first state; `cold`: persistent memory is cleared. Jobs in flight end as kReset, contexts
  // stay open. Throws Error as Device::open.
  virtual void restart(bool cold) = 0;

  // A number for the context's jobs. Throws Error(kContextsFull).
  [[nodiscard]] virtual uint32_t open_context(uint16_t owner, uint32_t priority) = 0;
  virtual void close_context(uint32_t context) = 0;

  // `job` has everything but what differs between runs (epoch, event_capacity, cycle_limit, not_before), and where the
  // sizes of a run are. Throws Error(kDramFull).
  [[nodiscard]] virtual std::unique_ptr<Placement> place(const contract::Job& job,
                                                         const compiler::SizeTable& sizes) = 0;

  // Throws Error(kQueueFull or kWrongOrder) when submit() would not take a job now.
  virtual void require_room(uint32_t context) const = 0;
  // Queues a job. At most one job of a placement is in flight. Jobs of a context end in order.
  virtual void submit(uint32_t context, Placement& placement, const contract::Job& job, JobListener& listener) = 0;
  // Asks the device to stop a job; it ends as kJobCancelled unless it was over already. Nothing for a job that is not
  // in flight.
  virtual void cancel(JobListener& listener) = 0;
  // After cancel(). True: the job is not in flight any more. Waits for one that has to end at once; false for a job
  // that others of its context go before, since they end in order.
  [[nodiscard]] virtual bool stop(JobListener& listener) = 0;
  // Forgets a job without telling it; for a device that cannot be reached.
  virtual void abandon(JobListener& listener) = 0;

  // How long a wait for the device should be.
  [[nodiscard]] virtual std::chrono::nanoseconds slice() const = 0;
  // After a wait of the device that ended so: tells the listeners whose jobs have ended.
  virtual void look(Wakeup wakeup) = 0;

  // Device time; 0 without firmware.
  [[nodiscard]] virtual uint64_t time() = 0;
  virtual void set_power(contract::PowerState state) = 0;
  // Of the persistent SRAM. No job is in flight, as for scrub().
  virtual void set_persistent_power(contract::PsramPower state) = 0;
  struct Scrubbed {
    uint32_t corrected = 0, uncorrectable = 0;
  };
  [[nodiscard]] virtual Scrubbed scrub() = 0;
  // The loss of its contents is known.
  virtual void acknowledge_loss() = 0;
  [[nodiscard]] virtual std::string take_log() = 0;
};

}  // namespace npu::runtime
