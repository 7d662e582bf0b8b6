// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/direct_link.h"

#include <array>
#include <cstring>
#include <utility>

#include "driver/runtime/counters.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::Region;
using contract::VariableEntry;
namespace reg = contract::reg;

constexpr std::array<uint32_t, 4> kEntryWords = {reg::kVarWord0, reg::kVarWord1, reg::kVarWord2, reg::kVarWord3};
// Power comes back within 1,000 cycles; a device that takes this many waits for it never will.
constexpr int kPowerWaits = 100;
// What counts every time is the entry's; what a job that runs meanwhile finds in its own variables counts once.
constexpr int kEntryReads = 3;

}  // namespace

void DirectLink::restart(bool cold) {
  hal_.write_register(reg::kControl, cold ? reg::kControlColdResetMask : reg::kControlSoftResetMask);
  JobEnd end;
  end.kind = JobEnd::Kind::kReset;
  finish(std::move(end));
}

void DirectLink::require_room(uint32_t) const {
  if (running_ != nullptr) {
    throw Error(ErrorCode::kWrongOrder,
                "cannot start a job while another runs: a device without firmware runs one at a time.");
  }
}

void DirectLink::write_wide(uint32_t offset_low, uint32_t offset_high, uint64_t value) {
  hal_.write_register(offset_low, static_cast<uint32_t>(value));
  hal_.write_register(offset_high, static_cast<uint32_t>(value >> 32));
}

void DirectLink::write_regions(const contract::Job& job) {
  const auto map = [&](uint32_t index, uint64_t base, uint32_t bytes, uint32_t flags) {
    write_wide(reg::region_base_lo(index), reg::region_base_hi(index), base);
    hal_.write_register(reg::region_limit(index), bytes);
    hal_.write_register(reg::region_flags(index), flags);
  };
  map(static_cast<uint32_t>(Region::kScratchpad), 0, caps_.spm_bytes,
      static_cast<uint32_t>(contract::Space::kScratchpad) << reg::kRegionFlagsSpaceLsb | reg::kRegionFlagsReadableMask |
          reg::kRegionFlagsWritableMask);
  for (const Region region : {Region::kConstants, Region::kWorkspace, Region::kInput, Region::kOutput}) {
    const auto index = static_cast<uint32_t>(region);
    map(index, job.region_base[index], job.region_limit[index], job.region_flags[index]);
  }
}

void DirectLink::submit(uint32_t context, Placement&, const contract::Job& job, JobListener& listener) {
  require_room(context);
  if (asleep_) set_power(contract::PowerState::kActive);
  write_regions(job);
  write_wide(reg::kCommandBaseLo, reg::kCommandBaseHi, job.commands);
  hal_.write_register(reg::kCommandWords, job.command_words);
  write_wide(reg::kEventBaseLo, reg::kEventBaseHi, job.events);
  hal_.write_register(reg::kEventCapacity, job.event_capacity);
  write_wide(reg::kCycleLimitLo, reg::kCycleLimitHi, job.cycle_limit);
  hal_.write_register(reg::kJobOwner, context);
  hal_.write_register(reg::kJobEpoch, job.epoch);
  hal_.write_register(reg::kIrqStatus, reg::kIrqStatusJobMask);
  hal_.write_register(reg::kIrqEnable, reg::kIrqEnableJobMask);
  hal_.write_register(reg::kControl, reg::kControlStartMask);
  running_ = &listener;
}

void DirectLink::cancel(JobListener& listener) {
  if (running_ != &listener) return;
  hal_.write_register(reg::kControl, reg::kControlSoftResetMask);
  JobEnd end;
  end.kind = JobEnd::Kind::kFault;
  end.fault.code = ErrorCode::kJobCancelled;
  finish(std::move(end));
}

void DirectLink::look(Wakeup wakeup) {
  if (running_ == nullptr || wakeup != Wakeup::kInterrupt) return;
  hal_.write_register(reg::kIrqStatus, reg::kIrqStatusJobMask);
  const uint32_t status = hal_.read_register(reg::kStatus);
  if ((status & reg::kStatusRunningMask) != 0) return;
  finish((status & reg::kStatusDoneMask) != 0 ? read_end() : read_fault());
}

void DirectLink::finish(JobEnd end) {
  JobListener* const listener = std::exchange(running_, nullptr);
  if (listener != nullptr) listener->job_ended(std::move(end));
}

JobEnd DirectLink::read_end() {
  JobEnd end;
  end.cycles = hal_.read_register(reg::kJobCyclesLo);
  end.cycles |= uint64_t{hal_.read_register(reg::kJobCyclesHi)} << 32;
  // Low and high halves alternate.
  std::array<uint32_t, size_t{2} * reg::kCounterCount> words;
  static_assert(reg::kCounterStep == 8 && reg::kCounterHi == reg::kCounterLo + 4);
  hal_.read_registers(reg::kCounterLo, words);
  std::array<uint64_t, reg::kCounterCount> values;
  for (size_t i = 0; i < values.size(); ++i) values[i] = words[2 * i] | uint64_t{words[2 * i + 1]} << 32;
  end.counters = counters_from(values);
  end.event_count = hal_.read_register(reg::kEventCount);
  return end;
}

JobEnd DirectLink::read_fault() {
  JobEnd end;
  end.kind = JobEnd::Kind::kFault;
  Fault& fault = end.fault;
  fault.code = static_cast<ErrorCode>(hal_.read_register(reg::kFaultCode));
  fault.command = hal_.read_register(reg::kFaultCommand);
  fault.other = hal_.read_register(reg::kFaultOther);
  fault.queue = static_cast<contract::Queue>(hal_.read_register(reg::kFaultQueue));
  fault.address.offset = hal_.read_register(reg::kFaultAddressLo);
  const uint32_t where = hal_.read_register(reg::kFaultAddressHi);
  fault.address.region = static_cast<Region>(where & 0xff);
  fault.address.variable = static_cast<uint16_t>(where >> 8);
  fault.cycle = hal_.read_register(reg::kFaultCycleLo);
  fault.cycle |= uint64_t{hal_.read_register(reg::kFaultCycleHi)} << 32;
  if (fault.code == ErrorCode::kFaultTimeout) {
    static_assert(reg::kQueueStep == 8 && reg::kQueueCommand == reg::kQueueState + 4);
    std::array<uint32_t, size_t{2} * reg::kQueueCount> words{};
    hal_.read_registers(reg::kQueueState, words);
    for (size_t i = 0; i < end.queue_state.size(); ++i) {
      end.queue_state[i] = words[2 * i];
      end.queue_command[i] = words[2 * i + 1];
    }
  }
  hal_.write_register(reg::kControl, reg::kControlSoftResetMask);
  if (fault.code == ErrorCode::kFaultPower) asleep_ = true;  // power broke down: the next job switches it on
  return end;
}

void DirectLink::set_power(contract::PowerState state) {
  asleep_ = state == contract::PowerState::kSleep;
  hal_.write_register(reg::kEnginePower, asleep_ ? 0 : reg::kEnginePowerOnMask);
  if (asleep_) return;
  for (int i = 0; i < kPowerWaits; ++i) {
    if ((hal_.read_register(reg::kStatus) & reg::kStatusPoweredMask) != 0) return;
    static_cast<void>(hal_.wait_interrupt(std::chrono::milliseconds(1)));
  }
  throw Error(ErrorCode::kFaultPower, "the engines were switched on, but status.powered stays 0.");
}

void DirectLink::set_persistent_power(contract::PsramPower state) {
  hal_.write_register(reg::kPsramPower, static_cast<uint32_t>(state));
}

Link::Scrubbed DirectLink::scrub() {
  const uint32_t corrected = hal_.read_register(reg::kEccCorrected);
  const uint32_t uncorrectable = hal_.read_register(reg::kEccUncorrectable);
  hal_.write_register(reg::kPsramScrub, reg::kPsramScrubStartMask);
  return {hal_.read_register(reg::kEccCorrected) - corrected,
          hal_.read_register(reg::kEccUncorrectable) - uncorrectable};
}

void DirectLink::acknowledge_loss() { hal_.write_register(reg::kPsramStatus, reg::kPsramStatusLostMask); }

void DirectLink::write_entries(std::span<const Write> writes) {
  for (const Write& write : writes) {
    std::array<uint8_t, VariableEntry::kBytes> bytes{};
    write.entry.store(bytes.data());
    std::array<uint32_t, kEntryWords.size()> words{};
    std::memcpy(words.data(), bytes.data(), bytes.size());
    hal_.write_register(reg::kVarIndex, write.index);
    // A running job of another context may look at the entry between two words: it is free until it is complete.
    hal_.write_register(reg::kVarWord1, 0);
    for (const size_t i : {0, 2, 3}) hal_.write_register(kEntryWords[i], words[i]);
    if (write.entry.length != 0) hal_.write_register(reg::kVarWord1, words[1]);
  }
}

std::vector<VariableEntry> DirectLink::read_entries(std::span<const uint32_t> indices) {
  for (int i = 0; i < kEntryReads; ++i) {
    // A register that shows what cannot be read gives some value, and only the count tells.
    const uint32_t uncorrectable = hal_.read_register(reg::kEccUncorrectable);
    std::vector<VariableEntry> entries = read_once(indices);
    if (hal_.read_register(reg::kEccUncorrectable) == uncorrectable) return entries;
  }
  throw Error(ErrorCode::kFaultEcc, "an entry of the variable table has two wrong bits in a word.");
}

std::vector<VariableEntry> DirectLink::read_once(std::span<const uint32_t> indices) {
  std::vector<VariableEntry> entries;
  for (const uint32_t index : indices) {
    std::array<uint32_t, kEntryWords.size()> words{};
    hal_.write_register(reg::kVarIndex, index);
    for (size_t i = 0; i < words.size(); ++i) words[i] = hal_.read_register(kEntryWords[i]);
    std::array<uint8_t, VariableEntry::kBytes> bytes{};
    std::memcpy(bytes.data(), words.data(), bytes.size());
    entries.push_back(VariableEntry::load(bytes.data()));
  }
  return entries;
}

}  // namespace npu::runtime
