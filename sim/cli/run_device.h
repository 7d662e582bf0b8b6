// SPDX-License-Identifier: Apache-2.0
// The device of `npu run`, with the firmware, the engines and the faults that its options ask for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/cli/firmware_console.h"
#include "sim/cli/run_options.h"
#include "sim/cosim/back_ends.h"

namespace npu::cli {

// `back_ends` makes its engines and outlives it. Throws Error: cannot_read and bad_firmware for the file of --firmware,
// which they name; what opening a device throws.
[[nodiscard]] runtime::Device open_device(const RunOptions& options, const presets::Preset& preset,
                                          const FirmwareConsole& console, cosim::BackEnds& back_ends);

// Flips the bits; returns what was done, in words.
[[nodiscard]] std::vector<std::string> inject(const std::vector<Injection>& injections, runtime::Device& device,
                                              const runtime::LoadedProgram& program);

// A clause for a job that never comes would test nothing. Throws Error(bad_option) naming it.
void check_jobs(const std::vector<platform::FaultClause>& faults, int64_t invocations);

// Says what has been armed and has not struck. (Interrupts are raised until they get through.) Without control CPU
// nothing shows it.
void note_unstruck(const RunOptions& options, runtime::Device& device);

}  // namespace npu::cli
