// SPDX-License-Identifier: Apache-2.0
// What a report must know about the commands of a program: an index from events back to the work.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/commands.h"

namespace npu::report {

// What a command moves; says in words what a machine waits for.
enum class Transfer : uint8_t {
  kNone,       // no DMA
  kConstants,  // weights and other constants from DRAM
  kDramRead,   // activations and inputs from DRAM
  kDramWrite,  // activations and outputs to DRAM
  kState,      // to or from a variable
  kOnChip,     // within the scratchpad
};

enum class VariableUse : uint8_t { kDeclare, kRead, kWrite };
[[nodiscard]] std::string_view name(VariableUse use);

struct VariableAccess {
  uint32_t variable = 0;  // index into Program::variables
  VariableUse use = VariableUse::kRead;
};

struct CommandInfo {
  contract::Opcode opcode = contract::Opcode::kEnd;
  Transfer transfer = Transfer::kNone;
  std::vector<VariableAccess> variables;
  contract::Queue queue = contract::Queue::kSequencer;
  uint32_t layer = 0, words = 0;
  uint32_t back_to = 0;  // of a loop's branch: the index of the label that the loop begins with; 0: it is none
  std::array<uint8_t, contract::kWaitQueues> wait{};  // tokens, one a queue
};

// One entry a command of the stream.
[[nodiscard]] std::vector<CommandInfo> list_commands(const compiler::Program& program);

// A token: `command` starts when `awaited`, of another queue, has completed.
struct Wait {
  uint32_t command = 0, awaited = 0;
};
// Of commands in the order in which the sequencer takes them up (a stream without branches, or unroll.h), by `command`.
[[nodiscard]] std::vector<Wait> list_waits(std::span<const CommandInfo> commands);

// What a command moves, for people; empty: it computes.
[[nodiscard]] std::string_view words(Transfer transfer);

}  // namespace npu::report
