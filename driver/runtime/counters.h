// SPDX-License-Identifier: Apache-2.0
// The performance counters of a job, and their identities.
#pragma once

#include <cstdint>
#include <span>

#include "driver/runtime/runtime.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::runtime {

// From the values of all counter registers, by index.
[[nodiscard]] Counters counters_from(std::span<const uint64_t> values);

// Throws Error(kFaultCounters) when, for a queue that the device has or the sequencer, busy + stalled + idle differ
// from `cycles`, bytes moved differ from bytes asked for, or a part exceeds its whole.
void check_counters(const Counters& counters, const contract::Capabilities& caps, uint64_t cycles);

}  // namespace npu::runtime
