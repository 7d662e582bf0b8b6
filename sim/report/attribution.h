// SPDX-License-Identifier: Apache-2.0
// Who is charged for a cycle. Every cycle of a job is charged to exactly one layer and one cause, so that the sum over
// layers is the job's cycles. The first rule that holds in a cycle decides:
//   1. The MXU executes a command: its layer. Cause: MXU compute, or waiting for scratchpad banks.
//   2. The VPU executes a command: its layer. Cause: VPU compute, or waiting for scratchpad banks.
//   3. DMA is in flight: the layer of the oldest such command. Cause: what that command moves.
//   4. A command was issued and waits for its tokens: the layer of the oldest one. Cause: tokens.
//   5. The next command is not issued yet: its layer. Cause: command issue. Behind the last command: the last layer.
// So transfers that hide behind compute cost nothing, and a layer is never charged less than its own MXU time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "sim/report/command_list.h"

namespace npu::report {

enum class Cause : uint8_t {
  kMxuCompute,
  kVpuCompute,
  kBankConflicts,
  kWeightLoad,
  kDramRead,
  kDramWrite,
  kState,
  kOnChipCopy,
  kTokens,
  kCommandIssue,
};
inline constexpr size_t kCauseCount = 10;
[[nodiscard]] std::string_view name(Cause cause);   // "weight_load", a key
[[nodiscard]] std::string_view words(Cause cause);  // "weight load", for people

using CauseCycles = std::array<uint64_t, kCauseCount>;

// Cycles by layer and cause. Event::layer indexes the result, which has `layers` entries (at least one when `cycles` is
// not 0); `commands` is list_commands() of the program.
[[nodiscard]] std::vector<CauseCycles> attribute(std::span<const contract::Event> events, uint64_t cycles,
                                                 size_t layers, std::span<const CommandInfo> commands);

}  // namespace npu::report
