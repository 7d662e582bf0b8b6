// The simulated system: an NPU, its DRAM, and a host that executes requests from outside of the simulation. While the
// host waits for a request, the whole simulation waits in it, so simulated time stands still.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <chrono>
#include <cstdint>
#include <systemc>
#include <vector>

#include "hw/model/npu.h"
#include "sim/platform/dram.h"
#include "sim/platform/mailbox.h"
#include "sim/platform/platform.h"

namespace npu::platform {

struct Request {
  std::vector<uint32_t> controls;  // writes to the control register, in order
  bool wait_interrupt = false;
  std::chrono::steady_clock::time_point deadline;
  bool quit = false;
  // The answer.
  bool interrupted = false;
};

class System : public sc_core::sc_module {
 public:
  // Simulated time between looks at the host's clock.
  static constexpr uint64_t kSliceMicroseconds = 20;

  System(const sc_core::sc_module_name& name, const PlatformOptions& options, Mailbox& mailbox, Request& request);

  // Without simulated time, from outside of the simulation while it waits for a request. False outside of the port.
  [[nodiscard]] bool host_debug(tlm::tlm_command command, uint64_t address, uint8_t* data, uint32_t bytes);
  // A write through the port, by the simulation or, if the write starts and resets nothing, from outside of it while it
  // waits for a request. False for an offset without a register.
  [[nodiscard]] bool write_register(uint32_t offset, uint32_t value);
  [[nodiscard]] Dram& dram() { return dram_; }

 private:
  void serve();
  [[nodiscard]] bool wait_interrupt();
  void settle();

  Mailbox& mailbox_;
  Request& request_;
  Dram dram_;
  model::Npu npu_;
  sc_core::sc_signal<bool> irq_;
  tlm_utils::simple_initiator_socket<System> host_;
};

}  // namespace npu::platform
