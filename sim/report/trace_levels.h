// SPDX-License-Identifier: Apache-2.0
// What of the machine is in use over the time of a job, for the counters of a trace.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/commands.h"

namespace npu::report {

// Bytes [low, high) of the scratchpad that a command touches; some of them where it is not dense.
struct ScratchpadUse {
  int64_t low = 0, high = 0;
  bool write = false, dense = true;
};
// One entry a command of the stream. Constants that stay are not among them.
[[nodiscard]] std::vector<std::vector<ScratchpadUse>> list_scratchpad_uses(const compiler::Program& program);

// From a cycle of the job on, until the next one; ascending.
struct Level {
  uint64_t cycle = 0;
  double value = 0;
};

// Bytes of the scratchpad that hold something: from the start of the command that writes them to the end of the last
// one that touches them before they are written anew. Bytes in the gaps of an access that is not dense count as long as
// it does. Events must be in the order of the stream (unroll.h).
[[nodiscard]] std::vector<Level> scratchpad_levels(std::span<const contract::Event> events,
                                                   std::span<const std::vector<ScratchpadUse>> uses);

// Bytes of the commands that are between their start and their end, from or to DRAM.
[[nodiscard]] std::vector<Level> dram_in_flight(std::span<const contract::Event> events);
// Bytes a cycle: those of each command spread evenly over its time.
[[nodiscard]] std::vector<Level> dram_rates(std::span<const contract::Event> events);

}  // namespace npu::report
