// SPDX-License-Identifier: Apache-2.0
// What a Npu is built with besides its engines.
#pragma once

#include <cstdint>
#include <functional>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::model {

// functional: results without time. Cycles stay 0, and memory is reached by direct pointers where it offers them.
// timed: results and cycles; memory traffic is bursts of the non-blocking base protocol.
enum class Mode : uint8_t { kFunctional, kTimed };

// Random extra latency, drawn from a generator with this seed at every job start: a program whose tokens are complete
// gives the same bits with any of it. 0 switches a source off. Cycles.
struct Jitter {
  uint64_t seed = 0;
  uint32_t engine_cycles = 0;  // at most, before a tile starts
  uint32_t dma_cycles = 0;     // at most, before a DMA command starts
  uint32_t memory_cycles = 0;  // at most, on every burst's response
};

struct NpuConfig {
  contract::Capabilities caps;
  Mode mode = Mode::kTimed;
  Jitter jitter;
  // Branches back after which a job is out of time.
  uint64_t most_repeats = contract::kMostRepeats;
  // Overwrite what the last job left in the scratchpad at job start, so that no program can depend on it.
  bool poison = true;
  // Called before a job starts from its beginning: not where it goes on after a preemption, nor for a stream that saves
  // or restores one. May be empty.
  std::function<void()> job_begins;
  // Called at the start of a job, at cycle 0: a platform restarts what must not depend on the idle time before
  // (refresh phase and open rows of its memory). May be empty.
  std::function<void()> job_started;
};

}  // namespace npu::model
