// What the handles of runtime.h share. Every public call locks the device; the lock is recursive because handles may be
// released inside a call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/runtime/range_allocator.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/variable_manager.h"

namespace npu::runtime {

// What memory is filled with that a job must not read before it wrote it.
inline constexpr uint8_t kPoison = 0xa5;

using Lock = std::lock_guard<std::recursive_mutex>;

class DeviceState {
 public:
  DeviceState(std::unique_ptr<Hal> owned_hal, const contract::Capabilities& capabilities);

  // Throws Error(kWrongOrder) while a job runs; `call` completes the sentence "cannot ...".
  void require_idle(const std::string& call) const;
  void reset(uint32_t control_bit);
  // Number of the next execution.
  uint32_t next_epoch();

  std::recursive_mutex mutex;
  std::unique_ptr<Hal> hal;
  const contract::Capabilities caps;
  RangeAllocator dram;
  VariableManager variables;
  JobState* running = nullptr;
  uint32_t epoch = 0;
  uint32_t contexts = 0;  // created so far
};

class ContextState {
 public:
  ContextState(std::shared_ptr<DeviceState> device_state, uint16_t id, const ContextOptions& context_options)
      : device(std::move(device_state)), owner(id), options(context_options) {}
  ~ContextState();
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;

  // Throws Error(kWrongOrder) while a job of this context runs.
  void require_quiet(const std::string& call) const;

  const std::shared_ptr<DeviceState> device;
  const uint16_t owner;
  const ContextOptions options;
};

// A piece of device memory.
class DramBlock {
 public:
  DramBlock(DeviceState& device, uint64_t bytes, uint64_t address)
      : device_(&device), bytes_(bytes), address_(address) {}
  ~DramBlock();
  DramBlock(DramBlock&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), bytes_(other.bytes_), address_(other.address_) {}
  DramBlock& operator=(DramBlock&&) = delete;

  [[nodiscard]] uint64_t address() const { return address_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  DeviceState* device_;
  uint64_t bytes_, address_;
};

class ProgramState {
 public:
  // Order of the blocks in memory.
  enum Block : uint8_t { kConstants, kCommands, kWorkspace, kInput, kOutput, kEvents, kBlockCount };

  // Checks, allocates and writes; throws what Context::load documents.
  ProgramState(std::shared_ptr<ContextState> context_state, compiler::Program loaded);
  ~ProgramState();
  ProgramState(const ProgramState&) = delete;
  ProgramState& operator=(const ProgramState&) = delete;

  // Makes sure that all variables are allocated and the commands in device memory name their table entries.
  void bind_variables();
  [[nodiscard]] const DramBlock& block(Block which) const { return blocks[which]; }

  const std::shared_ptr<ContextState> context;
  const compiler::Program program;
  std::vector<DramBlock> blocks;
  std::vector<bool> relocation_is_declare;  // per entry of variable_relocations
  // Table index of each variable, as the commands in device memory name it; nullopt before they are written.
  std::optional<std::vector<uint32_t>> bound_variables;
};

class JobState {
 public:
  JobState(std::shared_ptr<ProgramState> program_state, const JobOptions& job_options);
  ~JobState();
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  void start();
  // One slice of waiting; true when the job has ended.
  bool wait_slice(std::chrono::nanoseconds slice);
  // The device stopped under the job.
  void stopped_by_reset();

  enum class Phase : uint8_t { kNew, kRunning, kDone, kFailed, kReset };

  const std::shared_ptr<ProgramState> program;
  const JobOptions options;
  std::vector<std::optional<graph::Value>> inputs;
  std::vector<graph::Value> outputs;
  RunResult result;
  Phase phase = Phase::kNew;

 private:
  void write_inputs();
  void poison();
  void write_job_registers();
  void finish();
  [[nodiscard]] DeviceState& device() const { return *program->context->device; }
};

}  // namespace npu::runtime
