// SPDX-License-Identifier: Apache-2.0
// A job on its way through the device: what is written before, and read after.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "driver/compiler/size_table.h"
#include "driver/graph/text.h"
#include "driver/runtime/counters.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/fault.h"
#include "driver/runtime/sizes.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

// What event records are filled with before a job: no record of a device has this opcode.
constexpr uint8_t kNoEvent = 0xff;
constexpr size_t kOpcodeOffset = 7;  // structure `event`

constexpr std::chrono::nanoseconds kStopSlice = std::chrono::milliseconds(100);

// Executions that the device tells apart.
constexpr uint32_t kEpochs = 256;

}  // namespace

JobState::JobState(std::shared_ptr<ProgramState> program_state, const JobOptions& job_options)
    : context(program_state->context),
      program(std::move(program_state)),
      options(job_options),
      inputs(program->program.inputs.size()) {}

// Its memory must not go before the device is done with it. The wait for jobs before it is not under the lock.
JobState::~JobState() {
  std::function<void()> function;  // what it holds may end with it, without the lock
  {
    const Lock lock(device().mutex);
    function.swap(on_complete);
  }
  device().completions.forget(this);
  stop();
  const Lock lock(device().mutex);
  set_collected(true);
}

void JobState::stop() {
  try {
    {
      const Lock lock(device().mutex);
      if (phase != Phase::kRunning) return;
      device().link->cancel(*this);
    }
    for (;;) {
      {
        const Lock lock(device().mutex);
        if (device().link->stop(*this)) return;
      }
      static_cast<void>(device().await(ended, kStopSlice));
    }
  } catch (const std::exception&) {
    // A device that cannot be reached any more runs nothing.
    const Lock lock(device().mutex);
    device().link->abandon(*this);
    if (phase != Phase::kRunning) return;
    program->in_flight = nullptr;
    context->job_ended();
  }
}

void JobState::check_start() {
  const std::vector<compiler::Port>& ports = program->program.inputs;
  std::vector<graph::Shape> shapes;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (inputs[i]) {
      // Of a program that the job ran before, perhaps.
      check_input(program->program.sizes, ports[i], *inputs[i]);
      shapes.push_back(inputs[i]->shape);
      continue;
    }
    throw Error(ErrorCode::kBadInput, fmt::format("input {} ({}) was not set.", graph::in_quotes(ports[i].name),
                                                  describe_port(program->program.sizes, ports[i])));
  }
  program->require_idle();
  if (!sized()) return;
  sizes_ = sizes_of(program->program, shapes);
  values_ = compiler::evaluate(program->program.sizes, sizes_);
  for (const compiler::Port& port : program->program.outputs) static_cast<void>(shape_of(port, values_));
  static_cast<void>(variable_shapes());
}

bool JobState::start() {
  check_start();
  device().link->require_room(context->link_context);
  const bool starts_over = (context->epoch + 1) % kEpochs == 0;
  const bool waits = starts_over || device().variables.depends_on_jobs(context->owner, program->program.variables);
  if (waits && !context->quiet) return false;
  set_collected(true);
  phase = Phase::kFailed;
  failure_ = {std::nullopt, ErrorCode::kWrongOrder, "the job could not be started."};
  outputs.clear();
  result = {};
  if (uses_variables()) {
    device().look_at_persistent();
    context->require_state();
  }
  device().prepare_persistent();
  context->guard_variables([&] {
    VariableManager& variables = device().variables;
    variables.count_late();
    program->bind_variables();
    const std::vector<graph::Shape> shapes = variable_shapes();
    if (sized()) variables.require_sizes(*program->bound_variables, shapes);
    program->begin_variables();
    if (starts_over) variables.forget_seen(context->owner);
    for (size_t i = 0; i < shapes.size(); ++i) variables.bind((*program->bound_variables)[i], shapes[i]);
  });
  if (sized()) program->bring_sizes(sizes_);
  ++context->epoch;
  write_inputs();
  if (options.poison) poison();
  submit();
  return true;
}

std::vector<graph::Shape> JobState::variable_shapes() const {
  std::vector<graph::Shape> shapes;
  if (!sized()) return shapes;
  for (const compiler::Variable& variable : program->program.variables) shapes.push_back(shape_of(variable, values_));
  return shapes;
}

void JobState::submit() {
  contract::Job job = program->job;
  job.epoch = context->epoch;
  epoch_ = static_cast<uint8_t>(job.epoch);
  job.event_capacity = options.events ? program->program.event_capacity : 0;
  job.cycle_limit = options.cycle_limit;
  job.not_before = options.not_before;
  events_seen_ = 0;
  losses_before_ = device().loss_count;
  if (options.events) {
    const DramBlock& events = program->block(ProgramState::kEvents);
    device().hal->fill_memory(events.address(), events.bytes(), kNoEvent);
  }
  device().link->submit(context->link_context, *program->placement, job, *this);
  phase = Phase::kRunning;
  ended = false;
  program->in_flight = this;
  context->job_started();
}

void JobState::write_inputs() {
  const uint64_t base = program->block(ProgramState::kInput).address();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const compiler::Port& port = program->program.inputs[i];
    const size_t bytes = inputs[i]->bytes.size();
    if (bytes > 0) device().hal->write_memory(base + port.offset, inputs[i]->bytes);
    // What is left of a larger one before.
    if (options.poison && bytes < port.bytes) {
      device().hal->fill_memory(base + port.offset + bytes, port.bytes - bytes, kPoison);
    }
  }
}

void JobState::poison() {
  for (const auto which : {ProgramState::kWorkspace, ProgramState::kOutput}) {
    const DramBlock& block = program->block(which);
    if (block.bytes() > 0) device().hal->fill_memory(block.address(), block.bytes(), kPoison);
  }
}

void JobState::job_ended(JobEnd end) {
  NPU_CHECK(phase == Phase::kRunning);
  program->in_flight = nullptr;
  context->job_ended();
  phase = Phase::kFailed;
  failure_ = {std::nullopt, ErrorCode::kBug, "reading the job's results failed."};
  ended = true;
  device().mutex.announce();
  try {
    finish(end);
  } catch (const Error& error) {
    failure_ = {std::nullopt, error.code(), error.what()};
  }
  set_collected(false);
  if (on_complete) device().completions.call(this, on_complete);
}

void JobState::set_collected(bool collected) {
  if (collected == collected_) return;
  collected_ = collected;
  if (collected) {
    device().completions.remove();
  } else {
    device().completions.add();
  }
}

bool JobState::collect() {
  if (phase != Phase::kRunning) set_collected(true);
  return outcome();
}

void JobState::finish(JobEnd& end) {
  switch (end.kind) {
    case JobEnd::Kind::kReset:
      phase = Phase::kReset;
      return;
    case JobEnd::Kind::kFault: {
      note_fault(end.fault);
      FaultText text = describe_fault(end, program->program, device().variables, context->owner, options.cycle_limit);
      failure_ = {text.fault, text.fault.code, std::move(text.message)};
      if (lost_its_state()) note_lost_state();
      return;
    }
    case JobEnd::Kind::kDone:
      if (!lost_its_state()) break;
      note_lost_state();
      return;
  }
  check_counters(end.counters, device().caps, end.cycles);
  result.cycles = end.cycles;
  result.times = end.times;
  result.phases = std::move(end.phases);
  result.counters = end.counters;
  if (options.events) read_events(end.event_count);
  read_outputs();
  device().variables.count_invocation(*program->bound_variables, program->program.variables, epoch_);
  phase = Phase::kDone;
}

// What a fault tells about the persistent SRAM.
void JobState::note_fault(const Fault& fault) {
  if (fault.code == ErrorCode::kFaultEcc) device().variables.note_damage(fault.other);
  // Whatever it was, it may come from a change of power that the driver did not ask for.
  if (uses_variables() || fault.code == ErrorCode::kFaultPower) device().look_at_persistent();
  // A job from before a loss that is known says nothing new.
  if (fault.code == ErrorCode::kPowerLost && losses_before_ == device().loss_count) device().note_loss();
}

bool JobState::lost_its_state() const { return uses_variables() && losses_before_ != device().loss_count; }

// Whatever the device said of a job whose variables went while it was queued or running: it is not known what the job
// has read.
void JobState::note_lost_state() {
  const StateLoss* loss = device().losses.find(context->owner);
  NPU_CHECK(loss != nullptr);  // it cannot be acknowledged while this job is in flight
  // The device's own words about it keep their place in the program.
  const bool told = failure_.fault && failure_.fault->code == ErrorCode::kPowerLost;
  failure_ = {told ? failure_.fault : std::nullopt, ErrorCode::kPowerLost, describe_loss(*loss)};
}

void JobState::read_events(uint64_t recorded) {
  const uint64_t kept = std::min<uint64_t>(recorded, program->program.event_capacity);
  result.events_lost = recorded - kept;
  std::vector<uint8_t> bytes(kept * contract::Event::kBytes);
  if (kept > 0) device().hal->read_memory(program->block(ProgramState::kEvents).address(), bytes);
  result.events.reserve(kept);
  for (uint64_t i = 0; i < kept; ++i) {
    result.events.push_back(contract::Event::load(bytes.data() + i * contract::Event::kBytes));
  }
}

void JobState::read_outputs() {
  if (sized()) compare_results(program->program.sizes, values_, program->placement->read_results());
  const uint64_t base = program->block(ProgramState::kOutput).address();
  for (const compiler::Port& port : program->program.outputs) {
    graph::Value value{port.type, port.shape, {}};
    uint64_t bytes = port.bytes;
    if (!port.sizes.empty()) {
      value.shape = shape_of(port, values_);
      bytes = static_cast<uint64_t>(*graph::element_count(value.shape) * graph::machine_width(port.type));
    }
    value.bytes.resize(bytes);
    if (bytes > 0) device().hal->read_memory(base + port.offset, value.bytes);
    outputs.push_back(std::move(value));
  }
}

bool JobState::outcome() const {
  switch (phase) {
    case Phase::kNew:
      throw Error(ErrorCode::kWrongOrder, "the job was not started.");
    case Phase::kReset:
      throw Error(ErrorCode::kWrongOrder, "the job was stopped by a reset of the device.");
    case Phase::kFailed:
      if (failure_.fault) throw FaultError(*failure_.fault, failure_.message);
      throw Error(failure_.code, failure_.message);
    case Phase::kRunning:
      return false;
    case Phase::kDone:
      break;
  }
  return true;
}

JobListener::Progress JobState::progress() {
  const uint64_t done = commands_done(), all = program->program.command_count;
  // Once the buffer is full, nothing shows whether more commands complete.
  const bool shown = options.events && (done < program->program.event_capacity || done == all);
  // With branches a job may complete more commands than the stream has, or fewer.
  return {done, shown, options.events && !program->branches && done == all};
}

// The device writes a record per completed command, one behind the other, as long as there is room.
uint64_t JobState::commands_done() {
  if (phase != Phase::kRunning || !options.events) return 0;
  constexpr uint64_t kAtOnce = 64;
  std::array<uint8_t, kAtOnce * contract::Event::kBytes> bytes;
  const uint64_t count = program->program.event_capacity;
  while (events_seen_ < count) {
    const uint64_t records = std::min(count - events_seen_, kAtOnce);
    const std::span<uint8_t> piece = std::span(bytes).first(records * contract::Event::kBytes);
    device().hal->read_memory(program->block(ProgramState::kEvents).address() + events_seen_ * contract::Event::kBytes,
                              piece);
    uint64_t written = 0;
    while (written < records && piece[written * contract::Event::kBytes + kOpcodeOffset] != kNoEvent) ++written;
    events_seen_ += written;
    if (written < records) break;
  }
  return events_seen_;
}

}  // namespace npu::runtime
