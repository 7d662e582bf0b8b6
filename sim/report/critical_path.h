// SPDX-License-Identifier: Apache-2.0
// What a job waited for, cycle by cycle: the chain of commands that ends with the last one. From its end it goes back
// to its start; from there to what it had to wait for: the command whose completion was the last token, or the command
// before it in its queue, or the sequencer, which could not issue it earlier. At a label or branch the sequencer waits
// for all commands before it, of which the one that completed last is on the path. So work that others wait for is on
// the path, and work that is done early is not, however busy its engine is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "sim/report/command_list.h"

namespace npu::report {

struct PathPart {
  enum class Why : uint8_t {
    kExecutes,  // the command executes
    kTokens,    // it is issued, all that it waits for is done, and it has not started
    kIssue,     // the sequencer does not issue it yet: fetch, decoding, or it winds up behind the last command
  };
  uint64_t begin = 0, end = 0;  // cycles of the job
  Why why = Why::kIssue;
  const contract::Event* event = nullptr;  // null: there is none
};

// Ascending, without gaps, from 0 to `cycles`. `commands` is list_commands() of the program; without it tokens are
// unknown, and only queues and the stream order commands.
[[nodiscard]] std::vector<PathPart> critical_path(std::span<const contract::Event> events, uint64_t cycles,
                                                  std::span<const CommandInfo> commands, uint32_t fifo_depth);

}  // namespace npu::report
