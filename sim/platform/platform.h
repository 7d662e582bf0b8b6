// Opens a simulated device: one NPU with its DRAM, in SystemC, behind the runtime's hardware interface. No SystemC in
// this header.
#pragma once

#include <cstdint>
#include <memory>

#include "driver/runtime/hal.h"
#include "hw/model/config.h"
#include "hw/presets/preset.h"

namespace npu::platform {

struct PlatformOptions {
  presets::Preset preset;
  model::Mode mode = model::Mode::kTimed;
  // Random extra latency of up to jitter_max_cycles on every tile, DMA command and burst; 0 = none.
  uint64_t jitter_seed = 0;
  uint32_t jitter_max_cycles = 0;
  // Overwrite the scratchpad at every job start.
  bool poison = true;
};

// Elaborates the system in a thread of its own. SystemC elaborates once per process, so a process can do this once,
// even after the device was closed: Error(kWrongOrder) the second time.
[[nodiscard]] std::unique_ptr<runtime::Hal> open_tlm_device(const PlatformOptions& options);

}  // namespace npu::platform
