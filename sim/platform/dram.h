// SPDX-License-Identifier: Apache-2.0
// DRAM as a TLM-2.0 target: storage that appears as it is touched, timed by DramTiming.
//
// Non-blocking: a request is accepted at once (END_REQ on the return path, its data moved then), the response comes
// when the timing says that the data is through, one response phase at a time. b_transport adds the same time as a
// delay. DMI gives out all of the memory. An access outside of it gets an address error.
//
// Two sockets share storage, banks and bus: `socket` for the NPU's memory port, `cpu`, which only blocks, for the
// control CPU. Accesses are served in the order of the calls: one that is annotated to arrive before another that was
// already served counts as arriving with it.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <systemc>
#include <tlm>

#include "hw/presets/preset.h"
#include "hw/timing/dram_timing.h"

namespace npu::platform {

class Dram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Dram> socket;
  tlm_utils::simple_target_socket_optional<Dram> cpu;  // may stay unbound

  // Throws Error(kDramFull) when the host has no address space for `bytes`.
  Dram(const sc_core::sc_module_name& name, const presets::Dram& timing, uint64_t bytes);
  ~Dram() override;

  // As at power-on, from this moment on.
  void restart();

  [[nodiscard]] std::span<uint8_t> memory() { return {memory_, bytes_}; }

 private:
  struct Response {
    tlm::tlm_generic_payload* payload;
    sc_core::sc_time at;
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  // Checks the request and moves its data.
  void execute(tlm::tlm_generic_payload& payload);
  // When a request that arrives at `arrival` is done.
  sc_core::sc_time time(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& arrival);
  void respond();
  void schedule();

  std::unique_ptr<timing::DramTiming> timing_;
  uint64_t bytes_;
  uint8_t* memory_ = nullptr;  // anonymous mapping
  uint64_t picosecond_;        // in units of the simulation's resolution
  sc_core::sc_time origin_;
  uint64_t last_arrival_ = 0;       // picoseconds after origin_
  std::deque<Response> responses_;  // in order of completion
  bool awaiting_end_ = false;       // BEGIN_RESP sent, END_RESP outstanding
  sc_core::sc_time response_free_;
  sc_core::sc_event respond_event_;
};

}  // namespace npu::platform
