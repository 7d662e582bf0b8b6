// SPDX-License-Identifier: Apache-2.0
#include "hw/model/register_file.h"

#include <bit>
#include <cstring>

#include "hw/model/words.h"

namespace npu::model {

namespace reg = contract::reg;
using contract::ErrorCode;

namespace {

static_assert(std::endian::native == std::endian::little, "registers and memory structures are little endian");

constexpr uint8_t kReadable = 1, kWritable = 2;

bool within(uint32_t offset, uint32_t first, uint32_t count, uint32_t step) {
  return offset >= first && offset < first + count * step;
}

}  // namespace

RegisterFile::RegisterFile(Machine& machine, Actions actions)
    : machine_(machine), actions_(std::move(actions)), persistent_(machine) {
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    if (info.block != contract::Block::kId && info.block != contract::Block::kCore) continue;
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t word = (info.offset + i * info.step) / 4;
      mapped_[word] = kReadable | (info.writable ? kWritable : 0);
      words_[word] = info.reset;
    }
  }
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    mapped_[info.register_offset / 4] = kReadable;
    words_[info.register_offset / 4] = machine.config.caps.*info.member;
  }
  words_[reg::kContractVersion / 4] = contract::kContractMajor << reg::kContractVersionMajorLsb |
                                      contract::kContractMinor << reg::kContractVersionMinorLsb;
  words_[reg::kCapsHash / 4] = contract::caps_hash(machine.config.caps);
  // The scratchpad is mapped out of reset, whole.
  words_[reg::region_limit(0) / 4] = machine.config.caps.spm_bytes;
  words_[reg::region_flags(0) / 4] = reg::kRegionFlagsReadableMask | reg::kRegionFlagsWritableMask |
                                     static_cast<uint32_t>(contract::Space::kScratchpad) << reg::kRegionFlagsSpaceLsb;
}

void RegisterFile::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  payload.set_response_status(access(payload, false));
}

unsigned RegisterFile::transport_dbg(tlm::tlm_generic_payload& payload) {
  return access(payload, true) == tlm::TLM_OK_RESPONSE ? payload.get_data_length() : 0;
}

tlm::tlm_response_status RegisterFile::access(tlm::tlm_generic_payload& payload, bool debug) {
  const uint64_t address = payload.get_address();
  const uint32_t length = payload.get_data_length();
  uint8_t* const data = payload.get_data_ptr();
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (length == 0 || payload.get_streaming_width() < length) return tlm::TLM_BURST_ERROR_RESPONSE;
  const bool write = payload.is_write();
  if (!write && !payload.is_read()) return tlm::TLM_COMMAND_ERROR_RESPONSE;

  if (address >= contract::kPsramWindow) {
    const bool done = persistent_.access(address - contract::kPsramWindow, write, debug, {data, length});
    return done ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }

  if (address % 4 != 0 || length % 4 != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (address + length > contract::kRegisterSpaceBytes) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  for (uint32_t i = 0; i < length; i += 4) {
    const uint8_t rights = mapped_[(address + i) / 4];
    if ((rights & (write ? kWritable : kReadable)) == 0) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  for (uint32_t i = 0; i < length; i += 4) {
    const auto offset = static_cast<uint32_t>(address + i);
    uint32_t value = 0;
    if (write) {
      std::memcpy(&value, data + i, 4);
      this->write(offset, value, debug);
    } else {
      value = read(offset, debug);
      std::memcpy(data + i, &value, 4);
    }
  }
  return tlm::TLM_OK_RESPONSE;
}

uint32_t RegisterFile::read_status() const {
  uint32_t status = 0;
  if (machine_.job.running()) status |= reg::kStatusRunningMask;
  if (done_) status |= reg::kStatusDoneMask;
  if (fault_.code != ErrorCode::kOk) status |= reg::kStatusFaultMask;
  if (preemption_.happened) status |= reg::kStatusPreemptedMask;
  if (machine_.power.ready()) status |= reg::kStatusPoweredMask;
  return status;
}

uint32_t RegisterFile::read_fault(uint32_t offset) const {
  switch (offset) {
    case reg::kFaultCode:
      return static_cast<uint32_t>(fault_.code);
    case reg::kFaultCommand:
      return fault_.command;
    case reg::kFaultOther:
      return fault_.other;
    case reg::kFaultQueue:
      return fault_.queue;
    case reg::kFaultAddressLo:
      return low_word(fault_.offset);
    case reg::kFaultAddressHi:
      return fault_.region | uint32_t{fault_.variable} << 8;
    case reg::kFaultCycleLo:
      return low_word(fault_.cycle);
    default:
      return high_word(fault_.cycle);
  }
}

uint32_t RegisterFile::read_queue(uint32_t offset) const {
  const QueueState state = actions_.queue_state((offset - reg::kQueueState) / reg::kQueueStep);
  return offset % reg::kQueueStep == 0 ? state.encode() : state.command;
}

uint32_t RegisterFile::read(uint32_t offset, bool debug) {
  if (PersistentPort::has(offset)) return persistent_.read(offset, words_[reg::kVarIndex / 4], debug);
  if (within(offset, reg::kCounterLo, reg::kCounterCount, reg::kCounterStep)) {
    const uint64_t value = machine_.counters.value((offset - reg::kCounterLo) / reg::kCounterStep);
    return offset % reg::kCounterStep == 0 ? low_word(value) : high_word(value);
  }
  if (offset >= reg::kFaultCode && offset <= reg::kFaultCycleHi) return read_fault(offset);
  if (within(offset, reg::kQueueState, reg::kQueueCount, reg::kQueueStep)) return read_queue(offset);
  switch (offset) {
    case reg::kControl:
      return 0;
    case reg::kStatus:
      return read_status();
    case reg::kIrqStatus:
      return irq_status_;
    case reg::kIrqEnable:
      return irq_enable_;
    case reg::kEventCount:
      return machine_.events.count();
    case reg::kCommandNext:
      return preemption_.next;
    case reg::kYieldSegment:
      return preemption_.segment;
    case reg::kEnginePower:
      return machine_.power.on() ? reg::kEnginePowerOnMask : 0;
    case reg::kJobCyclesLo:
      return low_word(job_cycles_);
    case reg::kJobCyclesHi:
      return high_word(job_cycles_);
    default:
      return words_[offset / 4];
  }
}

void RegisterFile::control(uint32_t value) {
  if ((value & (reg::kControlColdResetMask | reg::kControlSoftResetMask)) != 0) {
    actions_.reset((value & reg::kControlColdResetMask) != 0);
    return;
  }
  if ((value & reg::kControlStartMask) != 0 && !machine_.job.running()) start();
  if ((value & reg::kControlPreemptMask) != 0) machine_.job.request_preempt();
}

void RegisterFile::start() {
  clear_results();
  if (machine_.power.ready() && machine_.persistent.on()) {
    actions_.start();
    return;
  }
  // The job ends before it has begun.
  machine_.counters.clear();
  machine_.events.clear();
  fault_.code = ErrorCode::kFaultPower;
  fault_.queue = kSequencerQueue;
  irq_status_ |= reg::kIrqStatusJobMask;
  actions_.interrupt_changed();
}

void RegisterFile::switch_power(bool on) {
  if (on) {
    machine_.power.switch_on();
  } else if (machine_.power.on() && !machine_.job.running()) {
    machine_.power.switch_off();
    machine_.scratchpad.lose();
  }
}

void RegisterFile::write(uint32_t offset, uint32_t value, bool debug) {
  if (PersistentPort::has(offset)) {
    persistent_.write(offset, value, words_[reg::kVarIndex / 4], debug);
    return;
  }
  switch (offset) {
    case reg::kControl:
      if (!debug) control(value);
      return;
    case reg::kEnginePower:
      if (!debug) switch_power((value & reg::kEnginePowerOnMask) != 0);
      return;
    case reg::kIrqStatus:
      if (debug) return;
      irq_status_ &= ~value;
      actions_.interrupt_changed();
      return;
    case reg::kIrqEnable:
      irq_enable_ = value & reg::kIrqEnableJobMask;
      actions_.interrupt_changed();
      return;
    default:
      words_[offset / 4] = value;
      return;
  }
}

JobRegisters RegisterFile::job_registers() const {
  const auto word = [&](uint32_t offset) { return words_[offset / 4]; };
  const auto pair = [&](uint32_t lo, uint32_t hi) { return uint64_t{word(hi)} << 32 | word(lo); };
  JobRegisters job;
  job.command_base = pair(reg::kCommandBaseLo, reg::kCommandBaseHi);
  job.command_words = word(reg::kCommandWords);
  job.command_start = word(reg::kCommandStart);
  job.event_base = pair(reg::kEventBaseLo, reg::kEventBaseHi);
  job.event_capacity = word(reg::kEventCapacity);
  job.cycle_limit = pair(reg::kCycleLimitLo, reg::kCycleLimitHi);
  job.cycle_base = pair(reg::kCycleBaseLo, reg::kCycleBaseHi);
  job.counter_base = pair(reg::kCounterBaseLo, reg::kCounterBaseHi);
  job.keep_scratchpad = (word(reg::kJobFlags) & reg::kJobFlagsKeepScratchpadMask) != 0;
  job.owner = static_cast<uint16_t>(word(reg::kJobOwner));
  job.epoch = static_cast<uint8_t>(word(reg::kJobEpoch));
  for (uint32_t i = 0; i < reg::kRegionCount; ++i) {
    const uint32_t flags = word(reg::region_flags(i));
    RegionEntry& region = job.regions[i];
    region.base = pair(reg::region_base_lo(i), reg::region_base_hi(i));
    region.limit = word(reg::region_limit(i));
    region.space = static_cast<contract::Space>((flags & reg::kRegionFlagsSpaceMask) >> reg::kRegionFlagsSpaceLsb);
    region.readable = (flags & reg::kRegionFlagsReadableMask) != 0;
    region.writable = (flags & reg::kRegionFlagsWritableMask) != 0;
  }
  return job;
}

void RegisterFile::job_ended(uint64_t cycles) {
  fault_ = machine_.job.fault();
  preemption_ = machine_.job.preemption();
  done_ = fault_.code == ErrorCode::kOk && !preemption_.happened;
  job_cycles_ = cycles;
  irq_status_ |= reg::kIrqStatusJobMask;
  actions_.interrupt_changed();
}

void RegisterFile::reset() {
  clear_results();
  machine_.power.switch_on();
  irq_status_ = 0;
  actions_.interrupt_changed();
}

void RegisterFile::clear_results() {
  done_ = false;
  fault_ = {};
  preemption_ = {};
  job_cycles_ = 0;
}

}  // namespace npu::model
