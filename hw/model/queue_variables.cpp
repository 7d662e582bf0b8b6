// SPDX-License-Identifier: Apache-2.0
// What the commands of a queue mean for variables beside their bytes: what must be readable when they start, the marks
// of writes, and power that breaks down in the middle of one.
#include <algorithm>
#include <cstring>

#include "hw/model/queue_unit.h"
#include "hw/timing/table_cycles.h"

namespace npu::model {

using contract::ErrorCode;
using contract::Space;
using engine::Access;

namespace {

// Bytes [low, high) of the variable.
struct UsedBytes {
  explicit UsedBytes(const VariableUse& use)
      : low(static_cast<int64_t>(use.bytes.low - use.window.base)),
        high(static_cast<int64_t>(use.bytes.high - use.window.base)) {}
  int64_t low, high;
};

uint64_t length(const ByteSet& bytes) { return bytes.runs() * bytes.run; }

// Calls move(address, bytes) for the runs of a set and the parts of `data` that belong to them.
template <class Move>
void move_runs(const ByteSet& bytes, std::span<uint8_t> data, Move&& move) {
  size_t done = 0;
  bytes.for_each_run([&](uint64_t low, uint64_t high) {
    move(low, data.subspan(done, high - low));
    done += high - low;
    return true;
  });
}

}  // namespace

bool QueueUnit::passed(const IssuedCommand& command, uint16_t index, const PersistentSram::Verdict& verdict) {
  if (verdict.ok()) return true;
  const uint16_t entry = verdict.error == ErrorCode::kFaultEcc ? static_cast<uint16_t>(verdict.entry) : index;
  fault(command, verdict.error, {0, contract::Region::kVariable, entry}, 0);
  return false;
}

// Bytes that are read, or share a word with those that are written, must be right.
bool QueueUnit::words_readable(const IssuedCommand& command, const VariableUse& use) {
  if (use.window.space != Space::kPersistent) return true;
  PersistentSram& memory = machine_.persistent;
  const auto wrong = use.access == Access::kRead ? memory.read(use.bytes) : memory.read_edges(use.bytes);
  if (!wrong) return true;
  const uint64_t offset = *wrong > use.window.base ? *wrong - use.window.base : 0;
  fault(command, ErrorCode::kFaultEcc, {0, contract::Region::kVariable, use.index}, offset);
  return false;
}

bool QueueUnit::begin_variables(const IssuedCommand& command) {
  PersistentSram& memory = machine_.persistent;
  kept_.clear();  // of a command that was aborted
  if (!begin_time(command)) return false;
  for (const VariableUse& use : command.variables) {
    const UsedBytes used(use);
    const bool read = use.access == Access::kRead;
    if (read && !passed(command, use.index, memory.check_read(use.index, used.low, used.high))) return false;
    if (!words_readable(command, use)) return false;
  }
  // Whatever stops the command from here on leaves the mark.
  for (const VariableUse& use : command.variables) {
    const UsedBytes used(use);
    if (use.access != Access::kWrite) continue;
    if (!passed(command, use.index, memory.begin_write(use.index, used.low, used.high))) return false;
  }
  if (machine_.brownout.left() > 0) keep_written(command);
  return true;
}

// A read checks its variable, a write sets its mark.
bool QueueUnit::begin_time(const IssuedCommand& command) {
  const auto accesses = timing::TableAccesses::of(machine_.config.caps);
  const std::span<const VariableUse> uses = command.variables;
  const auto marks = [&](size_t number) {
    const VariableUse& use = uses[number];
    const auto same = [&](const VariableUse& other) {
      return other.access == Access::kWrite && other.index == use.index;
    };
    return use.access == Access::kWrite &&
           !machine_.persistent.table().has(use.index, contract::VariableFlag::kWriting) &&
           std::none_of(uses.begin(), uses.begin() + static_cast<int64_t>(number), same);
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    const bool begins = marks(i);
    machine_.table_port.operate(queue_, begins ? accesses.begin_write() : accesses.check());
    if (machine_.job.aborting()) return false;
  }
  return true;
}

// What a command wrote that stopped.
void QueueUnit::leave_variables(const IssuedCommand& command) {
  for (const VariableUse& use : command.variables) {
    if (use.access == Access::kWrite && use.window.space == Space::kPersistent) machine_.persistent.left(use.bytes);
  }
}

bool QueueUnit::end_variables(const IssuedCommand& command) {
  if (command.variables.empty()) return true;
  if (breaks_down(command)) {
    leave_variables(command);
    return false;
  }
  for (const VariableUse& use : command.variables) {
    if (use.access == Access::kWrite && use.window.space == Space::kPersistent) machine_.persistent.wrote(use.bytes);
  }
  for (const VariableUse& use : command.variables) {
    if (!use.commit) continue;
    machine_.table_port.operate(queue_, timing::TableAccesses::of(machine_.config.caps).commit());
    if (machine_.job.aborting()) return false;
    if (!passed(command, use.index, machine_.persistent.commit_write(use.index))) return false;
    machine_.address_map.commit_done(use.index);
  }
  return true;
}

void QueueUnit::move_bytes(const VariableUse& use, std::span<uint8_t> data, bool write) {
  uint8_t* const memory = machine_.persistent.bytes().data();
  move_runs(use.bytes, data, [&](uint64_t address, std::span<uint8_t> run) {
    if (use.window.space == Space::kDram) {
      static_cast<void>(write ? machine_.memory.debug_write(address, run) : machine_.memory.debug_read(address, run));
    } else {
      write ? std::memcpy(memory + address, run.data(), run.size())
            : std::memcpy(run.data(), memory + address, run.size());
    }
  });
}

// What the command is going to overwrite, for the case that power breaks down.
void QueueUnit::keep_written(const IssuedCommand& command) {
  for (const VariableUse& use : command.variables) {
    if (use.access != Access::kWrite) continue;
    kept_.emplace_back(length(use.bytes));
    move_bytes(use, kept_.back(), false);
  }
}

// The command has written all; of that, only what came before stays.
bool QueueUnit::breaks_down(const IssuedCommand& command) {
  uint64_t bytes = 0;
  for (const auto& kept : kept_) bytes += kept.size();
  uint64_t arrived = machine_.brownout.left();
  const bool struck = machine_.brownout.strikes(bytes);
  size_t number = 0;
  for (const VariableUse& use : command.variables) {
    if (!struck || use.access != Access::kWrite) continue;
    std::vector<uint8_t> stays(kept_[number].size());
    move_bytes(use, stays, false);
    const uint64_t here = std::min<uint64_t>(arrived, stays.size());
    std::copy(kept_[number].begin() + static_cast<int64_t>(here), kept_[number].end(),
              stays.begin() + static_cast<int64_t>(here));
    move_bytes(use, stays, true);
    arrived -= here;
    ++number;
  }
  kept_.clear();
  if (!struck) return false;
  machine_.power.switch_off();
  fault(command, ErrorCode::kFaultPower);
  return true;
}

}  // namespace npu::model
