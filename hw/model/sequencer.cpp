// SPDX-License-Identifier: Apache-2.0
#include "hw/model/sequencer.h"

#include <algorithm>

#include "hw/contract/overloaded.h"
#include "hw/model/validate.h"
#include "hw/timing/sequencer_cycles.h"

namespace npu::model {

using contract::Counter;
using contract::ErrorCode;

Sequencer::Sequencer(const sc_core::sc_module_name& name, Machine& machine, std::vector<QueueUnit*> units,
                     std::function<void(uint64_t)> ended)
    : sc_module(name),
      machine_(machine),
      units_(std::move(units)),
      ended_(std::move(ended)),
      fetch_(machine),
      hazards_(machine.config.caps),
      accesses_(timing::TableAccesses::of(machine.config.caps)),
      decoded_(machine.agenda),
      timeout_(machine.agenda) {
  SC_HAS_PROCESS(Sequencer);
  SC_THREAD(run);
  SC_METHOD(on_timeout);
  sensitive << timeout_.event();
  dont_initialize();
  machine_.job.on_abort([this] {
    fetch_.wake();
    machine_.progress.notify(sc_core::SC_ZERO_TIME);
  });
}

namespace {

// What saves and restores has the region `save`; what goes on has words behind it, or a scratchpad with constants.
bool begins_job(const JobRegisters& registers) {
  const RegionEntry& save = registers.regions[static_cast<size_t>(contract::Region::kSave)];
  return registers.command_start == 0 && save.space == contract::Space::kNone && !registers.keep_scratchpad;
}

}  // namespace

void Sequencer::start(const JobRegisters& registers) {
  if (machine_.config.job_begins && begins_job(registers)) machine_.config.job_begins();
  machine_.clock.restart();
  machine_.agenda.begin_job();
  machine_.job.begin(registers);
  machine_.jitter.begin_job();
  machine_.scoreboard.begin_job();
  machine_.counters.clear();
  const RegionEntry& scratchpad = registers.regions[static_cast<size_t>(contract::Region::kScratchpad)];
  if (!registers.keep_scratchpad) machine_.scratchpad.poison(scratchpad.base, scratchpad.limit);
  // What is to be written there anew was somebody else's until now.
  const RegionEntry& resident = registers.regions[static_cast<size_t>(contract::Region::kResident)];
  if (resident.space == contract::Space::kScratchpad && resident.writable) {
    machine_.scratchpad.poison(resident.base, resident.limit);
  }
  const engine::VariableTable::Job job{registers.owner, registers.epoch};
  persistent_ = machine_.persistent.begin_job(job);
  machine_.address_map.begin_job(registers.regions, job);
  machine_.interconnect.begin_job();
  machine_.table_port.begin_job();
  machine_.memory.begin_job();
  machine_.events.begin_job(registers.event_base, registers.event_capacity, registers.cycle_base);
  for (QueueUnit* unit : units_) {
    if (unit != nullptr) unit->begin_job();
  }
  hazards_.begin_job();
  fetch_.begin_job(registers.command_base, 4 * uint64_t{std::min(registers.command_start, registers.command_words)},
                   4 * uint64_t{registers.command_words});
  accounted_ = 0;
  index_ = 0;
  header_ = {};
  header_.queue = contract::Queue::kSequencer;
  first_ = true;
  landing_ = false;
  executed_ = repeats_ = 0;
  waiting_ = Waiting::kStream;
  if (machine_.config.job_started) machine_.config.job_started();
  if (machine_.clock.timed() && registers.cycle_limit > 0) timeout_.set(registers.cycle_limit);
  start_.notify(sc_core::SC_ZERO_TIME);
}

void Sequencer::run() {
  for (;;) {
    wait(start_);
    run_stream();
    if (machine_.job.aborting()) drain_aborted();
    timeout_.cancel();
    spend(Counter::kIdle);
    const uint64_t cycles = machine_.clock.now();
    for (QueueUnit* unit : units_) {
      if (unit != nullptr) unit->end_job();
    }
    machine_.job.end();
    if (machine_.brownout.take_struck()) machine_.scratchpad.lose();
    ended_(cycles);
    ended_event_.notify(sc_core::SC_ZERO_TIME);
  }
}

void Sequencer::run_stream() {
  const JobRegisters& job = machine_.job.registers();
  if (job.command_base % 64 != 0 || job.command_start > job.command_words) {
    fault(ErrorCode::kFaultBadCommand);
    return;
  }
  if (!persistent_.verdict.ok()) {
    fault_verdict(persistent_.verdict, 0);
    return;
  }
  if (!wait_for_persistent()) return;
  fetch_.begin();
  if (!operate(accesses_.begin_job(persistent_.cleared))) return;
  for (;; ++index_) {
    if (!next_command()) return;
    DecodedCommand command;
    const Words words(words_.data(), header_.words);
    const ErrorCode error = check_command(words, machine_.config.caps, command);
    if (error != ErrorCode::kOk) {
      fault(error);
      return;
    }
    if (!dispatch(command)) return;
    // Without time the whole job would be one moment, and no other process of the simulation would run.
    if (!machine_.clock.timed() && ++executed_ % 64 == 0) wait(machine_.clock.period());
  }
}

// The persistent SRAM may still clear itself or scrub.
bool Sequencer::wait_for_persistent() {
  const uint64_t left = machine_.persistent_busy.left();
  if (left == 0) return true;
  const uint64_t end = machine_.clock.now() + left;
  while (machine_.clock.now() < end && !machine_.job.aborting()) {
    decoded_.set(end);
    wait(decoded_.event() | machine_.progress);
  }
  spend(Counter::kStalled);
  return !machine_.job.aborting();
}

// The time of an operation on the variable table. False when the job is aborted.
bool Sequencer::operate(const timing::TableOperation& operation) {
  machine_.table_port.operate(kSequencerQueue, operation);
  spend(Counter::kBusy);
  return !machine_.job.aborting();
}

void Sequencer::drain_aborted() {
  machine_.memory.flush();
  const auto idle = [](const QueueUnit* unit) { return unit == nullptr || unit->idle(); };
  while (!std::all_of(units_.begin(), units_.end(), idle)) wait(machine_.progress);
  machine_.memory.flush();
  if (!machine_.memory.idle()) wait(kDrainCycles * machine_.clock.period(), machine_.memory.idle_event());
}

void Sequencer::on_timeout() { fault(ErrorCode::kFaultTimeout); }

void Sequencer::report_stuck() { fault(ErrorCode::kFaultToken); }

bool Sequencer::fetch(uint32_t bytes) {
  if (fetch_.left() < bytes) return fault(ErrorCode::kFaultBadCommand);
  if (!machine_.clock.timed()) {
    if (!fetch_.fetch_now(bytes)) return fault(ErrorCode::kFaultBus);
    return true;
  }
  while (!fetch_.ready(bytes)) {
    if (machine_.job.aborting()) return false;
    if (fetch_.failed()) return fault(ErrorCode::kFaultBus);
    wait(fetch_.event() | machine_.progress);
  }
  return !machine_.job.aborting();
}

bool Sequencer::next_command() {
  header_ = {};
  header_.queue = contract::Queue::kSequencer;
  waiting_ = Waiting::kStream;
  if (!fetch(4 * contract::kHeaderWords)) return false;
  fetch_.peek(std::span(words_.data(), contract::kHeaderWords));
  const uint32_t words = contract::command_words(words_);
  if (words < contract::kHeaderWords || words > contract::kMaxCommandWords) return fault(ErrorCode::kFaultBadCommand);
  if (!fetch(4 * words)) return false;
  fetch_.peek(std::span(words_.data(), words));
  header_ = contract::Header::decode(words_);
  fetch_.take(4 * words);
  waiting_ = Waiting::kNothing;
  spend(Counter::kStalled);
  decode_started_ = machine_.clock.now();
  wait_cycles(timing::decode_cycles(words));
  spend(Counter::kBusy);
  return !machine_.job.aborting();
}

bool Sequencer::issue(DecodedCommand& command) {
  const auto queue = static_cast<uint32_t>(header_.queue);
  QueueUnit& unit = *units_[queue];
  while (unit.full()) {
    waiting_ = Waiting::kRoom;
    wait(machine_.progress);
    if (machine_.job.aborting()) return false;
  }
  spend(Counter::kStalled);

  IssuedCommand& slot = unit.slot();
  slot.index = index_;
  slot.header = header_;
  slot.asked = {};
  slot.variables.clear();
  footprint_.clear();
  collect_footprint(command, footprint_);
  std::visit(Overloaded{
                 [&](engine::Tile& tile) { slot.tile = std::move(tile); },
                 [](const contract::DmaCommand&) {},  // resolve() keeps it
                 [](const Skipped&) {},
                 // The sequencer executes these itself.
                 [](const contract::BeginCommand&) { NPU_CHECK(false); },
                 [](const contract::EndCommand&) { NPU_CHECK(false); },
                 [](const contract::DeclareCommand&) { NPU_CHECK(false); },
                 [](const contract::YieldCommand&) { NPU_CHECK(false); },
                 [](const contract::LabelCommand&) { NPU_CHECK(false); },
                 [](const contract::BranchCommand&) { NPU_CHECK(false); },
             },
             command);
  hazards_.issue(queue, index_, header_.wait);
  for (const StridedAccess& access : footprint_) {
    if (!check_access(access, slot)) return false;
  }
  if (!check_entries(slot) || !check_coverage(slot)) return false;
  if (const auto* dma = std::get_if<contract::DmaCommand>(&command)) resolve(*dma, slot);
  for (const VariableUse& use : slot.variables) {
    if (use.commit) machine_.address_map.commit_issued(use.index);
  }
  for (size_t i = 0; i < slot.variables.size(); ++i) {
    if (!operate(accesses_.check())) return false;
  }
  slot.targets = machine_.scoreboard.targets(header_.wait);
  machine_.scoreboard.issue(queue);
  slot.issued_cycle = machine_.clock.now();
  unit.push();
  return true;
}

bool Sequencer::fault(ErrorCode code, uint32_t other) {
  Fault fault;
  fault.code = code;
  fault.command = index_;
  fault.other = other;
  fault.queue = static_cast<uint32_t>(header_.queue);
  machine_.job.fault(fault);
  return false;
}

bool Sequencer::fault_verdict(const PersistentSram::Verdict& verdict, uint32_t index) {
  const uint32_t entry = verdict.error == ErrorCode::kFaultEcc ? verdict.entry : index;
  return fault_at(verdict.error, {0, contract::Region::kVariable, static_cast<uint16_t>(entry)}, 0, entry);
}

bool Sequencer::fault_at(ErrorCode code, const contract::Address& address, uint64_t offset, uint32_t other) {
  Fault fault;
  fault.code = code;
  fault.command = index_;
  fault.other = other;
  fault.queue = static_cast<uint32_t>(header_.queue);
  fault.at(address, offset);
  machine_.job.fault(fault);
  return false;
}

QueueState Sequencer::state() const {
  QueueState state;
  if (!machine_.job.running()) return state;
  state.bursts = fetch_.bursts();
  if (waiting_ == Waiting::kStream) return state;
  state.holding = true;
  state.command = index_;
  state.executing = waiting_ == Waiting::kNothing;
  const Scoreboard& scoreboard = machine_.scoreboard;
  uint32_t missing = contract::kEngineQueues;
  if (waiting_ == Waiting::kRoom) missing = static_cast<uint32_t>(header_.queue);
  if (waiting_ == Waiting::kTokens) missing = scoreboard.missing(scoreboard.targets(header_.wait));
  if (waiting_ == Waiting::kQueues) missing = scoreboard.missing(scoreboard.all_issued());
  if (missing != contract::kEngineQueues) state.waits_for = missing;
  return state;
}

void Sequencer::wait_cycles(uint64_t cycles) {
  if (!machine_.clock.timed()) return;
  const uint64_t end = machine_.clock.now() + cycles;
  while (machine_.clock.now() < end) {
    decoded_.set(end);
    wait(decoded_.event());
  }
}

void Sequencer::spend(Counter counter) {
  const uint64_t now = machine_.clock.now();
  machine_.counters.add(kSequencerQueue, counter, now - accounted_);
  accounted_ = now;
}

}  // namespace npu::model
