// SPDX-License-Identifier: Apache-2.0
// Estimates of what a transfer takes, for choosing between tilings. Engines: hw/timing.
#pragma once

#include <cstdint>

#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Cycles of the port or of the scratchpad for `runs` runs of `run` contiguous bytes; `dram`: one side is DRAM.
[[nodiscard]] double transfer_cycles(int64_t runs, int64_t run, bool dram, const contract::Capabilities& capabilities);

// Cycles until the first bytes of a transfer are there.
[[nodiscard]] double transfer_latency(bool dram);

// Cycles of the port to DRAM that the device takes to fetch this many commands: their 120 bytes each, and the rows that
// they close.
[[nodiscard]] double fetch_cycles(double commands, const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
