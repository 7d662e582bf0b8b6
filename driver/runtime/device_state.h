// SPDX-License-Identifier: Apache-2.0
// What the handles of runtime.h share. Every public call takes the device's lock (monitor.h), but no wait for a job
// keeps it from others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driver/runtime/completions.h"
#include "driver/runtime/link.h"
#include "driver/runtime/monitor.h"
#include "driver/runtime/range_allocator.h"
#include "driver/runtime/resident_areas.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/state_losses.h"
#include "driver/runtime/variable_manager.h"

namespace npu::runtime {

// What memory is filled with that a job must not read before it wrote it.
inline constexpr uint8_t kPoison = 0xa5;

using Lock = std::lock_guard<Monitor>;

class DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  DeviceState(std::unique_ptr<Hal> owned_hal, const contract::Capabilities& capabilities, const DeviceOptions& options);

  // Throws Error(kWrongOrder) while jobs are in flight; `call` completes the sentence "cannot ...".
  void require_idle(const std::string& call) const;
  // Lock not held. Lets the device run until `ended` is set, for at most `timeout` of host time.
  [[nodiscard]] bool await(const std::atomic<bool>& ended, std::chrono::nanoseconds timeout);

  // No job is in flight.
  void switch_persistent(contract::PsramPower state);
  // The persistent SRAM has lost its contents: contexts that had variables lose them, and are told.
  void note_loss();
  // Asks the device what state the persistent SRAM is in, which others than the driver may have changed, and notes a
  // loss that was not known. Before each use of variables.
  void look_at_persistent();
  // Before the first allocation after a loss, so that the device can tell of another one.
  void tell_loss();
  // Before a job: switches the persistent SRAM on, and tells the device what only the driver knows.
  void prepare_persistent();

  const std::unique_ptr<Hal> hal;
  const contract::Capabilities caps;
  Monitor mutex;
  RangeAllocator dram;
  ResidentAreas resident;
  const bool sees_core;  // the host reaches the registers of the sequencer: there is no control CPU
  const std::unique_ptr<Link> link;
  VariableManager variables;
  StateLosses losses;
  uint64_t loss_count = 0;        // so far
  bool device_says_lost = false;  // and refuses declarations, until it is told that the driver knows
  std::vector<const ContextState*> open_contexts;
  uint32_t jobs_in_flight = 0;
  uint32_t contexts = 0;    // created so far
  Completions completions;  // the last: its thread uses the others
};

class ContextState {
 public:
  // Throws Error(kContextsFull).
  ContextState(std::shared_ptr<DeviceState> device_state, uint16_t id, const ContextOptions& context_options);
  ~ContextState();
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;

  // Throws Error(kWrongOrder) while a job of this context is in flight.
  void require_quiet(const std::string& call) const;
  // Throws Error(kPowerLost) until a loss of its variables is acknowledged.
  void require_state() const { device->losses.require_none(owner); }
  // Calls `action`, which uses variables. A loss that is found meanwhile ends it with Error(kPowerLost), which names
  // what this context lost, if it did.
  template <typename Action>
  auto guard_variables(Action action) {
    try {
      const VariableManager::Use use(device->variables);
      return action();
    } catch (const Error& error) {
      if (error.code() == contract::ErrorCode::kPowerLost) require_state();
      throw;
    }
  }
  // The same for a public call: looks at the device first.
  template <typename Action>
  auto use_variables(Action action) {
    device->look_at_persistent();
    return guard_variables(action);
  }
  // Throws Error(kWrongOrder) while a job that uses variables is in flight.
  void require_no_stateful_job(const std::string& call) const;
  void job_started();
  void job_ended();

  const std::shared_ptr<DeviceState> device;
  const uint16_t owner;
  const ContextOptions options;
  const uint32_t link_context;  // its number at the link
  uint32_t jobs_in_flight = 0;
  std::atomic<bool> quiet = true;       // none is
  uint32_t epoch = 0;                   // of the last execution
  std::vector<ProgramState*> programs;  // loaded now
};

// A piece of device memory. Without bytes there is none.
class DramBlock {
 public:
  DramBlock() = default;
  ~DramBlock();
  DramBlock(DramBlock&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), bytes_(other.bytes_), address_(other.address_) {}
  DramBlock& operator=(DramBlock&&) = delete;

  // Of one that has none.
  void assign(DeviceState& device, uint64_t bytes, uint64_t address) {
    device_ = &device;
    bytes_ = bytes;
    address_ = address;
  }
  [[nodiscard]] bool allocated() const { return device_ != nullptr; }
  [[nodiscard]] uint64_t address() const { return address_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  DeviceState* device_ = nullptr;
  uint64_t bytes_ = 0, address_ = 0;
};

class ProgramState {
 public:
  // Order of the blocks in memory; but the tables of segments and of sizes, which only firmware needs, lie as high as
  // the control CPU sees, so that the others lie where they would without firmware.
  enum Block : uint8_t {
    kConstants,
    kCommands,
    kWorkspace,
    kInput,
    kOutput,
    kEvents,
    kSave,
    kSegments,
    kSizes,
    kBlockCount
  };

  // Checks, allocates and writes; throws what Context::load documents.
  ProgramState(std::shared_ptr<ContextState> context_state, compiler::Program loaded);
  ~ProgramState();
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;

  // Makes sure that all variables are allocated and the commands in device memory name their table entries. Not while a
  // job of this program is in flight.
  void bind_variables();
  // Before a job: the variables that it is the first to declare get this program's initial values.
  void begin_variables();
  // LoadedProgram::require_idle(), with the device's lock held.
  void require_idle() const;
  // Before a job of a program for sizes within bounds, behind bind_variables(): a value a symbol.
  void bring_sizes(std::span<const int64_t> sizes);
  [[nodiscard]] const DramBlock& block(Block which) const { return blocks[which]; }

  const std::shared_ptr<ContextState> context;
  const compiler::Program program;
  const bool branches;  // the stream goes anywhere but straight on
  std::vector<DramBlock> blocks;
  ResidentAreas::Area resident;  // of constants that stay; the number is also that of the table of sizes
  // Table index of each variable, as the commands in device memory name it; nullopt before they are written.
  std::optional<std::vector<uint32_t>> bound_variables;
  uint64_t bound_generation = 0;  // of the variable manager when they were looked up
  uint64_t begun_generation = 0;  // and when a job was about to declare them
  contract::Job job;              // what is the same in all runs
  std::unique_ptr<Placement> placement;
  const JobState* in_flight = nullptr;

 private:
  void write_commands(std::span<const uint32_t> commands);
  void forget_sizes();

  // That the driver has written the commands for, on a device without control CPU; nullopt: for the largest.
  std::optional<std::vector<int64_t>> written_sizes;
};

class JobState final : public JobListener {
 public:
  JobState(std::shared_ptr<ProgramState> program_state, const JobOptions& job_options);
  ~JobState() override;
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  // False: the context must be quiet first (its epochs start over, or jobs in flight decide on initial values).
  [[nodiscard]] bool start();
  // True when the job has ended well; throws what Job::wait documents.
  [[nodiscard]] bool outcome() const;
  // The same for a caller that is told: what has ended is collected.
  [[nodiscard]] bool collect();
  void job_ended(JobEnd end) override;
  [[nodiscard]] Progress progress() override;
  [[nodiscard]] uint64_t commands_done();

  enum class Phase : uint8_t { kNew, kRunning, kDone, kFailed, kReset };
  // Not an exception object: each waiting thread throws its own.
  struct Failure {
    std::optional<Fault> fault;
    contract::ErrorCode code = contract::ErrorCode::kOk;
    std::string message;
  };

  const std::shared_ptr<ContextState> context;
  std::shared_ptr<ProgramState> program;  // of this context; the same from a start to its end
  const JobOptions options;
  std::vector<std::optional<graph::Value>> inputs;
  std::vector<graph::Value> outputs;
  RunResult result;
  Phase phase = Phase::kNew;
  std::atomic<bool> ended = false;
  std::function<void()> on_complete;

 private:
  void check_start();
  void set_collected(bool collected);
  void stop();
  // Of a program for sizes within bounds: the variables' shapes by these.
  [[nodiscard]] std::vector<graph::Shape> variable_shapes() const;
  void write_inputs();
  void poison();
  void submit();
  [[nodiscard]] bool sized() const { return !program->program.sizes.empty(); }
  void finish(JobEnd& end);
  void note_fault(const Fault& fault);
  [[nodiscard]] bool uses_variables() const { return !program->program.variables.empty(); }
  // Was a loss found since the start of a job that needs variables?
  [[nodiscard]] bool lost_its_state() const;
  void note_lost_state();
  void read_events(uint64_t recorded);
  void read_outputs();
  [[nodiscard]] DeviceState& device() const { return *context->device; }

  Failure failure_;
  // Of the last start, where sizes are not fixed: those of the symbols, and all values.
  std::vector<int64_t> sizes_;
  compiler::SizeValues values_;
  bool collected_ = true;       // its last end was told
  uint64_t losses_before_ = 0;  // of the device when it was started
  uint8_t epoch_ = 0;           // of its execution, as the table of variables counts them
  uint64_t events_seen_ = 0;    // records that commands_done() has found
};

}  // namespace npu::runtime
