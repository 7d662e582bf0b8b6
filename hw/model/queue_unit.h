// SPDX-License-Identifier: Apache-2.0
// What a DMA channel and a compute engine have in common: a FIFO of fifo_depth commands, a holding register for the one
// that waits for its tokens or executes, completion, events, and the cycle counters.
//
// A command leaves the FIFO when the unit is free. Time with a command in hand is stalled until its tokens are there;
// then busy as many cycles as its work takes with ideal memory, and stalled for the rest. Time without one is idle.
#pragma once

#include <cstdint>
#include <span>
#include <systemc>
#include <vector>

#include "hw/model/command.h"
#include "hw/model/machine.h"
#include "hw/model/queue_state.h"

namespace npu::model {

class QueueUnit : public sc_core::sc_module {
 public:
  QueueUnit(const sc_core::sc_module_name& name, Machine& machine, uint32_t queue);

  // For the sequencer. A slot to fill in, then push(); only when not full().
  [[nodiscard]] bool full() const { return size_ + 1 == slots_.size(); }
  [[nodiscard]] IssuedCommand& slot() { return slots_[(hand_ + 1 + size_) % slots_.size()]; }
  void push();
  // No command queued or in hand.
  [[nodiscard]] bool idle() const { return size_ == 0 && !holding_; }
  [[nodiscard]] QueueState state() const;
  // The event that others wait for when a token of this queue is missing.
  [[nodiscard]] const sc_core::sc_event& completed_event() const { return completed_; }
  void connect(const std::vector<QueueUnit*>& units) { units_ = units; }

  virtual void begin_job();
  void end_job();

 protected:
  struct Work {
    uint64_t busy = 0;  // cycles with ideal memory
    uint64_t bank_conflicts = 0;
    uint64_t macs = 0;
    Traffic asked;    // as the command's fields say
    Traffic traffic;  // as memories delivered and took
  };
  // Runs one command to its end; may wait. Faults go to the job; then, or when the job is aborting, it returns early.
  virtual void execute(const IssuedCommand& command, Work& work) = 0;
  // The job was aborted: a process that waits in execute() must look.
  virtual void on_abort() { wake_.set_now(); }

  // The command that comes next, if it is there already.
  [[nodiscard]] const IssuedCommand* next() const { return size_ > 0 ? &slots_[(hand_ + 1) % slots_.size()] : nullptr; }
  // What to wait for when next() lacks a command, or that one a token; nullptr when it could begin.
  [[nodiscard]] const sc_core::sc_event* next_lacks() const;

  // Bursts that memory owes the command in hand.
  [[nodiscard]] virtual uint32_t bursts() const { return 0; }

  // Waits until a cycle; at once in functional mode.
  void wait_until(uint64_t cycle);
  void fault(const IssuedCommand& command, contract::ErrorCode code);
  void fault(const IssuedCommand& command, contract::ErrorCode code, const contract::Address& address, uint64_t offset);

  Machine& machine_;
  const uint32_t queue_;
  Alarm wake_;  // what execute() waits for

 private:
  void run();
  void process(const IssuedCommand& command);
  // False when it was stopped.
  [[nodiscard]] bool perform(const IssuedCommand& command, Work& work);
  bool wait_for_tokens(const IssuedCommand& command);
  // What a command means for its variables when it starts; false when it must not.
  [[nodiscard]] bool begin_variables(const IssuedCommand& command);
  // The time that this takes. False when the job is aborted.
  [[nodiscard]] bool begin_time(const IssuedCommand& command);
  // And when its bytes are written; false when it has not come to its end after all.
  [[nodiscard]] bool end_variables(const IssuedCommand& command);
  // Or when it was stopped.
  void leave_variables(const IssuedCommand& command);
  // False, with a fault, for an operation on this entry of the table that failed.
  [[nodiscard]] bool passed(const IssuedCommand& command, uint16_t index, const PersistentSram::Verdict& verdict);
  [[nodiscard]] bool words_readable(const IssuedCommand& command, const VariableUse& use);
  // Reads or writes the bytes of a use, without time.
  void move_bytes(const VariableUse& use, std::span<uint8_t> data, bool write);
  void keep_written(const IssuedCommand& command);
  [[nodiscard]] bool breaks_down(const IssuedCommand& command);
  void complete(const IssuedCommand& command, const Work& work, uint64_t started);
  void wait_for_abort();
  // Adds the cycles since the last call to a counter.
  uint64_t spend(contract::Counter counter);

  std::vector<IssuedCommand> slots_;  // the one in hand, the FIFO behind it
  size_t hand_ = 0, size_ = 0;
  bool holding_ = false, executing_ = false;
  std::vector<std::vector<uint8_t>> kept_;  // what the command in hand writes over, a use each; while power may fail
  uint64_t accounted_ = 0;                  // cycle up to which busy, stalled and idle are counted
  Alarm timer_;                             // what wait_until() waits for
  std::vector<QueueUnit*> units_;           // by queue; nullptr where there is none
  sc_core::sc_event pushed_, completed_;
};

}  // namespace npu::model
