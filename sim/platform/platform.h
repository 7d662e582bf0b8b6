// SPDX-License-Identifier: Apache-2.0
// Opens a simulated device: one NPU with its DRAM, in SystemC, behind the runtime's hardware interface. No SystemC in
// this header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/runtime/hal.h"
#include "hw/engine/engine.h"
#include "hw/engine/persistent_back_end.h"
#include "hw/model/config.h"
#include "hw/presets/preset.h"
#include "sim/platform/faults.h"

namespace npu::platform {

struct PlatformOptions {
  presets::Preset preset;
  model::Mode mode = model::Mode::kTimed;
  // Make an engine for the machine of `preset`, for back ends other than the model's (sim/cosim); empty: the model's.
  std::function<std::unique_ptr<engine::Engine>()> make_mxu, make_vpu;
  // Makes what computes the persistent SRAM beside the model; empty: nothing.
  engine::MakePersistentBackEnd make_persistent;
  // Random extra latency of up to jitter_max_cycles on every tile, DMA command and burst; 0 = none.
  uint64_t jitter_seed = 0;
  uint32_t jitter_max_cycles = 0;
  // Overwrite the scratchpad at every job start.
  bool poison = true;
  // What shall go wrong, for tests (faults.h).
  std::vector<FaultClause> faults;
  // With control CPU, firmware and mailbox; without, the host drives the sequencer itself.
  bool control_cpu = true;
  // Shared module with the instruction-set simulator; empty: libnpu_iss.so where the loader finds it.
  std::string iss_module;
  // Called with every character that the firmware prints to its UART, in the simulation's thread. May be empty.
  std::function<void(char)> uart;
  // TCP port of 127.0.0.1 at which a debugger controls the CPU (GDB's remote protocol); 0: none. The CPU leaves its
  // first reset only when a debugger is connected and lets it go on. `debugger_waiting` is called once with the port,
  // when it can be connected to; a port of 1 asks for any free one.
  uint16_t gdb_port = 0;
  std::function<void(uint16_t)> debugger_waiting;
};

// Elaborates the system in a thread of its own. SystemC elaborates once per process, so a process can do this once,
// even after the device was closed: Error(kWrongOrder) the second time. Throws what check_faults() throws.
[[nodiscard]] std::unique_ptr<runtime::Hal> open_tlm_device(const PlatformOptions& options);

}  // namespace npu::platform
