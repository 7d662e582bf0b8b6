// SPDX-License-Identifier: Apache-2.0
// Control flow: label and branch.
#include <cstring>

#include "hw/model/limits.h"
#include "hw/model/sequencer.h"
#include "hw/timing/sequencer_cycles.h"

namespace npu::model {

using contract::BranchMode;
using contract::Counter;
using contract::ErrorCode;
using engine::Access;

// Behind it nothing is in flight, so hazards are looked for between the commands of one block only.
bool Sequencer::drain_block() {
  if (!drain()) return false;
  spend(Counter::kStalled);
  hazards_.everything_done();
  return true;
}

// Asks for one kind: a branch goes to labels only, so that a stream says where it can be entered.
bool Sequencer::has_landed(const DecodedCommand& command) {
  const bool ok = !landing_ || std::holds_alternative<contract::LabelCommand>(command);
  landing_ = false;
  return ok;
}

bool Sequencer::label(const contract::LabelCommand& command) {
  if (command.index != index_) return fault(ErrorCode::kFaultBadCommand);
  return drain_block() && complete();
}

bool Sequencer::branch(const contract::BranchCommand& command) {
  if (!drain_block()) return false;
  const std::optional<bool> taken = is_taken(command);
  if (!taken) return false;
  spend(Counter::kBusy);
  if (!complete()) return false;
  return !*taken || jump(command);
}

std::optional<bool> Sequencer::is_taken(const contract::BranchCommand& command) {
  switch (command.mode) {
    case BranchMode::kAlways:
      return true;
    case BranchMode::kIfFalse: {
      const std::span<const uint8_t> condition = reach(command.condition, Access::kRead, 1);
      if (condition.empty()) return std::nullopt;
      wait_cycles(timing::kConditionCycles);
      return condition[0] == 0;
    }
    case BranchMode::kRepeat:
      return repeats(command);
  }
  return std::nullopt;
}

std::optional<bool> Sequencer::repeats(const contract::BranchCommand& command) {
  uint32_t count = 0;
  const std::span<uint8_t> counter = reach(command.counter, Access::kWrite, sizeof(count));
  if (counter.empty() || reach(command.counter, Access::kRead, sizeof(count)).empty()) return std::nullopt;
  std::memcpy(&count, counter.data(), sizeof(count));
  if (count >= command.limit) {
    fault(ErrorCode::kLoopLimit, command.limit);
    return std::nullopt;
  }
  ++count;
  std::memcpy(counter.data(), &count, sizeof(count));
  const auto low = static_cast<uint64_t>(counter.data() - machine_.scratchpad.bytes().data());
  machine_.scratchpad.touch(low, low + sizeof(count));
  Traffic moved;
  moved.spm_written = sizeof(count);
  add_bytes(machine_.counters, kSequencerQueue, moved, moved);
  wait_cycles(timing::kCounterCycles);
  return true;
}

std::span<uint8_t> Sequencer::reach(const contract::Address& address, Access access, uint32_t bytes) {
  const auto refuse = [&](ErrorCode code) {
    fault_at(code, address, address.offset, address.variable);
    return std::span<uint8_t>();
  };
  const Window window = machine_.address_map.window(address, access);
  if (window.error != ErrorCode::kOk) return refuse(window.error);
  if (window.space != contract::Space::kScratchpad) return refuse(ErrorCode::kFaultAccessRight);
  if (window.limit < bytes || address.offset > window.limit - bytes) return refuse(ErrorCode::kFaultOutOfBounds);
  const uint64_t at = window.base + address.offset;
  if (at % bytes != 0) return refuse(ErrorCode::kFaultBadCommand);
  if (access == Access::kRead) {
    Traffic moved;
    moved.spm_read = bytes;
    add_bytes(machine_.counters, kSequencerQueue, moved, moved);
  }
  return machine_.scratchpad.bytes().subspan(at, bytes);
}

bool Sequencer::jump(const contract::BranchCommand& command) {
  const JobRegisters& job = machine_.job.registers();
  if (command.target >= job.command_words || command.target_index == 0 || command.target_index >= expected_commands_) {
    return fault(ErrorCode::kFaultBadCommand);
  }
  if (command.target_index <= index_ && ++repeats_ > machine_.config.most_repeats) {
    return fault(ErrorCode::kFaultTimeout, contract::kTimeoutRepeats);
  }
  if (!settle()) return false;
  fetch_.jump(4 * uint64_t{command.target});
  index_ = command.target_index - 1;
  landing_ = true;
  return true;
}

}  // namespace npu::model
