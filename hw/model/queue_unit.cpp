// SPDX-License-Identifier: Apache-2.0
#include "hw/model/queue_unit.h"

#include <algorithm>
#include <limits>

namespace npu::model {

using contract::Counter;
using contract::ErrorCode;

QueueUnit::QueueUnit(const sc_core::sc_module_name& name, Machine& machine, uint32_t queue)
    : sc_module(name),
      machine_(machine),
      queue_(queue),
      wake_(machine.agenda),
      slots_(machine.config.caps.fifo_depth + 1),
      timer_(machine.agenda) {
  SC_HAS_PROCESS(QueueUnit);
  SC_THREAD(run);
  set_stack_size(1 << 20);
  machine_.job.on_abort([this] {
    size_ = 0;
    completed_.notify(sc_core::SC_ZERO_TIME);
    on_abort();
  });
}

void QueueUnit::push() {
  ++size_;
  pushed_.notify();
}

void QueueUnit::begin_job() {
  hand_ = size_ = 0;
  accounted_ = 0;
}

void QueueUnit::end_job() { spend(Counter::kIdle); }

uint64_t QueueUnit::spend(Counter counter) {
  const uint64_t now = machine_.clock.now();
  const uint64_t cycles = now - accounted_;
  accounted_ = now;
  machine_.counters.add(queue_, counter, cycles);
  return cycles;
}

void QueueUnit::run() {
  for (;;) {
    while (size_ == 0) wait(pushed_);
    spend(Counter::kIdle);
    hand_ = (hand_ + 1) % slots_.size();
    --size_;
    holding_ = true;
    machine_.progress.notify();
    process(slots_[hand_]);
    holding_ = false;
    machine_.progress.notify();
  }
}

void QueueUnit::process(const IssuedCommand& command) {
  const bool ready = wait_for_tokens(command);
  spend(Counter::kStalled);
  if (!ready) return;
  const uint64_t started = machine_.clock.now();
  Work work;
  work.asked = command.asked;
  executing_ = true;
  const bool done = perform(command, work);
  executing_ = false;
  if (done) {
    complete(command, work, started);
  } else {
    spend(Counter::kStalled);
  }
}

// What it takes for its variables is work as the rest is.
bool QueueUnit::perform(const IssuedCommand& command, Work& work) {
  if (command.header.skip) return !machine_.job.aborting();
  const uint64_t begins = machine_.clock.now();
  if (!begin_variables(command)) return false;
  const uint64_t executes = machine_.clock.now();
  if (machine_.hang.strikes(queue_, command.index)) wait_for_abort();
  if (!machine_.job.aborting()) execute(command, work);
  if (machine_.job.aborting()) {
    leave_variables(command);
    return false;
  }
  const uint64_t ends = machine_.clock.now();
  if (!end_variables(command)) return false;
  work.busy += executes - begins + machine_.clock.now() - ends;
  return true;
}

bool QueueUnit::wait_for_tokens(const IssuedCommand& command) {
  for (;;) {
    if (machine_.job.aborting()) return false;
    const uint32_t missing = machine_.scoreboard.missing(command.targets);
    if (missing == contract::kEngineQueues) return true;
    wait(units_[missing]->completed_event());
  }
}

const sc_core::sc_event* QueueUnit::next_lacks() const {
  const IssuedCommand* command = next();
  if (command == nullptr) return &pushed_;
  const uint32_t missing = machine_.scoreboard.missing(command->targets);
  return missing == contract::kEngineQueues ? nullptr : &units_[missing]->completed_event();
}

void QueueUnit::wait_for_abort() {
  while (!machine_.job.aborting()) wait(wake_.event());
}

QueueState QueueUnit::state() const {
  QueueState state;
  state.fifo = static_cast<uint32_t>(size_);
  if (!holding_) return state;
  const IssuedCommand& command = slots_[hand_];
  state.holding = true;
  state.executing = executing_;
  state.command = command.index;
  state.bursts = bursts();
  const uint32_t missing = machine_.scoreboard.missing(command.targets);
  if (missing != contract::kEngineQueues) state.waits_for = missing;
  return state;
}

void QueueUnit::complete(const IssuedCommand& command, const Work& work, uint64_t started) {
  const uint64_t elapsed = machine_.clock.now() - started;
  const uint64_t busy = std::min(work.busy, elapsed);
  accounted_ += elapsed;
  Counters& counters = machine_.counters;
  counters.add(queue_, Counter::kBusy, busy);
  counters.add(queue_, Counter::kStalled, elapsed - busy);
  counters.add(queue_, Counter::kBankConflicts, std::min(work.bank_conflicts, elapsed - busy));
  counters.add(queue_, Counter::kMacs, work.macs);
  counters.add(queue_, Counter::kCommands, 1);
  add_bytes(counters, queue_, work.asked, work.traffic);

  const auto narrow = [](uint64_t value) {
    return static_cast<uint32_t>(std::min<uint64_t>(value, std::numeric_limits<uint32_t>::max()));
  };
  contract::Event event;
  event.command = command.index;
  event.layer = static_cast<uint16_t>(command.header.layer);
  event.queue = static_cast<uint8_t>(queue_);
  event.opcode = static_cast<uint8_t>(command.header.opcode);
  event.issued = command.issued_cycle;
  event.started = started;
  event.completed = started + elapsed;
  event.busy = narrow(busy);
  event.stalled = narrow(elapsed - busy);
  event.dram_read = narrow(work.traffic.dram_read);
  event.dram_written = narrow(work.traffic.dram_written);
  event.psram_read = narrow(work.traffic.psram_read);
  event.psram_written = narrow(work.traffic.psram_written);
  machine_.events.record(event);

  machine_.scoreboard.complete(queue_);
  completed_.notify();
}

void QueueUnit::wait_until(uint64_t cycle) {
  if (!machine_.clock.timed()) return;
  while (machine_.clock.now() < cycle) {
    timer_.set(cycle);
    wait(timer_.event());
  }
}

void QueueUnit::fault(const IssuedCommand& command, ErrorCode code) {
  Fault fault;
  fault.code = code;
  fault.command = command.index;
  fault.queue = queue_;
  machine_.job.fault(fault);
}

void QueueUnit::fault(const IssuedCommand& command, ErrorCode code, const contract::Address& address, uint64_t offset) {
  Fault fault;
  fault.code = code;
  fault.command = command.index;
  fault.queue = queue_;
  fault.at(address, offset);
  if (address.region == contract::Region::kVariable) fault.other = address.variable;
  machine_.job.fault(fault);
}

}  // namespace npu::model
