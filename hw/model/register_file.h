// SPDX-License-Identifier: Apache-2.0
// The host port: registers at 0, persistent SRAM at kPsramWindow (hw/contract/registers.yaml).
//
// Registers are accessed as whole aligned words, one or several; the window byte by byte. An access outside of both, or
// of another shape, gets an error response; so does writing a read-only register, which changes nothing. Configuration
// registers are taken over when a job starts; a job keeps what it started with. An access takes no simulated time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <tlm>

#include "hw/contract/gen/registers.h"
#include "hw/model/machine.h"
#include "hw/model/persistent_port.h"
#include "hw/model/queue_state.h"

namespace npu::model {

class RegisterFile {
 public:
  // What registers do and show of the units; all return when it is done (a reset may wait for units to stop).
  struct Actions {
    std::function<void()> start;
    std::function<void(bool cold)> reset;
    std::function<void()> interrupt_changed;
    std::function<QueueState(uint32_t queue)> queue_state;
  };

  RegisterFile(Machine& machine, Actions actions);

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  // As b_transport but without side effects: writing to control, irq_status, engine_power or psram_* does nothing.
  // Returns bytes moved.
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);

  // The configuration as a job takes it over.
  [[nodiscard]] JobRegisters job_registers() const;
  // The end of a job: result registers and interrupt.
  void job_ended(uint64_t cycles);
  // Soft or cold reset: results and interrupts are gone, power is on; configuration registers keep what was written.
  void reset();
  [[nodiscard]] bool interrupt() const { return (irq_status_ & irq_enable_) != 0; }

 private:
  tlm::tlm_response_status access(tlm::tlm_generic_payload& payload, bool debug);
  [[nodiscard]] uint32_t read(uint32_t offset, bool debug);
  void write(uint32_t offset, uint32_t value, bool debug);
  [[nodiscard]] uint32_t read_status() const;
  [[nodiscard]] uint32_t read_fault(uint32_t offset) const;
  [[nodiscard]] uint32_t read_queue(uint32_t offset) const;
  void control(uint32_t value);
  void start();
  void switch_power(bool on);

  Machine& machine_;
  Actions actions_;
  PersistentPort persistent_;
  std::array<uint32_t, contract::kRegisterSpaceBytes / 4> words_{};  // those that just hold what was written
  std::array<uint8_t, contract::kRegisterSpaceBytes / 4> mapped_{};  // is there a register, may it be written
  uint32_t irq_status_ = 0, irq_enable_ = 0;
  bool done_ = false;
  Fault fault_;
  Preemption preemption_;
  uint64_t job_cycles_ = 0;

  void clear_results();
};

}  // namespace npu::model
