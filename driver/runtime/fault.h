// What the device's registers say about a job that ended: faults in words, counters with their identities checked.
#pragma once

#include <cstdint>

#include "driver/compiler/program.h"
#include "driver/runtime/hal.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/variable_manager.h"

namespace npu::runtime {

[[nodiscard]] Fault read_fault(Hal& hal);

// The error that a fault becomes. Names command, engine, layer, address and cycle; for variable faults the variable.
[[nodiscard]] FaultError fault_error(const Fault& fault, const compiler::Program& program,
                                     const VariableManager& variables, uint64_t cycle_limit);

// Counters of every queue that the device has, and of the sequencer. Throws Error(kFaultCounters) when busy + stalled +
// idle differ from `cycles`, bytes moved differ from bytes asked for, or a part exceeds its whole.
[[nodiscard]] Counters read_counters(Hal& hal, const contract::Capabilities& caps, uint64_t cycles);

}  // namespace npu::runtime
