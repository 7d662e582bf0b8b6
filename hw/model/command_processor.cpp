#include "hw/model/command_processor.h"

#include <algorithm>

#include "hw/model/validate.h"

namespace npu::model {

using contract::Counter;
using contract::ErrorCode;
using contract::Space;
using engine::Access;

CommandProcessor::CommandProcessor(const sc_core::sc_module_name& name, Machine& machine, std::vector<QueueUnit*> units,
                                   std::function<void(uint64_t)> ended)
    : sc_module(name),
      machine_(machine),
      units_(std::move(units)),
      ended_(std::move(ended)),
      fetch_(machine),
      hazards_(machine.config.caps),
      decoded_(machine.agenda),
      timeout_(machine.agenda) {
  SC_HAS_PROCESS(CommandProcessor);
  SC_THREAD(run);
  SC_METHOD(on_timeout);
  sensitive << timeout_.event();
  dont_initialize();
  machine_.job.on_abort([this] {
    fetch_.wake();
    machine_.progress.notify(sc_core::SC_ZERO_TIME);
  });
}

void CommandProcessor::start(const JobRegisters& registers) {
  machine_.clock.restart();
  machine_.agenda.begin_job();
  machine_.job.begin(registers);
  machine_.jitter.begin_job();
  machine_.scoreboard.begin_job();
  machine_.counters.clear();
  machine_.scratchpad.begin_job(registers.keep_scratchpad);
  const engine::VariableTable::Job job{registers.owner, registers.epoch};
  damaged_entry_ = machine_.persistent.begin_job(job);
  machine_.address_map.begin_job(registers.regions, job);
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
  waiting_ = Waiting::kStream;
  if (machine_.config.job_started) machine_.config.job_started();
  if (machine_.clock.timed() && registers.cycle_limit > 0) timeout_.set(registers.cycle_limit);
  start_.notify(sc_core::SC_ZERO_TIME);
}

void CommandProcessor::run() {
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

void CommandProcessor::run_stream() {
  const JobRegisters& job = machine_.job.registers();
  if (job.command_base % 64 != 0 || job.command_start > job.command_words) {
    fault(ErrorCode::kFaultBadCommand);
    return;
  }
  if (damaged_entry_) {
    fault_entry(*damaged_entry_);
    return;
  }
  if (!wait_for_persistent()) return;
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
    // Without time the whole job would be one moment, and nobody else in the simulation would get to run.
    if (!machine_.clock.timed() && index_ % 64 == 63) wait(machine_.clock.period());
  }
}

// The persistent SRAM may still clear itself or scrub.
bool CommandProcessor::wait_for_persistent() {
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

void CommandProcessor::drain_aborted() {
  machine_.memory.flush();
  const auto idle = [](const QueueUnit* unit) { return unit == nullptr || unit->idle(); };
  while (!std::all_of(units_.begin(), units_.end(), idle)) wait(machine_.progress);
  machine_.memory.flush();
  if (!machine_.memory.idle()) wait(kDrainCycles * machine_.clock.period(), machine_.memory.idle_event());
}

void CommandProcessor::on_timeout() { fault(ErrorCode::kFaultTimeout); }

void CommandProcessor::report_stuck() { fault(ErrorCode::kFaultToken); }

bool CommandProcessor::fetch(uint32_t bytes) {
  if (fetch_.left() < bytes) return fault(ErrorCode::kFaultBadCommand);
  if (!machine_.clock.timed()) {
    if (!fetch_.fetch_now(bytes)) return fault(ErrorCode::kFaultBus);
    return true;
  }
  while (!fetch_.ready(bytes)) {
    if (machine_.job.aborting()) return false;
    wait(fetch_.event());
    if (fetch_.failed()) return fault(ErrorCode::kFaultBus);
  }
  return !machine_.job.aborting();
}

bool CommandProcessor::next_command() {
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
  wait_cycles((words + kWordsPerCycle - 1) / kWordsPerCycle);
  spend(Counter::kBusy);
  return !machine_.job.aborting();
}

bool CommandProcessor::issue(const DecodedCommand& command) {
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
  std::copy_n(words_.begin(), header_.words, slot.words.begin());
  slot.issued_cycle = machine_.clock.now();
  slot.asked = {};
  slot.variables.clear();
  if (const auto* dma = std::get_if<contract::DmaCommand>(&command)) slot.dma = *dma;

  footprint_.clear();
  collect_footprint(command, footprint_);
  if (footprint_.work > kMaxTileWork) return fault(ErrorCode::kFaultBadCommand);
  hazards_.issue(queue, index_, header_.wait);
  for (const StridedAccess& access : footprint_.accesses) {
    if (!check_access(access, slot)) return false;
  }
  for (const VariableUse& use : slot.variables) {
    if (use.commit) machine_.address_map.commit_issued(use.index);
  }
  slot.targets = machine_.scoreboard.targets(header_.wait);
  machine_.scoreboard.issue(queue);
  unit.push();
  return true;
}

// Rights and limits, then hazards, of one access; notes in `slot` what it means for the command.
bool CommandProcessor::check_access(const StridedAccess& access, IssuedCommand& slot) {
  const contract::Address& base = access.base;
  const bool read = access.access == Access::kRead;
  const bool variable = base.region == contract::Region::kVariable;
  const uint32_t other = variable ? base.variable : 0;
  if (variable && other < machine_.persistent.table().entries()) {
    if (const auto wrong = machine_.persistent.read_row_of(other)) return fault_entry(*wrong);
  }

  const Window window = machine_.address_map.window(base, access.access);
  if (window.error != ErrorCode::kOk) return fault_at(window.error, base, base.offset, other);
  const bool dma = slot.header.opcode == contract::Opcode::kDma;
  if (!dma && window.space == Space::kDram) return fault_at(ErrorCode::kFaultAccessRight, base, base.offset, other);

  int64_t low = 0, high = 0;
  const auto limit = static_cast<int64_t>(window.limit);
  if (!span_of(access, low, high)) return fault_at(ErrorCode::kFaultOutOfBounds, base, base.offset, other);
  low += base.offset;
  high += base.offset;
  if (low < 0) return fault_at(ErrorCode::kFaultOutOfBounds, base, static_cast<uint64_t>(low), other);
  if (high > limit) return fault_at(ErrorCode::kFaultOutOfBounds, base, static_cast<uint64_t>(high) - 1, other);
  const uint64_t bytes = access.total_bytes();
  ByteSet set;
  if (bytes > kMaxBytesMoved || !byte_set(access, window.base + base.offset, set) || set.runs() > kMaxRuns) {
    return fault_at(ErrorCode::kFaultBadCommand, base, base.offset);
  }
  if (window.space == Space::kDram && reserved(set.low, set.high, !read)) {
    return fault_at(ErrorCode::kFaultHazard, base, static_cast<uint64_t>(low), index_);
  }
  if (window.space == Space::kDram && !variable && machine_.address_map.of_variable(set.low, set.high)) {
    return fault_at(ErrorCode::kFaultAccessRight, base, static_cast<uint64_t>(low));
  }
  // Bytes that the command also writes are checked as writes, which are stricter. Of a variable with two places it
  // writes others than it reads.
  const bool same = !variable || machine_.address_map.window(base, Access::kWrite).base == window.base;
  if (!read || !access.in_place || !same) {
    const Conflict conflict = hazards_.access(window.space, set, access.access);
    if (conflict.error != ErrorCode::kOk) {
      return fault_at(conflict.error, base, conflict.address - window.base, conflict.other);
    }
  }

  slot.asked.moved(window.space, read, bytes);
  if (variable) note_use(access, window, set, slot);
  if (dma) (read ? slot.dma_src : slot.dma_dst) = window;
  return true;
}

// Two parts of a variable that one command writes are one write of it.
void CommandProcessor::note_use(const StridedAccess& access, const Window& window, const ByteSet& bytes,
                                IssuedCommand& slot) {
  VariableUse use{access.base.variable, access.access, access.commit, window, bytes};
  for (const VariableUse& before : slot.variables) {
    if (before.index == use.index && before.commit) use.commit = false;
  }
  slot.variables.push_back(use);
}

// The stream is read, and the event buffer written, behind the back of the tokens.
bool CommandProcessor::reserved(uint64_t low, uint64_t high, bool write) const {
  const JobRegisters& job = machine_.job.registers();
  const auto overlaps = [&](uint64_t base, uint64_t bytes) { return bytes > 0 && low < base + bytes && base < high; };
  return (write && overlaps(job.command_base, uint64_t{job.command_words} * 4)) ||
         overlaps(job.event_base, uint64_t{job.event_capacity} * contract::Event::kBytes);
}

bool CommandProcessor::fault(ErrorCode code, uint32_t other) {
  Fault fault;
  fault.code = code;
  fault.command = index_;
  fault.other = other;
  fault.queue = static_cast<uint32_t>(header_.queue);
  machine_.job.fault(fault);
  return false;
}

bool CommandProcessor::fault_entry(uint32_t entry) {
  return fault_at(ErrorCode::kFaultEcc, {0, contract::Region::kVariable, static_cast<uint16_t>(entry)}, 0, entry);
}

bool CommandProcessor::fault_at(ErrorCode code, const contract::Address& address, uint64_t offset, uint32_t other) {
  Fault fault;
  fault.code = code;
  fault.command = index_;
  fault.other = other;
  fault.queue = static_cast<uint32_t>(header_.queue);
  fault.at(address, offset);
  machine_.job.fault(fault);
  return false;
}

QueueState CommandProcessor::state() const {
  QueueState state;
  if (!machine_.job.running()) return state;
  state.bursts = fetch_.bursts();
  if (waiting_ == Waiting::kStream) return state;
  state.holding = true;
  state.command = index_;
  state.executing = waiting_ == Waiting::kNothing;
  const Scoreboard& scoreboard = machine_.scoreboard;
  uint32_t missing = kQueues;
  if (waiting_ == Waiting::kRoom) missing = static_cast<uint32_t>(header_.queue);
  if (waiting_ == Waiting::kTokens) missing = scoreboard.missing(scoreboard.targets(header_.wait));
  if (waiting_ == Waiting::kQueues) missing = scoreboard.missing(scoreboard.all_issued());
  if (missing != kQueues) state.waits_for = missing;
  return state;
}

void CommandProcessor::wait_cycles(uint64_t cycles) {
  if (!machine_.clock.timed()) return;
  const uint64_t end = machine_.clock.now() + cycles;
  while (machine_.clock.now() < end) {
    decoded_.set(end);
    wait(decoded_.event());
  }
}

void CommandProcessor::spend(Counter counter) {
  const uint64_t now = machine_.clock.now();
  machine_.counters.add(kSequencerQueue, counter, now - accounted_);
  accounted_ = now;
}

}  // namespace npu::model
