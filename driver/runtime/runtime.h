// SPDX-License-Identifier: Apache-2.0
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
// Handles share ownership: a context keeps its device open, a program its context, a job its program.
// Jobs of one context run in order, one at a time; jobs of several contexts share the device, the more urgent first.
// User-visible mistakes and device faults throw npu::Error with a code of hw/contract/errors.yaml.
//
// Threads: every call may come from any thread at any time, on the same handles too, with two exceptions. A handle must
// not be assigned to, moved from or destroyed while another thread uses that very object (copies of it are fine). The
// results of result(), outputs(), output() and program() are references into the job or program: they stay valid until
// the job is started again, and until the last handle is gone. Calls are served in the order in which they come; a wait
// for a job keeps no other call waiting, and any number of threads may wait, for the same job or for several. A job of
// which the last handle goes while it is in flight is cancelled; the destructor waits for its end, which for a queued
// job comes after those before it in its context.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/graph/value.h"
#include "driver/runtime/hal.h"
#include "driver/runtime/snapshot.h"
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

// The firmware entered a phase of its work.
struct FirmwarePhase {
  uint64_t time = 0;  // device time
  contract::Phase phase = contract::Phase::kIdle;
  uint32_t ring = 0;  // of the request it was about, or 0
};

// The times of a job around its stream. Device time is in cycles of the engines' clock. All 0 without firmware.
struct JobTimes {
  uint64_t submitted = 0;        // device time of the doorbell
  uint64_t accepted = 0;         // the firmware took the request
  uint64_t started = 0;          // its stream started first
  uint64_t ended = 0;            // the firmware saw its end
  uint64_t completed = 0;        // the driver was told
  uint64_t firmware_cycles = 0;  // of the control CPU's clock, busy between accepted and completion
  uint64_t blocked = 0;          // ready, but a job of lower priority had to stop and be saved first
  uint32_t preemptions = 0;      // how often it was interrupted itself
  uint64_t save_cycles = 0;      // engine cycles of saving and restoring it
  uint64_t saved_bytes = 0;
  uint32_t loads = 0;        // of constants that stay in the scratchpad; 0: they were there
  uint64_t load_cycles = 0;  // engine cycles of that, beside RunResult::cycles
};

struct RunResult {
  uint64_t cycles = 0;  // in which the stream ran; 0 in functional mode
  JobTimes times;
  std::vector<FirmwarePhase> phases;    // of the firmware, since the result before of any job
  std::vector<contract::Event> events;  // one a completed command, as the device wrote them
  uint64_t events_lost = 0;             // commands that completed when all records were full
  Counters counters;
};

// A device's record of the command that stopped a job.
struct Fault {
  contract::ErrorCode code = contract::ErrorCode::kOk;
  uint32_t command = 0;  // index in the stream
  // kFaultHazard: the other command; variable faults: the table index; faults of sizes: the number of the symbol,
  // condition or rule.
  uint32_t other = 0;
  contract::Queue queue = contract::Queue::kSequencer;
  contract::Address address;  // at fault
  uint64_t cycle = 0;         // of the job
  // The layer of the command, by its number in the job's program and its name; nullopt where the fault is not about
  // one.
  std::optional<uint32_t> layer;
  std::string layer_name;
};

// A job that the device stopped. The message names engine, command, layer, address and cycle, and for variable faults
// the variable.
// For kFaultTimeout it says which queue waits for which, for kFaultFirmware it holds a symbolised backtrace.
class FaultError : public Error {
 public:
  FaultError(const Fault& fault, const std::string& message) : Error(fault.code, message), fault_(fault) {}
  [[nodiscard]] const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
};

struct ContextOptions {
  // The device prefers jobs of contexts with a larger priority, and interrupts others for them. 0 to 255.
  uint32_t priority = 0;
  // A variable without initial value starts as zeros that count as written, instead of as unwritten.
  bool zero_init = false;
  // A variable that a program writes gets two places, so that an interrupted write leaves its old value. Without, it is
  // torn then.
  bool double_buffer = false;
};

// How a driver opens a device.
struct DeviceOptions {
  // Image for the control CPU (firmware_header, then code); empty: the one that this library was built with.
  std::vector<uint8_t> firmware = {};
  // Its symbols for backtraces: lines "ADDRESS NAME" as nm prints them, hexadecimal; empty with the built-in image: its
  // own.
  std::string firmware_symbols = {};
  // Drive the sequencer directly, on a device without control CPU. To measure what the firmware costs.
  bool bypass_firmware = false;
  // Look into memory now and then instead of enabling interrupts.
  bool polling = false;
  uint32_t log_level = 2;  // of the firmware; see the contract's `ring`
};

struct JobOptions {
  // Fill workspace and outputs with a pattern before the job, so that a result can never be a leftover.
  bool poison = true;
  // Let the device record an event per command.
  bool events = true;
  // Cycles after which the device stops the job with kFaultTimeout; 0: never. After a power-up of the persistent SRAM,
  // those count in which it clears itself.
  uint64_t cycle_limit = uint64_t{1} << 36;
  // Device time before which the device does not start the job, nor later jobs of its context; 0: at once.
  uint64_t not_before = 0;
};

// A variable of a context as it lies in the device.
struct VariableInfo {
  std::string identity;     // graph::variable_identity
  std::string tensor_name;  // in the program that declared it first
  graph::DType type = graph::DType::kUnknown;
  // A dimension is kOpenSize (variable_sizes.h) while a program leaves it open and no job has brought it so far.
  graph::Shape shape;
  graph::Shape largest;  // of a variable whose sizes jobs bring: what it has room for; else empty
  uint32_t bytes = 0;    // of the shape, with the largest of open dimensions
  uint32_t room = 0;     // bytes of the largest sizes, which each of its places has
  uint64_t offset = 0;   // in the persistent SRAM; with in_dram: address in DRAM
  uint32_t index = 0;    // in the variable table
  bool is_written = false;
  bool in_dram = false;
  bool double_buffered = false;  // has a second place behind the first
  // A write of it was interrupted and left neither the old nor the new value. It cannot be read until it is written
  // whole (write_variable(), restore(), or a program that writes it before it reads it) or cleared.
  bool torn = false;
  // The last writer: a layer of the program (compiler::Layer::name), "host" for write_variable(), "snapshot" for
  // restore(). Empty: not written since it was allocated.
  std::string last_writer;
  uint64_t invocations = 0;  // jobs that declared it and ended well, since it was allocated
};

struct MemoryUse {
  uint64_t dram_bytes = 0, dram_used = 0;              // of the whole device
  uint64_t persistent_bytes = 0, persistent_used = 0;  // without the variable table
  uint32_t variable_entries = 0, variables = 0;        // of the variable table
  uint64_t state_dram_used = 0;                        // by variables in DRAM; part of dram_used
};

// The variables that a context lost with the power of the persistent SRAM.
struct StateLoss {
  std::vector<std::string> identities;  // of its variables, in order
};
using StateListener = std::function<void(const StateLoss&)>;

// Of the persistent SRAM's error correction, since the device was opened or cold reset.
struct EccCounts {
  uint32_t corrected = 0;      // wrong bits that were corrected
  uint32_t uncorrectable = 0;  // how often a word with two wrong bits was read
};

struct ScrubResult {
  uint32_t corrected = 0;      // wrong bits that this scrub corrected
  uint32_t uncorrectable = 0;  // words with two wrong bits that it found
  // Identities of the variables that these words belong to, by table index; where several contexts have one of that
  // name: "name (context 3)", with its owner().
  std::vector<std::string> damaged;
};

class Device {
 public:
  // Takes over a device, brings it to its first state (a cold reset: persistent memory is empty afterwards) and boots
  // its firmware. Throws Error: kContractMismatch when it is no NPU, speaks another version of the contract, or
  // contradicts itself; kBadFirmware for a damaged image; kFirmwareMismatch when image, device and driver do not speak
  // the same version; kFaultFirmware when the firmware does not get ready.
  [[nodiscard]] static Device open(std::unique_ptr<Hal> hal, const DeviceOptions& options = {});

  [[nodiscard]] const contract::Capabilities& capabilities() const;
  // Not with bypass_firmware. The compiler wants to know (compiler::Options::firmware).
  [[nodiscard]] bool has_firmware() const;
  [[nodiscard]] MemoryUse memory_use() const;

  // A context owns variables; contexts never see each other's. Throws Error(kContextsFull) beyond 15 contexts at a
  // time, kVariableTableFull beyond 65,535 in all.
  [[nodiscard]] Context create_context(const ContextOptions& options = {});

  // Stops all jobs (their wait() then throws kWrongOrder), clears faults and counters and boots the firmware again.
  // Variables keep their values, contexts and programs stay usable. The driver does this by itself when the firmware
  // has stopped: jobs in flight then fail with kFaultFirmware.
  void soft_reset();
  // As soft_reset, and forgets every variable of every context. Loaded programs stay usable.
  void cold_reset();

  // Device time in cycles of the engines' clock; 0 without firmware.
  [[nodiscard]] uint64_t time();
  // For event loops (poll, epoll): readable while a job has ended whose end no Job::wait() has told, or while the
  // device cannot be reached. From the first call on a thread of the library lets the device run while jobs are in
  // flight. It stays the device's: it must not be read or closed.
  [[nodiscard]] int completion_descriptor();
  // Power of engines and scratchpad; a job wakes a sleeping device. Throws Error(kWrongOrder) while jobs are in flight.
  void set_power(contract::PowerState state);
  // Power of the persistent SRAM. In retention variables keep their values, but cannot be read, and new ones cannot be
  // allocated (kFaultPower); a job switches it on by itself. Off: every context that has variables loses them, see
  // Context::state_lost(). Throws Error(kWrongOrder) while jobs are in flight.
  void set_persistent_power(contract::PsramPower state);
  [[nodiscard]] contract::PsramPower persistent_power();
  // Reads all of the persistent SRAM and corrects single wrong bits. Throws Error(kWrongOrder) while jobs are in
  // flight, kFaultPower unless it is on.
  [[nodiscard]] ScrubResult scrub();
  [[nodiscard]] EccCounts ecc_counts();
  // The firmware's log since the last call, whole lines. Empty without firmware.
  [[nodiscard]] std::string take_firmware_log();

  // A register that the contract gives to the host, for test hooks.
  [[nodiscard]] uint32_t read_register(uint32_t offset);
  void write_register(uint32_t offset, uint32_t value);

  // Device memory as a debugger sees it. Throws Error(kFaultBus) outside of it, kWrongOrder while a job runs.
  void read_memory(uint64_t address, std::span<uint8_t> bytes);
  void write_memory(uint64_t address, std::span<const uint8_t> bytes);

 private:
  explicit Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<DeviceState> state_;
};

class Context {
 public:
  // The id of the context's variables in the device.
  [[nodiscard]] uint16_t owner() const;

  // Places a program in device memory and its variables in persistent SRAM: a variable that the context has already
  // keeps its place and value, a new one gets its initial value. Nothing stays allocated on failure.
  // Throws Error: kContractMismatch when compiled for other capabilities or another contract; kVariableMismatch naming
  // both declarations; kDramFull, kPersistentFull, kVariableTableFull with the numbers and the smallest change that
  // fits; for programs with variables kPowerLost and, when some have to be allocated, kFaultPower; kWrongOrder when one
  // has to change its place while a job of this context is in flight.
  [[nodiscard]] LoadedProgram load(compiler::Program program);
  // LoadedProgram::blocking_cycles() of a program, before it is loaded.
  [[nodiscard]] uint64_t blocking_cycles(const compiler::Program& program) const;

  // All calls about variables also throw Error(kPowerLost) naming them when the context lost its variables
  // (state_lost()), kFaultPower while the persistent SRAM is in retention or off, and kFaultEcc naming those that
  // cannot be read for two wrong bits in a word. Without control CPU each of them, and load(), asks the device first
  // whether the memory has lost its power or was switched to another state, whatever the cause; behind one its
  // registers are the firmware's, and an unasked loss is found by the next job that uses variables. A call that
  // finds a loss midway throws kPowerLost; variables that load() was about to allocate then count as lost.

  // Variables that are allocated now, by table index.
  [[nodiscard]] std::vector<VariableInfo> variables() const;
  // The bytes of a variable. Throws Error(kVariableUndeclared) for an unknown identity, kWrongOrder while a job of this
  // context is in flight, kVariableUnwritten for one that was never written nor initialised (also when its first write
  // was interrupted), kVariableTorn for another torn one.
  [[nodiscard]] graph::Value read_variable(std::string_view identity) const;
  // Overwrites them, marks the variable as written. Throws also kVariableMismatch (type, shape), kBadInput (elements).
  void write_variable(std::string_view identity, const graph::Value& value);

  // De-allocates all variables, or one: the next job that declares it applies its initial value again. Throws
  // Error(kWrongOrder) while a job of this context is in flight, kVariableUndeclared for an unknown identity.
  void clear();
  void clear(std::string_view identity);

  // All variables of the context with their contents. A variable that was never written is unwritten in the snapshot,
  // too, also when its first write was interrupted. Throws Error(kWrongOrder) while a job of this context is in flight,
  // kVariableTorn naming a written one that is torn.
  [[nodiscard]] Snapshot snapshot(std::string label = {}) const;
  // Gives every variable of the context the content that it has in the snapshot; one that is unwritten there starts as
  // after clear(): with its initial value, or unwritten, and open where programs leave sizes open, whatever size the
  // snapshot says. A cleared variable that a loaded program declares is allocated again. Throws Error(kBadSnapshot)
  // naming the variables that only one of both has, or that are declared differently, kSizeOutOfBounds naming a written
  // one that is larger than a program for sizes within bounds allows, kWrongOrder while a job of this context is in
  // flight, and what load() throws for new variables; all of them before it writes anything.
  void restore(const Snapshot& snapshot);

  // Whether the persistent SRAM was without power while the context had variables. They are gone: every call about
  // them, and every job of a program with variables, fails until the loss is acknowledged. Then they start as after
  // clear().
  [[nodiscard]] bool state_lost() const;
  // Does nothing without a loss. Throws Error(kWrongOrder) while a job from before it that uses variables is
  // in flight, since it would write the variables that start anew; wait for it (it ends as kPowerLost), or cancel it
  // and wait.
  void acknowledge_loss();
  // `listener` is called once a loss, by the thread whose call found it, before that call returns or throws, and
  // without the device's lock: it may call anything but destroy handles that are in use. It must not throw. An id for
  // remove_listener(); listeners also go with the last handle of the context.
  uint64_t on_state_lost(StateListener listener);
  void remove_listener(uint64_t id);

 private:
  friend class Device;
  friend class LoadedProgram;
  explicit Context(std::shared_ptr<ContextState> state) : state_(std::move(state)) {}
  std::shared_ptr<ContextState> state_;
};

// A program in device memory; leaves it when the last handle (jobs included) is gone.
class LoadedProgram {
 public:
  [[nodiscard]] const compiler::Program& program() const;
  [[nodiscard]] Job create_job(const JobOptions& options = {}) const;
  // Throws Error(kWrongOrder) while a job of it is in flight, as the start of another one does.
  void require_idle() const;

  // Whether a job of it exists, or another handle like this one: then its device memory stays when this one goes.
  [[nodiscard]] bool in_use() const { return state_.use_count() > 1; }

  // Device address of a byte of the program's constants, for tests that damage it. Throws Error(kBadOption) behind the
  // last one.
  [[nodiscard]] uint64_t constant_address(uint64_t offset) const;
  // Device memory that the program takes: constants, commands, workspace, inputs, outputs, events, tables.
  [[nodiscard]] uint64_t dram_bytes() const;
  // Device cycles for which a job of higher priority waits at most for a job of this program to stop: the compiler's
  // estimate of the longest restore, segment and save, and what the firmware takes. 0 without firmware.
  [[nodiscard]] uint64_t blocking_cycles() const;

 private:
  friend class Context;
  friend class Job;
  explicit LoadedProgram(std::shared_ptr<ProgramState> state) : state_(std::move(state)) {}
  std::shared_ptr<ProgramState> state_;
};

// One execution of a program at a time; may be started again and again. Inputs stay set until they are replaced.
class Job {
 public:
  // Type and shape must be the port's; a dimension that is open (compiler::Port::sizes) is any size within its bounds,
  // and the bytes are those of that shape. Throws Error(kBadInput) naming the port, kSizeOutOfBounds naming port,
  // dimension, size and bounds.
  void set_input(std::string_view name, const graph::Value& value);
  void set_input(size_t index, graph::Value value);

  // From its next start on the job runs this program: of the same context, with inputs and outputs of the same names,
  // types and ranks, as for other sizes of a graph that was compiled for bounds. All else stays: inputs, on_complete(),
  // what became of the last execution. Throws Error(kWrongOrder) while the job is in flight, kBadOption for a program
  // that is not like that.
  void change_program(const LoadedProgram& program);

  // Starts the job and waits for its end. Throws what start() and wait() throw.
  RunResult run();

  // Queues the job behind the jobs of its context. Throws Error(kBadInput) when an input was never set, what
  // set_input() throws for one that does not fit a program that has changed, kSizeMismatch naming the rule and the
  // sizes when those of the inputs do not fit each other, kWrongOrder while a job of the same program is in flight
  // (they share its memory), kQueueFull when the context's ring is full, and what Context::load throws for variables
  // that have to be allocated anew. Once in 256 jobs of a context it waits for the end of those before.
  void start();
  // Lets the device run for at most `timeout` of host time; true when the job has ended. Throws FaultError when the
  // device stopped it (kJobCancelled: cancel() did), Error(kFaultCounters) when its counters break an identity,
  // kWrongOrder when it was not started or was stopped by a reset. A timeout of 0 looks, and lets a simulated device
  // run for 10 us of device time: a loop that only looks comes to an end, too.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout);
  // `function` is called after each end of the job from now on, however it ended, and instead of the one before; an
  // empty one: none. One thread of the library calls the functions of all jobs of a device, one after the other,
  // without the device's lock: a function may use any handle, start the job again, wait for others and give up its own
  // job; the others are called when it has returned. It must not throw. When on_complete() has returned, the function
  // before is not called any more, nor is it being called, except when on_complete() was called in it; the same holds
  // for the last handle of the job.
  void on_complete(std::function<void()> function);
  // Asks the device to stop the job, queued or running; wait() tells how it ended. Nothing happens unless it is in
  // flight.
  void cancel();

  // Commands that the device has completed so far, of Program::command_count; for progress. Those of a loop count in
  // each iteration, those of a block that does not run never. 0 when the job does not run
  // or records no events; Program::event_capacity at most.
  [[nodiscard]] uint64_t commands_done() const;

  // Of the last execution; throw Error(kWrongOrder) unless it ended well, kBadInput for an unknown output. Outputs have
  // the shapes that follow from the sizes of the inputs.
  [[nodiscard]] const RunResult& result() const;
  [[nodiscard]] const std::vector<graph::Value>& outputs() const;
  [[nodiscard]] const graph::Value& output(std::string_view name) const;

 private:
  friend class LoadedProgram;
  explicit Job(std::shared_ptr<JobState> state) : state_(std::move(state)) {}
  std::shared_ptr<JobState> state_;
};

}  // namespace npu::runtime
