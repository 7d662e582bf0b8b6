// SPDX-License-Identifier: Apache-2.0
// Reaches a device through its firmware (docs/architecture/firmware.md): requests in rings, doorbells, interrupts or
// polling, and a new start when the firmware has stopped.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/runtime/control_cpu.h"
#include "driver/runtime/firmware_log.h"
#include "driver/runtime/job_watch.h"
#include "driver/runtime/link.h"
#include "driver/runtime/placed_job.h"
#include "driver/runtime/ring.h"
#include "driver/runtime/shared_memory.h"

namespace npu::runtime {

class FirmwareLink final : public Link {
 public:
  // `shared_base`, `shared_bytes`: DRAM below 2 GiB for this link alone. Throws Error for a bad image or option.
  FirmwareLink(Hal& hal, const contract::Capabilities& caps, const DeviceOptions& options, uint64_t shared_base,
               uint64_t shared_bytes);

  void restart(bool cold) override;
  [[nodiscard]] uint32_t open_context(uint16_t owner, uint32_t priority) override;
  void close_context(uint32_t context) override;
  [[nodiscard]] std::unique_ptr<Placement> place(const contract::Job& job, const compiler::SizeTable& sizes) override;
  void require_room(uint32_t context) const override;
  void submit(uint32_t context, Placement& placement, const contract::Job& job, JobListener& listener) override;
  void cancel(JobListener& listener) override;
  [[nodiscard]] bool stop(JobListener& listener) override;
  void abandon(JobListener& listener) override;
  [[nodiscard]] std::chrono::nanoseconds slice() const override;
  void look(Wakeup wakeup) override;
  [[nodiscard]] uint64_t time() override { return cpu_.time(); }
  void set_power(contract::PowerState state) override;
  void set_persistent_power(contract::PsramPower state) override;
  [[nodiscard]] Scrubbed scrub() override;
  void acknowledge_loss() override;
  [[nodiscard]] std::string take_log() override;

  void write_entries(std::span<const Write> writes) override;
  [[nodiscard]] std::vector<contract::VariableEntry> read_entries(std::span<const uint32_t> indices) override;

 private:
  static constexpr uint32_t kPhaseRecords = 2048;

  // A run request that has not been completed.
  struct Flight {
    uint32_t id = 0;
    JobListener* listener = nullptr;  // null: abandoned, and `placed` is gone
    PlacedJob* placed = nullptr;
    uint64_t submitted = 0;
  };
  struct ContextRing {
    ContextRing(Hal& hal, SharedMemory::Piece piece, uint32_t number, uint16_t owner_id, uint32_t context_priority);
    SharedMemory::Piece memory;
    Ring ring;
    uint16_t owner;
    uint32_t priority;
    std::deque<Flight> flights;
    bool corrupt = false;  // says the firmware
  };

  // Those that end in `_once` throw FirmwareGone; the others start the firmware again then, and throw
  // Error(kFaultFirmware).
  template <typename Action>
  auto guarded(Action action) {
    require_alive();
    try {
      return action();
    } catch (const FirmwareGone& gone) {
      const std::string story = gone.what() + cpu_.hold_and_describe();
      recover(story);
      require_alive();
      throw Error(contract::ErrorCode::kFaultFirmware, story + ". It was started again; variables keep their values.");
    }
  }
  void boot_once(bool cold);
  void open_ring_once(ContextRing& ring, uint32_t number);
  std::vector<contract::RingCompletion> exchange_once(std::span<contract::RingRequest> requests);
  // All of them must succeed; otherwise throws Error with the code and `what` was refused.
  std::vector<contract::RingCompletion> exchange(std::span<contract::RingRequest> requests, std::string_view what);
  contract::RingCompletion request(contract::RingRequest request, std::string_view what);
  void collect_once();
  void collect_rest();
  void collect_ring_once(ContextRing& ring, uint32_t number, std::optional<uint64_t>& now);
  void reopen_corrupt_once();

  void require_alive() const;
  [[nodiscard]] bool in_flight() const;
  // Of the control CPU, for the sizes of the jobs in flight.
  [[nodiscard]] uint64_t sizes_cycles() const;
  void watch_jobs_once();
  void recover(const std::string& story);
  [[nodiscard]] std::vector<Flight> take_flights();
  // The end of all of them.
  template <typename Flights>
  static void tell(const Flights& flights, const JobEnd& end) {
    for (const Flight& flight : flights) {
      if (flight.listener != nullptr) flight.listener->job_ended(end);
    }
  }
  [[nodiscard]] JobEnd end_of(const Flight& flight, const contract::RingCompletion& completion, uint64_t now);
  [[nodiscard]] std::vector<FirmwarePhase> take_phases();
  // Ring number and request id of a job in flight.
  [[nodiscard]] std::optional<std::pair<uint32_t, uint32_t>> find(const JobListener& listener) const;
  // Lets the device run until `done`; `what` it did not do otherwise, for Patience.
  void wait_once(Patience& patience, std::string_view what, const std::function<bool()>& done);

  Hal& hal_;
  const uint32_t log_level_;
  ControlCpu cpu_;
  SharedMemory shared_;
  const SharedMemory::Piece admin_memory_, log_memory_, phase_memory_;
  Ring admin_;
  std::vector<contract::RingCompletion> admin_completions_;
  FirmwareLog log_;
  bool laid_out_ = false;                            // ring 0 is there
  std::vector<std::unique_ptr<ContextRing>> rings_;  // by ring number; 0 is not used
  uint32_t next_id_ = 1;
  uint32_t phases_taken_ = 0;
  uint64_t jobs_ended_ = 0;
  Standstill standstill_;  // since a job ended last
  JobWatch job_watch_;     // since a job was submitted or ended last
  std::string dead_;       // why the firmware could not be started again; empty: it runs
};

}  // namespace npu::runtime
