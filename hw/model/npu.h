// SPDX-License-Identifier: Apache-2.0
// The NPU as one SystemC module: a TLM-2.0 target socket for the host, an initiator socket for memory, an interrupt.
// Any platform can instantiate it; sim/platform is one.
//
//   host    registers and persistent SRAM (register_file.h); b_transport and transport_dbg, no simulated time
//   memory  DRAM (memory_port.h): non-blocking base protocol in timed mode, b_transport and DMI in functional mode;
//           transport_dbg for events
//   irq     level: a pending and enabled bit of irq_status
//
// The scratchpad, the queues and the command stream are inside; engines come from hw/engine or from a back end of RTL.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "hw/engine/engine.h"
#include "hw/model/compute_unit.h"
#include "hw/model/config.h"
#include "hw/model/dma_channel.h"
#include "hw/model/machine.h"
#include "hw/model/register_file.h"
#include "hw/model/sequencer.h"

namespace npu::model {

class Npu : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Npu> host;
  MemoryPort::Socket memory;
  sc_core::sc_out<bool> irq;

  // `persistent` computes the persistent SRAM beside the model; null: the model alone.
  Npu(const sc_core::sc_module_name& name, const NpuConfig& config, std::unique_ptr<engine::Engine> mxu,
      std::unique_ptr<engine::Engine> vpu, std::unique_ptr<engine::PersistentBackEnd> persistent = nullptr);

  [[nodiscard]] bool running() const { return machine_.job.running(); }
  // For a platform that sees that nothing in the simulation can move any more while a job runs: ends it with
  // fault_token.
  void report_stuck() { sequencer_.report_stuck(); }

  // Test hook: the first command of `queue` whose index is `command` or larger never completes; only a reset, or a
  // fault of another command, ends its job. `on_hang` is called when it has struck.
  void hang(uint32_t queue, uint32_t command) { machine_.hang.arm(queue, command); }
  void no_hang() { machine_.hang.disarm(); }
  [[nodiscard]] bool hang_armed() const { return machine_.hang.armed(); }
  // Test hook: flips a stored bit of the word of the persistent SRAM that has this byte; none beyond it, or beyond the
  // word's 72 bits.
  void flip_bit(uint32_t address, uint32_t bit);
  // Test hook: power breaks down when jobs have written so many more bytes to variables; 0: never.
  void brown_out(uint32_t bytes) { machine_.brownout.arm(bytes); }
  [[nodiscard]] uint32_t brown_out_left() const { return machine_.brownout.left(); }
  // Test hook: the n-th burst to or from DRAM from now on is answered with an error; 0: none.
  void fail_burst(uint32_t n) { machine_.memory.fail_burst(n); }
  [[nodiscard]] uint32_t bursts_until_error() const { return machine_.memory.bursts_until_error(); }
  void on_hang(std::function<void()> struck) { machine_.hang.on_strike(std::move(struck)); }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    registers_.b_transport(payload, delay);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) { return registers_.transport_dbg(payload); }
  void reset(bool cold);
  void job_ended(uint64_t cycles);
  [[nodiscard]] QueueState queue_state(uint32_t queue) const;
  void drive_irq() { irq.write(registers_.interrupt()); }
  std::vector<QueueUnit*> units() const;

  Machine machine_;
  std::vector<std::unique_ptr<DmaChannel>> channels_;
  ComputeUnit mxu_, vpu_;
  Sequencer sequencer_;
  RegisterFile registers_;
  bool resetting_ = false;
  sc_core::sc_event irq_changed_;
};

}  // namespace npu::model
