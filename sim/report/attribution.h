// SPDX-License-Identifier: Apache-2.0
// Who is charged for a cycle, and what limits it. Every cycle of a job is charged to exactly one layer, one cause and
// one resource, so that each of the three sums is the job's cycles.
//
// The layer is that of the first rule that holds in the cycle:
//   1. The MXU executes a command. 2. The VPU does. 3. DMA is in flight: the oldest such command.
//   4. A command was issued and waits for its tokens: the oldest one. 5. The next command is not issued yet. Behind the
//      last command: the last one.
// So a layer is never charged less than its own MXU time.
//
// Cause and resource are those of the command that the rest of the job waits for in that cycle (critical_path.h), which
// may be another layer's: a layer that computes while the next one's weights arrive too late is limited by DRAM.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "sim/report/cause.h"
#include "sim/report/command_list.h"
#include "sim/report/critical_path.h"
#include "sim/report/work.h"

namespace npu::report {

// Of a layer.
struct Charge {
  CauseCycles causes{};
  CauseCycles others{};  // the part of `causes` in which the job waited for another layer's command
  ResourceCycles limits{};
  // Cycles of the layer's in which a resource was at work, for any layer. DRAM: what its bytes take at best. Nothing
  // for latency and command issue. Over all layers it is what the resource did in the job.
  ResourceCycles busy{};

  [[nodiscard]] uint64_t cycles() const;
  Charge& operator+=(const Charge& more);
};

// What is known of the program and the machine; entries of both lists may be missing.
struct Subject {
  std::span<const CommandInfo> commands;  // list_commands()
  std::span<const CommandWork> work;      // list_work()
  DramRate dram;
  SequencerCosts sequencer;
};

// By layer: Event::layer indexes the result, which has `layers` entries (at least one when `cycles` is not 0).
[[nodiscard]] std::vector<Charge> attribute(std::span<const contract::Event> events, uint64_t cycles, size_t layers,
                                            const Subject& subject);

}  // namespace npu::report
