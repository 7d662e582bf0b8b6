#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "driver/graph/text.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/fault.h"
#include "driver/runtime/runtime.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::Region;
namespace reg = contract::reg;

// A wait gives other threads a chance at the device this often.
constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(100);

constexpr uint32_t kReadable = reg::kRegionFlagsReadableMask;
constexpr uint32_t kWritable = reg::kRegionFlagsWritableMask;

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

std::string describe(graph::DType type, const graph::Shape& shape) {
  return fmt::format("{}{}", graph::name(type), graph::to_string(shape));
}

std::string names_of(std::span<const compiler::Port> ports) {
  std::string text;
  for (const compiler::Port& port : ports) text += (text.empty() ? "" : ", ") + graph::in_quotes(port.name);
  return text.empty() ? "none" : text;
}

size_t find_port(std::span<const compiler::Port> ports, std::string_view name, std::string_view what) {
  const auto port = std::find_if(ports.begin(), ports.end(), [&](const auto& p) { return p.name == name; });
  if (port == ports.end()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the program has no {} {}; there are {}.", what, graph::in_quotes(name), names_of(ports)));
  }
  return static_cast<size_t>(port - ports.begin());
}

}  // namespace

JobState::JobState(std::shared_ptr<ProgramState> program_state, const JobOptions& job_options)
    : program(std::move(program_state)), options(job_options), inputs(program->program.inputs.size()) {}

JobState::~JobState() {
  const Lock lock(device().mutex);
  if (device().running != this) return;
  try {
    device().reset(reg::kControlSoftResetMask);
  } catch (const std::exception&) {
    device().running = nullptr;
  }
}

void JobState::start() {
  device().require_idle("start a job");
  const std::vector<compiler::Port>& ports = program->program.inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!inputs[i]) {
      throw Error(ErrorCode::kBadInput, fmt::format("input {} ({}) was not set.", graph::in_quotes(ports[i].name),
                                                    describe(ports[i].type, ports[i].shape)));
    }
  }
  phase = Phase::kFailed;
  outputs.clear();
  result = {};
  program->bind_variables();
  write_inputs();
  if (options.poison) poison();
  write_job_registers();
  device().hal->write_register(reg::kControl, reg::kControlStartMask);
  phase = Phase::kRunning;
  device().running = this;
}

void JobState::write_inputs() {
  const uint64_t base = program->block(ProgramState::kInput).address();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->bytes.empty()) continue;
    device().hal->write_memory(base + program->program.inputs[i].offset, inputs[i]->bytes);
  }
}

void JobState::poison() {
  for (const auto which : {ProgramState::kWorkspace, ProgramState::kOutput}) {
    const DramBlock& block = program->block(which);
    if (block.bytes() > 0) device().hal->fill_memory(block.address(), block.bytes(), kPoison);
  }
}

void JobState::write_job_registers() {
  Hal& hal = *device().hal;
  const uint32_t epoch = device().next_epoch();
  const auto write_wide = [&](uint32_t offset_low, uint32_t offset_high, uint64_t value) {
    hal.write_register(offset_low, low(value));
    hal.write_register(offset_high, high(value));
  };
  const auto map = [&](Region region, uint64_t base, uint64_t bytes, contract::Space space, uint32_t rights) {
    const auto index = static_cast<uint32_t>(region);
    write_wide(reg::region_base_lo(index), reg::region_base_hi(index), base);
    hal.write_register(reg::region_limit(index), low(bytes));
    // An empty region is not mapped, so that naming it is a fault.
    const uint32_t flags = static_cast<uint32_t>(space) << reg::kRegionFlagsSpaceLsb | rights;
    hal.write_register(reg::region_flags(index), bytes == 0 ? 0 : flags);
  };
  const auto map_block = [&](Region region, ProgramState::Block which, uint32_t rights) {
    const DramBlock& block = program->block(which);
    map(region, block.address(), block.bytes(), contract::Space::kDram, rights);
  };
  map(Region::kScratchpad, 0, device().caps.spm_bytes, contract::Space::kScratchpad, kReadable | kWritable);
  map_block(Region::kConstants, ProgramState::kConstants, kReadable);
  map_block(Region::kWorkspace, ProgramState::kWorkspace, kReadable | kWritable);
  map_block(Region::kInput, ProgramState::kInput, kReadable);
  map_block(Region::kOutput, ProgramState::kOutput, kReadable | kWritable);

  write_wide(reg::kCommandBaseLo, reg::kCommandBaseHi, program->block(ProgramState::kCommands).address());
  hal.write_register(reg::kCommandWords, static_cast<uint32_t>(program->program.main_words));
  write_wide(reg::kEventBaseLo, reg::kEventBaseHi, program->block(ProgramState::kEvents).address());
  hal.write_register(reg::kEventCapacity, options.events ? program->program.command_count : 0);
  write_wide(reg::kCycleLimitLo, reg::kCycleLimitHi, options.cycle_limit);
  hal.write_register(reg::kJobOwner, program->context->owner);
  hal.write_register(reg::kJobEpoch, epoch);
  hal.write_register(reg::kIrqStatus, reg::kIrqStatusJobMask);
  hal.write_register(reg::kIrqEnable, reg::kIrqEnableJobMask);
}

bool JobState::wait_slice(std::chrono::nanoseconds slice) {
  switch (phase) {
    case Phase::kNew:
    case Phase::kFailed:
      throw Error(ErrorCode::kWrongOrder, "the job was not started, or failed before.");
    case Phase::kReset:
      throw Error(ErrorCode::kWrongOrder, "the job was stopped by a reset of the device.");
    case Phase::kDone:
      return true;
    case Phase::kRunning:
      break;
  }
  Hal& hal = *device().hal;
  try {
    if (!hal.wait_interrupt(slice)) return false;
    hal.write_register(reg::kIrqStatus, reg::kIrqStatusJobMask);
    if ((hal.read_register(reg::kStatus) & reg::kStatusRunningMask) != 0) return false;
    device().running = nullptr;
    phase = Phase::kFailed;
    finish();
  } catch (...) {
    device().running = nullptr;
    phase = Phase::kFailed;
    throw;
  }
  phase = Phase::kDone;
  return true;
}

void JobState::finish() {
  Hal& hal = *device().hal;
  if ((hal.read_register(reg::kStatus) & reg::kStatusDoneMask) == 0) {
    const Fault fault = read_fault(hal);
    hal.write_register(reg::kControl, reg::kControlSoftResetMask);
    throw fault_error(fault, program->program, device().variables, options.cycle_limit);
  }
  result.cycles = hal.read_register(reg::kJobCyclesLo);
  result.cycles |= uint64_t{hal.read_register(reg::kJobCyclesHi)} << 32;
  result.counters = read_counters(hal, device().caps, result.cycles);
  if (options.events) {
    const uint64_t recorded = hal.read_register(reg::kEventCount);
    const uint64_t kept = std::min<uint64_t>(recorded, program->program.command_count);
    result.events_lost = recorded - kept;
    std::vector<uint8_t> bytes(kept * contract::Event::kBytes);
    if (kept > 0) hal.read_memory(program->block(ProgramState::kEvents).address(), bytes);
    for (uint64_t i = 0; i < kept; ++i) {
      result.events.push_back(contract::Event::load(bytes.data() + i * contract::Event::kBytes));
    }
  }
  const uint64_t base = program->block(ProgramState::kOutput).address();
  for (const compiler::Port& port : program->program.outputs) {
    graph::Value value{port.type, port.shape, std::vector<uint8_t>(port.bytes)};
    if (port.bytes > 0) hal.read_memory(base + port.offset, value.bytes);
    outputs.push_back(std::move(value));
  }
}

void JobState::stopped_by_reset() { phase = Phase::kReset; }

void Job::set_input(std::string_view name, const graph::Value& value) {
  set_input(find_port(state_->program->program.inputs, name, "input"), value);
}

void Job::set_input(size_t index, const graph::Value& value) {
  const Lock lock(state_->program->context->device->mutex);
  const std::vector<compiler::Port>& ports = state_->program->program.inputs;
  if (index >= ports.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the program has {} inputs; there is no input {}.", ports.size(), index));
  }
  const compiler::Port& port = ports[index];
  if (value.type != port.type || value.shape != port.shape || value.bytes.size() != port.bytes) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("input {} takes {}, not {} in {} bytes.", graph::in_quotes(port.name),
                            describe(port.type, port.shape), describe(value.type, value.shape), value.bytes.size()));
  }
  state_->inputs[index] = value;
}

RunResult Job::run() {
  start();
  while (!wait(std::chrono::hours(1))) {
  }
  return state_->result;
}

void Job::start() {
  const Lock lock(state_->program->context->device->mutex);
  state_->start();
}

bool Job::wait(std::chrono::nanoseconds timeout) {
  for (;;) {
    const std::chrono::nanoseconds slice = std::min(timeout, kSlice);
    {
      const Lock lock(state_->program->context->device->mutex);
      if (state_->wait_slice(slice)) return true;
    }
    timeout -= slice;
    if (timeout <= std::chrono::nanoseconds::zero()) return false;
  }
}

uint64_t Job::commands_done() const {
  DeviceState& device = *state_->program->context->device;
  const Lock lock(device.mutex);
  const bool counts = state_->phase == JobState::Phase::kRunning && state_->options.events;
  return counts ? device.hal->read_register(reg::kEventCount) : 0;
}

const RunResult& Job::result() const {
  const Lock lock(state_->program->context->device->mutex);
  if (state_->phase != JobState::Phase::kDone) {
    throw Error(ErrorCode::kWrongOrder, "the job has no result: it has not ended, or it failed.");
  }
  return state_->result;
}

const std::vector<graph::Value>& Job::outputs() const {
  static_cast<void>(result());
  return state_->outputs;
}

const graph::Value& Job::output(std::string_view name) const {
  const std::vector<graph::Value>& values = outputs();
  return values[find_port(state_->program->program.outputs, name, "output")];
}

}  // namespace npu::runtime
