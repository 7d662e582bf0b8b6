// SPDX-License-Identifier: Apache-2.0
// The simulated system: the device (a chip with control CPU, or an NPU by itself), its DRAM, and a host that executes
// requests from outside of the simulation. While the host waits for a request, the whole simulation waits in it, so
// simulated time stands still.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "hw/model/chip.h"
#include "hw/model/hand_over.h"
#include "sim/platform/alert.h"
#include "sim/platform/dram.h"
#include "sim/platform/gdb_server.h"
#include "sim/platform/platform.h"

namespace npu::platform {

struct RegisterWrite {
  uint32_t offset = 0, value = 0;
};

// Simulated time that passes at most while the host looks whether the interrupt is up, without waiting for it. In this
// way a program that does nothing but look gets on, and by the same steps in every run.
constexpr uint64_t kPollMicroseconds = 10;

struct Request {
  std::vector<RegisterWrite> writes;  // that need the simulation, in order; then
  bool wait_interrupt = false;
  bool poll = false;  // the wait ends after kPollMicroseconds
  bool quit = false;
  // The answer.
  bool interrupted = false;
};

class System : public sc_core::sc_module {
 public:
  // Throws Error when there is no instruction-set simulator for the control CPU, or no port for its debugger.
  System(const sc_core::sc_module_name& name, const PlatformOptions& options, model::HandOver& hand_over,
         Request& request);

  // An access through the port, which takes no simulated time: by the simulation, or from outside of it while it waits
  // for a request, unless a write needs_simulation(). False when the device answers with an error.
  [[nodiscard]] bool access(tlm::tlm_command command, uint64_t address, uint8_t* data, uint32_t bytes);
  // Starts and resets belong into the simulation's thread: they may wait.
  [[nodiscard]] bool needs_simulation(uint32_t offset) const;
  [[nodiscard]] Dram& dram() { return dram_; }

  // Any thread: the wait for the interrupt, going on or else the next one, ends soon. How the host stops waiting leaves
  // no trace in the simulation: no timer of its own, and nothing moves between one wait and the next.
  void wake();
  // By the host after a wait.
  void forget_wake() { woken_ = false; }
  // The kernel has nothing to do any more; the simulation must be started again then.
  void starved();
  // Host time that a debugger has kept the CPU halted. Any thread.
  [[nodiscard]] std::chrono::nanoseconds halted_time() const;

 private:
  [[nodiscard]] model::NpuConfig npu_config(const PlatformOptions& options);
  void build_chip(const PlatformOptions& options);
  void build_npu(const PlatformOptions& options);
  void open_debugger(const PlatformOptions& options);
  void strike(const FaultClause& clause);
  void serve();
  [[nodiscard]] bool wait_interrupt();
  [[nodiscard]] bool finished() const;
  void settle();
  void start_poll();
  void halt_cpu();

  FaultPlan faults_;
  model::HandOver& hand_over_;
  Request& request_;
  Dram dram_;
  std::unique_ptr<model::Chip> chip_;  // this one or
  std::unique_ptr<model::Npu> npu_;    // that one
  sc_core::sc_signal<bool> irq_;
  std::atomic<bool> woken_{false};
  Alert wake_alert_, debugger_alert_;
  bool waiting_ = false, starved_ = false;
  sc_core::sc_event starved_event_, poll_event_;
  tlm_utils::simple_initiator_socket<System> host_;
  std::unique_ptr<GdbServer> debugger_;  // of the chip's CPU, or none
};

}  // namespace npu::platform
