// SPDX-License-Identifier: Apache-2.0
// What the sequencer checks of a command's accesses before it issues it.
#include <algorithm>
#include <map>

#include "hw/contract/dma_sides.h"
#include "hw/model/limits.h"
#include "hw/model/sequencer.h"

namespace npu::model {

using contract::ErrorCode;
using contract::Space;
using engine::Access;

namespace {

ByteSet bytes_of_entry(uint16_t index) {
  ByteSet bytes;
  bytes.run = contract::VariableEntry::kBytes;
  bytes.low = uint64_t{index} * bytes.run;
  bytes.high = bytes.low + bytes.run;
  return bytes;
}

}  // namespace

// Rights and limits, then hazards, of one access; notes in `slot` what it means for the command.
bool Sequencer::check_access(const StridedAccess& access, IssuedCommand& slot) {
  const contract::Address& base = access.base;
  const bool read = access.access == Access::kRead;
  const bool variable = base.region == contract::Region::kVariable;
  const uint32_t other = variable ? base.variable : 0;
  int64_t low = 0, high = 0;
  const bool spans = span_of(access, low, high);
  low += base.offset;
  high += base.offset;
  PersistentSram::Verdict verdict;
  if (variable) verdict = machine_.persistent.check(other, spans ? low : 0, spans ? high : 0);
  if (verdict.error == ErrorCode::kFaultEcc) return fault_verdict(verdict, other);

  const Window window = machine_.address_map.window(base, access.access);
  if (window.error != ErrorCode::kOk) return fault_at(window.error, base, base.offset, other);
  if (!access.may_lie_in(window.space)) return fault_at(ErrorCode::kFaultAccessRight, base, base.offset, other);

  const auto limit = static_cast<int64_t>(window.limit);
  if (!spans) return fault_at(ErrorCode::kFaultOutOfBounds, base, base.offset, other);
  if (low < 0) return fault_at(ErrorCode::kFaultOutOfBounds, base, static_cast<uint64_t>(low), other);
  if (high > limit) return fault_at(ErrorCode::kFaultOutOfBounds, base, static_cast<uint64_t>(high) - 1, other);
  if (!verdict.ok()) return fault_at(verdict.error, base, base.offset, other);  // of a back end that refuses more
  const uint64_t bytes = access.total_bytes();
  ByteSet set;
  if (bytes > kMaxBytesMoved || !byte_set(access, window.base + base.offset, set) || set.runs() > kMaxRuns) {
    return fault_at(ErrorCode::kFaultBadCommand, base, base.offset);
  }
  if (window.space == Space::kDram && reserved(set.low, set.high, !read)) {
    return fault_at(ErrorCode::kFaultHazard, base, static_cast<uint64_t>(low), index_);
  }
  if (window.space == Space::kDram && !variable && machine_.address_map.of_variable(set.low, set.high)) {
    return fault_at(ErrorCode::kFaultAccessRight, base, static_cast<uint64_t>(low));
  }
  // Bytes that the command also writes are checked as writes, which are stricter. Of a variable with two places it
  // writes others than it reads; so nothing can stay there.
  const bool same = !variable || machine_.address_map.window(base, Access::kWrite).base == window.base;
  if (!same && access.moves == 0) return fault_at(ErrorCode::kFaultBadCommand, base, base.offset, other);
  if (!read || !access.in_place || !same) {
    const Conflict conflict = hazards_.access(window.space, set, access.access);
    if (conflict.error != ErrorCode::kOk) {
      return fault_at(conflict.error, base, conflict.address - window.base, conflict.other);
    }
  }

  slot.asked.moved(window.space, read, bytes);
  if (variable) note_use(access, window, set, slot);
  return true;
}

// What the addresses of a DMA command, which was checked, mean.
void Sequencer::resolve(const contract::DmaCommand& dma, IssuedCommand& slot) {
  const AddressMap& map = machine_.address_map;
  slot.dma = dma;
  if (dma.mode != contract::DmaMode::kFill) slot.dma_src = map.window(dma.src, Access::kRead);
  if (contract::has_indices(dma)) slot.dma_index = map.window(dma.index, Access::kRead);
  slot.dma_dst = map.window(dma.dst, Access::kWrite);
}

// Two parts of a variable that one command writes are one write of it.
void Sequencer::note_use(const StridedAccess& access, const Window& window, const ByteSet& bytes, IssuedCommand& slot) {
  VariableUse use{access.base.variable, access.access, access.commit, window, bytes};
  for (const VariableUse& before : slot.variables) {
    if (before.index == use.index && before.commit) use.commit = false;
  }
  slot.variables.push_back(use);
}

// The table entry of a variable is one of the things that a command touches: what completes a write changes it, so all
// that used the variable before must be done by then, and what follows comes behind. Of two places a reader keeps the
// one that it was issued with, whatever is completed meanwhile; but it comes behind what completed the write that it
// reads.
bool Sequencer::check_entries(const IssuedCommand& slot) {
  const auto ordered = [&](uint16_t index, const Conflict& conflict) {
    if (conflict.error == ErrorCode::kOk) return true;
    return fault_at(conflict.error, {0, contract::Region::kVariable, index}, 0, conflict.other);
  };
  std::map<uint16_t, Access> entries;
  for (const VariableUse& use : slot.variables) {
    const bool two = machine_.persistent.table().has(use.index, contract::VariableFlag::kDoubleBuffered);
    if (two && use.access == Access::kRead) {
      if (!ordered(use.index, hazards_.glance(Space::kPersistent, bytes_of_entry(use.index)))) return false;
      continue;
    }
    Access& access = entries.try_emplace(use.index, Access::kRead).first->second;
    if (use.commit) access = Access::kWrite;
  }
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return ordered(entry.first, hazards_.access(Space::kPersistent, bytes_of_entry(entry.first), entry.second));
  });
}

// What a write leaves out of the place that it makes the current one would be of an older value.
bool Sequencer::check_coverage(const IssuedCommand& slot) {
  const auto two = [&](const VariableUse& use) {
    return machine_.persistent.table().has(use.index, contract::VariableFlag::kDoubleBuffered);
  };
  for (const VariableUse& use : slot.variables) {
    if (use.access != Access::kWrite || !two(use)) continue;
    coverage_.add(use.index, use.window.base, use.window.base + use.window.limit, use.bytes);
  }
  return std::all_of(slot.variables.begin(), slot.variables.end(), [&](const VariableUse& use) {
    if (!use.commit || !two(use)) return true;
    if (coverage_.complete(use.index)) return true;
    return fault_at(ErrorCode::kFaultBadCommand, {0, contract::Region::kVariable, use.index}, 0, use.index);
  });
}

// The stream is read, and the event buffer written, behind the back of the tokens.
bool Sequencer::reserved(uint64_t low, uint64_t high, bool write) const {
  const JobRegisters& job = machine_.job.registers();
  const auto overlaps = [&](uint64_t base, uint64_t bytes) { return bytes > 0 && low < base + bytes && base < high; };
  return (write && overlaps(job.command_base, uint64_t{job.command_words} * 4)) ||
         overlaps(job.event_base, uint64_t{job.event_capacity} * contract::Event::kBytes);
}

}  // namespace npu::model
