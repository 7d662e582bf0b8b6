// The driver's public API: open a device, make a context, load programs, run jobs. The same code drives every device
// that implements hal.h.
//
//   Device device = Device::open(std::move(hal));
//   Context context = device.create_context();
//   LoadedProgram program = context.load(compiler::compile(graph, device.capabilities(), {}));
//   Job job = program.create_job();
//   job.set_input("TosaInput_0", value);
//   RunResult result = job.run();
//   graph::Value probability = job.output("TosaOutput_0");
//
// Handles share ownership of what they need: a context keeps its device open, a program its context, a job its program.
// All calls are safe from any thread; a device runs one job at a time. User-visible mistakes and device faults throw
// npu::Error with a code of hw/contract/errors.yaml.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/graph/value.h"
#include "driver/runtime/hal.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {

class DeviceState;
class ContextState;
class ProgramState;
class JobState;
class Context;
class LoadedProgram;
class Job;

// The performance counters of one job, as the device counted them.
class Counters {
 public:
  [[nodiscard]] uint64_t get(contract::Queue queue, contract::Counter counter) const {
    return values_[contract::counter_index(static_cast<uint32_t>(queue), counter)];
  }
  void set(contract::Queue queue, contract::Counter counter, uint64_t value) {
    values_[contract::counter_index(static_cast<uint32_t>(queue), counter)] = value;
  }
  // Sum over all queues.
  [[nodiscard]] uint64_t total(contract::Counter counter) const;

  friend bool operator==(const Counters&, const Counters&) = default;

 private:
  std::array<uint64_t, contract::reg::kCounterCount> values_{};
};

struct RunResult {
  uint64_t cycles = 0;                  // from start to end of the job; 0 in functional mode
  std::vector<contract::Event> events;  // one a completed command, as the device wrote them
  uint64_t events_lost = 0;             // records that did not fit into the event buffer
  Counters counters;
};

// What a device said about the command that stopped a job.
struct Fault {
  contract::ErrorCode code = contract::ErrorCode::kOk;
  uint32_t command = 0;  // index in the stream
  uint32_t other = 0;    // kFaultHazard: the other command; variable faults: the table index
  contract::Queue queue = contract::Queue::kSequencer;
  contract::Address address;  // at fault
  uint64_t cycle = 0;         // of the job
};

// A job that the device stopped. The message names engine, command, layer, address and cycle, and for variable faults
// the variable.
class FaultError : public Error {
 public:
  FaultError(const Fault& fault, const std::string& message) : Error(fault.code, message), fault_(fault) {}
  [[nodiscard]] const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
};

struct ContextOptions {
  // A variable without initial value starts as zeros that count as written, instead of as unwritten.
  bool zero_init = false;
};

struct JobOptions {
  // Fill workspace and outputs with a pattern before the job, so that a result can never be a leftover.
  bool poison = true;
  // Let the device record an event per command.
  bool events = true;
  // Cycles after which the device stops the job with kFaultTimeout; 0: never.
  uint64_t cycle_limit = uint64_t{1} << 36;
};

// A variable of a context as it lies in the device.
struct VariableInfo {
  std::string identity;     // graph::variable_identity
  std::string tensor_name;  // in the program that declared it first
  graph::DType type = graph::DType::kUnknown;
  graph::Shape shape;
  uint32_t bytes = 0;
  uint32_t offset = 0;  // in the persistent SRAM
  uint32_t index = 0;   // in the variable table
  bool is_written = false;
};

struct MemoryUse {
  uint64_t dram_bytes = 0, dram_used = 0;              // of the whole device
  uint64_t persistent_bytes = 0, persistent_used = 0;  // without the variable table
  uint32_t variable_entries = 0, variables = 0;        // of the variable table
};

class Device {
 public:
  // Takes over a device and brings it to its first state (a cold reset: persistent memory is empty afterwards).
  // Throws Error(kContractMismatch) when it is no NPU, speaks another version of the contract, or contradicts itself.
  [[nodiscard]] static Device open(std::unique_ptr<Hal> hal);

  [[nodiscard]] const contract::Capabilities& capabilities() const;
  [[nodiscard]] MemoryUse memory_use() const;

  // A context owns variables; contexts never see each other's. Throws Error(kVariableTableFull) beyond 65,535 contexts.
  [[nodiscard]] Context create_context(const ContextOptions& options = {});

  // Stops a running job (its wait() then throws kWrongOrder) and clears faults and counters. Variables keep their
  // values.
  void soft_reset();
  // As soft_reset, and forgets every variable of every context. Loaded programs stay usable.
  void cold_reset();

  // Device memory as a debugger sees it. Throws Error(kFaultBus) outside of it, kWrongOrder while a job runs.
  void read_memory(uint64_t address, std::span<uint8_t> bytes);
  void write_memory(uint64_t address, std::span<const uint8_t> bytes);

 private:
  explicit Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<DeviceState> state_;
};

class Context {
 public:
  // Id that the device knows the context's variables by.
  [[nodiscard]] uint16_t owner() const;

  // Places a program in device memory and its variables in persistent SRAM: a variable that the context has already
  // keeps its place and value, a new one gets its initial value. Nothing stays allocated on failure.
  // Throws Error: kContractMismatch when compiled for other capabilities or another contract; kVariableMismatch naming
  // both declarations; kDramFull, kPersistentFull, kVariableTableFull with the numbers and the smallest change that
  // fits; kWrongOrder while the device runs a job.
  [[nodiscard]] LoadedProgram load(compiler::Program program);

  // Variables that are allocated now, by table index.
  [[nodiscard]] std::vector<VariableInfo> variables() const;
  // The bytes of a variable in persistent SRAM, written or not. Throws Error(kVariableUndeclared) for an unknown
  // identity, kWrongOrder while a job runs.
  [[nodiscard]] graph::Value read_variable(std::string_view identity) const;
  // Overwrites them and marks the variable as written. Throws also Error(kVariableMismatch) for another type or shape.
  void write_variable(std::string_view identity, const graph::Value& value);

  // De-allocates all variables, or one: the next job that declares it applies its initial value again. Throws
  // Error(kWrongOrder) while a job of this context runs, kVariableUndeclared for an unknown identity.
  void clear();
  void clear(std::string_view identity);

 private:
  friend class Device;
  explicit Context(std::shared_ptr<ContextState> state) : state_(std::move(state)) {}
  std::shared_ptr<ContextState> state_;
};

// A program in device memory; leaves it when the last handle (jobs included) is gone.
class LoadedProgram {
 public:
  [[nodiscard]] const compiler::Program& program() const;
  [[nodiscard]] Job create_job(const JobOptions& options = {}) const;

  // Device address of a byte of the program's constants, for tests that damage it. Throws Error(kBadOption) behind the
  // last one.
  [[nodiscard]] uint64_t constant_address(uint64_t offset) const;
  // Device memory that the program takes: constants, commands, workspace, inputs, outputs, events.
  [[nodiscard]] uint64_t dram_bytes() const;

 private:
  friend class Context;
  explicit LoadedProgram(std::shared_ptr<ProgramState> state) : state_(std::move(state)) {}
  std::shared_ptr<ProgramState> state_;
};

// One execution of a program at a time; may be started again and again. Inputs stay set until they are replaced.
// Destroying a running job stops it.
class Job {
 public:
  // Type and shape must be the port's. Throws Error(kBadInput) naming the port.
  void set_input(std::string_view name, const graph::Value& value);
  void set_input(size_t index, const graph::Value& value);

  // Starts the job and waits for its end. Throws what start() and wait() throw.
  RunResult run();

  // Throws Error(kBadInput) when an input was never set, kWrongOrder while the device runs a job, and what
  // Context::load throws for variables that have to be allocated anew.
  void start();
  // Lets the device run for at most `timeout` of host time; true when the job has ended. Throws FaultError when the
  // device stopped it, Error(kFaultCounters) when its counters break an identity, kWrongOrder when it was not started
  // or was stopped by a reset.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout);

  // Commands that the device has completed so far, of Program::command_count; for progress. 0 when the job does not run
  // or records no events.
  [[nodiscard]] uint64_t commands_done() const;

  // Of the last execution; throw Error(kWrongOrder) unless it ended well, kBadInput for an unknown output.
  [[nodiscard]] const RunResult& result() const;
  [[nodiscard]] const std::vector<graph::Value>& outputs() const;
  [[nodiscard]] const graph::Value& output(std::string_view name) const;

 private:
  friend class LoadedProgram;
  explicit Job(std::shared_ptr<JobState> state) : state_(std::move(state)) {}
  std::shared_ptr<JobState> state_;
};

}  // namespace npu::runtime
