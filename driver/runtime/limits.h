// SPDX-License-Identifier: Apache-2.0
// What a device serves at a time.
#pragma once

#include <cstdint>

namespace npu::runtime {

// Contexts that may be open at a time: a ring of the firmware each, beside the driver's own.
inline constexpr uint32_t kMaxContexts = 15;

// Jobs of one context that may be in flight at a time: requests that its ring holds. Job::start() refuses more.
inline constexpr uint32_t kMaxQueuedJobs = 16;

// Cycles of the control CPU's clock that its firmware takes at most, of the time that a job of higher priority waits
// for one of lower priority to stop.
inline constexpr uint32_t kMostFirmwareBlocking = 6000;

// What it takes beside that at most for the sizes of a job, to evaluate its table twice and to write the stream: for
// any job, and for each row of each kind.
inline constexpr uint32_t kSizesCycles = 3000, kValueCycles = 250, kConditionCycles = 100, kRuleCycles = 180,
                          kPieceCycles = 40, kWordCycles = 25;

}  // namespace npu::runtime
