// SPDX-License-Identifier: Apache-2.0
// The loops of a program and how often they ran.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "sim/report/command_list.h"

namespace npu::report {

struct LoopRow {
  uint32_t layer = 0;            // of the WHILE_LOOP
  uint32_t branch = 0;           // index of the command that goes back
  std::vector<uint32_t> layers;  // of condition and body, inner loops included, in the order of the stream
  uint64_t iterations = 0;       // sum over all invocations, and of an inner loop over all iterations around it
};

// Outer loops before those in them.
[[nodiscard]] std::vector<LoopRow> find_loops(std::span<const CommandInfo> commands);

// Adds what the records of one invocation tell.
void count_iterations(std::span<const contract::Event> events, std::vector<LoopRow>& loops);

struct LayerRow;
struct Report;

// Adds the MACs of one invocation: of a program with branches those of the blocks that its records tell of, each as
// often as it ran.
void add_macs(std::span<const contract::Event> events, std::span<const CommandInfo> commands,
              std::vector<LayerRow>& layers);

// Cycles charged to a loop's layers and its own.
[[nodiscard]] uint64_t cycles_of(const Report& report, const LoopRow& loop);

// Lines of the table; empty without loops.
[[nodiscard]] std::string loop_lines(const Report& report);

}  // namespace npu::report
