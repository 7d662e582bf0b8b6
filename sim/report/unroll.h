// SPDX-License-Identifier: Apache-2.0
// What a job with control flow executed, as a straight stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "sim/report/command_list.h"
#include "sim/report/work.h"

namespace npu::report {

struct Unrolled {
  std::vector<contract::Event> events;  // `command` is the position in the lists below
  std::vector<CommandInfo> commands;
  std::vector<CommandWork> work;
  std::vector<uint32_t> indices;  // in the stream
};

// Whether commands may run more than once, or not at all.
[[nodiscard]] bool has_branches(std::span<const CommandInfo> commands);

// The commands that have records, in the order in which the sequencer came to them, each as often as it ran. Tokens
// name the commands that they named: none reaches beyond a block, and a block runs whole.
[[nodiscard]] Unrolled unroll(std::span<const contract::Event> events, std::span<const CommandInfo> commands,
                              std::span<const CommandWork> work);

}  // namespace npu::report
