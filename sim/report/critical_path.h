// SPDX-License-Identifier: Apache-2.0
// What a job waited for, cycle by cycle: the chain of commands that ends with the last one. From its end it goes back
// to its start; from there to what it had to wait for: the command whose completion was the last token, or the command
// before it in its queue, or the sequencer, which could not issue it earlier. At a label or branch the sequencer waits
// for all commands before it, of which the one that completed last is on the path; so it does at a yield at which the
// job stopped. So work that others wait for is on
// the path, and work that is done early is not, however busy its engine is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "sim/report/command_list.h"

namespace npu::report {

struct PathPart {
  enum class Why : uint8_t {
    kExecutes,  // the command executes
    kTokens,    // it is issued, all that it waits for is done, and it has not started
    kIssue,     // the sequencer decodes it, hands it over or does a branch, or winds up behind the last command
    kFetch,     // the sequencer waits for its words
    kTable,     // the sequencer waits for the variable table
  };
  uint64_t begin = 0, end = 0;  // cycles of the job
  Why why = Why::kIssue;
  const contract::Event* event = nullptr;  // null: there is none
};

// What the sequencer has and takes.
struct SequencerCosts {
  uint32_t fifo_depth = 8;  // commands that a queue holds beside that in its engine's hands
  uint64_t begin = 0;       // cycles of the variable table before the first command
  uint64_t check = 0;       // and for each variable of a command that it hands over

  static SequencerCosts of(const contract::Capabilities& caps);
};

// Ascending, without gaps, from 0 to `cycles`. `commands` is list_commands() of the program; without it tokens are
// unknown, only queues and the stream order commands, and all that the sequencer does is kIssue.
[[nodiscard]] std::vector<PathPart> critical_path(std::span<const contract::Event> events, uint64_t cycles,
                                                  std::span<const CommandInfo> commands, const SequencerCosts& costs);

// For each part of such a path: whether it is a load of constants that could not start earlier for want of room in the
// scratchpad. A constant lies in DRAM from the start, so all that its load can wait for on other queues is what uses
// its place. Loads behind such a one in its queue are late with it.
[[nodiscard]] std::vector<bool> late_for_room(std::span<const PathPart> path, std::span<const CommandInfo> commands);

}  // namespace npu::report
