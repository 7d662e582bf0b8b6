// SPDX-License-Identifier: Apache-2.0
// The commands that the sequencer executes itself: begin, declare, yield, end; sequencer_branches.cpp has the
// others.
#include "hw/contract/overloaded.h"
#include "hw/model/sequencer.h"

namespace npu::model {

using contract::Counter;
using contract::ErrorCode;

namespace {

// The head of a stream, `begin` or the `yield` that it is resumed at, is for this machine.
template <class Command>
bool matches(const Command& command, const contract::Capabilities& caps) {
  return command.major == contract::kContractMajor && command.minor <= contract::kContractMinor &&
         command.caps_hash == contract::caps_hash(caps);
}

}  // namespace

bool Sequencer::dispatch(DecodedCommand& command) {
  if (first_) {
    first_ = false;
    const bool from_start = machine_.job.registers().command_start == 0;
    const auto refuse = [&] { return fault(ErrorCode::kFaultBadCommand); };
    return std::visit(Overloaded{
                          [&](const contract::BeginCommand& head) { return from_start ? begin(head) : refuse(); },
                          [&](const contract::YieldCommand& point) { return from_start ? refuse() : resume(point); },
                          [&](const contract::EndCommand&) { return refuse(); },
                          [&](const contract::DeclareCommand&) { return refuse(); },
                          [&](const contract::LabelCommand&) { return refuse(); },
                          [&](const contract::BranchCommand&) { return refuse(); },
                          [&](const contract::DmaCommand&) { return refuse(); },
                          [&](const engine::Tile&) { return refuse(); },
                          [&](const Skipped&) { return refuse(); },
                      },
                      command);
  }
  if (!has_landed(command)) return fault(ErrorCode::kFaultBadCommand);
  return std::visit(Overloaded{
                        [&](const contract::BeginCommand&) { return fault(ErrorCode::kFaultBadCommand); },
                        [&](const contract::EndCommand&) { return end(); },
                        [&](const contract::DeclareCommand& declaration) { return declare(declaration); },
                        [&](const contract::YieldCommand& point) { return yield(point); },
                        [&](const contract::LabelCommand& place) { return label(place); },
                        [&](const contract::BranchCommand& way) { return branch(way); },
                        [&](const contract::DmaCommand&) { return issue(command); },
                        [&](const engine::Tile&) { return issue(command); },
                        [&](const Skipped&) { return issue(command); },
                    },
                    command);
}

bool Sequencer::begin(const contract::BeginCommand& command) {
  if (!matches(command, machine_.config.caps)) return fault(ErrorCode::kContractMismatch);
  expected_commands_ = command.command_count;
  return complete();
}

// The yield has completed when the job stopped at it: it is not recorded again.
bool Sequencer::resume(const contract::YieldCommand& command) {
  if (!matches(command, machine_.config.caps)) return fault(ErrorCode::kContractMismatch);
  if (command.index == 0 || command.index >= command.command_count) return fault(ErrorCode::kFaultBadCommand);
  index_ = command.index;
  expected_commands_ = command.command_count;
  return true;
}

bool Sequencer::declare(const contract::DeclareCommand& command) {
  if (!wait_for_tokens()) return false;
  hazards_.sequencer_waited(header_.wait);
  if (!operate(accesses_.declare(machine_.persistent.compared(command.variable)))) return false;
  const bool fits = machine_.address_map.fits_in_dram(command.variable);
  const PersistentSram::Verdict verdict = machine_.persistent.declare(command.variable, command.hash, fits);
  if (!verdict.ok()) return fault_verdict(verdict, command.variable);
  coverage_.declared(command.variable);
  return complete();
}

bool Sequencer::yield(const contract::YieldCommand& command) {
  if (command.index != index_ || command.command_count != expected_commands_) {
    return fault(ErrorCode::kFaultBadCommand);
  }
  if (!machine_.job.preempt_requested()) return complete();
  if (!drain() || !settle()) return false;
  Traffic asked, moved;
  asked.dram_read = fetch_.requested();
  moved.dram_read = fetch_.fetched();
  add_bytes(machine_.counters, kSequencerQueue, asked, moved);
  if (!complete()) return false;
  const auto next = static_cast<uint32_t>(fetch_.position() / 4 - contract::YieldCommand::kWords);
  machine_.job.preempt(next, command.segment);
  return false;
}

bool Sequencer::end() {
  if (index_ + 1 != expected_commands_ || fetch_.left() > 0) return fault(ErrorCode::kFaultBadCommand);
  if (!drain()) return false;
  // Of its own the sequencer moves the stream, all of it.
  Traffic asked, moved;
  asked.dram_read = fetch_.to_the_end();
  moved.dram_read = fetch_.fetched();
  add_bytes(machine_.counters, kSequencerQueue, asked, moved);
  (void)complete();
  return false;
}

bool Sequencer::wait_for_tokens() {
  const TokenTargets targets = machine_.scoreboard.targets(header_.wait);
  while (machine_.scoreboard.missing(targets) != contract::kEngineQueues) {
    waiting_ = Waiting::kTokens;
    wait(machine_.progress);
    if (machine_.job.aborting()) return false;
  }
  waiting_ = Waiting::kNothing;
  spend(Counter::kStalled);
  return true;
}

// Waits for what memory owes the prefetch.
bool Sequencer::settle() {
  while (!fetch_.settled()) {
    wait(fetch_.event());
    if (machine_.job.aborting()) return false;
  }
  return !fetch_.failed() || fault(ErrorCode::kFaultBus);
}

// Waits until every queue has completed what it was given.
bool Sequencer::drain() {
  spend(Counter::kStalled);
  while (!machine_.scoreboard.drained()) {
    waiting_ = Waiting::kQueues;
    wait(machine_.progress);
    if (machine_.job.aborting()) return false;
  }
  waiting_ = Waiting::kNothing;
  return true;
}

// A command of the sequencer itself completes, unless it hangs; its traffic is not its own but the stream's.
bool Sequencer::complete() {
  if (machine_.hang.strikes(kSequencerQueue, index_)) {
    while (!machine_.job.aborting()) wait(machine_.progress);
    return false;
  }
  contract::Event event;
  event.command = index_;
  event.layer = static_cast<uint16_t>(header_.layer);
  event.queue = static_cast<uint8_t>(kSequencerQueue);
  event.opcode = static_cast<uint8_t>(header_.opcode);
  event.issued = event.started = decode_started_;
  event.completed = machine_.clock.now();
  machine_.counters.add(kSequencerQueue, Counter::kCommands, 1);
  machine_.events.record(event);
  return true;
}

}  // namespace npu::model
