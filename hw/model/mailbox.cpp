// SPDX-License-Identifier: Apache-2.0
#include "hw/model/mailbox.h"

#include <utility>

#include "hw/contract/gen/commands.h"
#include "hw/model/words.h"

namespace npu::model {

namespace reg = contract::reg;
using contract::Block;
using sc_core::sc_max_time;
using sc_core::sc_time;

namespace {

constexpr uint8_t kHostReads = 1, kHostWrites = 2, kCpuReads = 4, kCpuWrites = 8;

bool written_by_firmware(uint32_t offset) {
  return offset == reg::kFirmwareState || offset == reg::kFirmwareVersion || offset == reg::kFirmwareChecksum;
}

uint8_t rights(const contract::RegisterInfo& info) {
  if (info.block == Block::kCpu) return kCpuReads | (info.writable ? kCpuWrites : 0);
  return kHostReads | kCpuReads | (info.writable ? kHostWrites : 0) |
         (written_by_firmware(info.offset) ? kCpuWrites : 0);
}

}  // namespace

Mailbox::Mailbox(uint32_t clock_mhz, ControlCpu& cpu, MailboxPort& port, std::function<void(char)> uart)
    : period_(Clock(clock_mhz, Mode::kTimed).period()), cpu_(cpu), port_(port), uart_(std::move(uart)) {
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    if (info.block != Block::kMailbox && info.block != Block::kCpu) continue;
    for (uint32_t i = 0; i < info.count; ++i) {
      rights_[index(info.offset + i * info.step)] = rights(info);
      word(info.offset + i * info.step) = info.reset;
    }
  }
}

// --- Time

uint64_t Mailbox::time_seen_by(Side side) const {
  return device_time(side == Side::kCpu ? cpu_.local_time() : sc_core::sc_time_stamp());
}

sc_time Mailbox::duration(uint64_t cycles) const {
  if (cycles >= sc_max_time().value() / period_.value()) return sc_max_time();
  return sc_time::from_value(cycles * period_.value());
}

void Mailbox::update_timer() { cpu_.set_timer(duration(pair(reg::kTimerCompareLo))); }

// --- Reading

uint64_t Mailbox::pair(uint32_t low_offset) const { return uint64_t{word(low_offset + 4)} << 32 | word(low_offset); }

bool Mailbox::allowed(Side side, uint32_t offset, uint8_t right) const {
  if (offset < kFirst || offset >= contract::kRegisterSpaceBytes) return false;
  const int shift = side == Side::kHost ? 0 : 2;  // kHostReads to kCpuReads
  return (rights_[index(offset)] & right << shift) != 0;
}

bool Mailbox::read(Side side, uint32_t offset, bool debug, uint32_t& value) {
  if (!allowed(side, offset, kHostReads)) return false;
  uint32_t& latched = latched_time_[static_cast<size_t>(side)];
  if (offset == reg::kTimeLo) {
    value = low_word(time_seen_by(side));
    if (!debug) latched = high_word(time_seen_by(side));
  } else {
    value = offset == reg::kTimeHi ? latched : value_of(offset);
  }
  return true;
}

uint32_t Mailbox::value_of(uint32_t offset) const {
  switch (offset) {
    case reg::kDoorbell:
    case reg::kHostIrqRaise:
    case reg::kUart:
      return 0;
    case reg::kCpuControl:
      return cpu_control();
    case reg::kCpuStatus:
      return cpu_status();
    case reg::kStopPc:
      return cpu_.stop().pc;
    case reg::kStopCause:
      return cpu_.stop().cause;
    case reg::kStopValue:
      return cpu_.stop().value;
    case reg::kCpuBusyLo:
      return low_word(cpu_.busy_cycles());
    case reg::kCpuBusyHi:
      return high_word(cpu_.busy_cycles());
    case reg::kCpuRetiredLo:
      return low_word(cpu_.retired());
    case reg::kCpuRetiredHi:
      return high_word(cpu_.retired());
    case reg::kTestHang:
      return (word(offset) & ~reg::kTestHangEnableMask) | (port_.hang_armed() ? reg::kTestHangEnableMask : 0);
    case reg::kTestBrownout:
      return port_.brown_out_left();
    case reg::kTestBusError:
      return port_.bursts_until_error();
    case reg::kInterruptPending:
      return interrupt_pending();
    default:
      return offset >= reg::kStopRegister && offset < reg::kInterruptPending ? stop_register(offset) : word(offset);
  }
}

uint32_t Mailbox::stop_register(uint32_t offset) const {
  return cpu_.stop().registers[(offset - reg::kStopRegister) / reg::kStopRegisterStep];
}

uint32_t Mailbox::cpu_control() const { return cpu_.held() ? 0 : reg::kCpuControlRunMask; }

uint32_t Mailbox::cpu_status() const {
  const bool stopped = !cpu_.held() && !cpu_.running();
  return (cpu_.running() ? reg::kCpuStatusRunningMask : 0) | (cpu_.waiting() ? reg::kCpuStatusWaitingMask : 0) |
         (stopped ? reg::kCpuStatusStoppedMask : 0) |
         static_cast<uint32_t>(cpu_.stop().reason) << reg::kCpuStatusReasonLsb;
}

uint32_t Mailbox::interrupt_pending() const {
  return (word(reg::kDoorbellPending) != 0 ? reg::kInterruptPendingDoorbellMask : 0) |
         (core_interrupt_ ? reg::kInterruptPendingCoreMask : 0);
}

// --- Writing

bool Mailbox::acts(uint32_t offset) { return offset == reg::kHostIrqRaise || offset == reg::kFirmwareState; }

bool Mailbox::write(Side side, uint32_t offset, bool debug, uint32_t value) {
  // For the host a register that it may only read is an error; the firmware's write is ignored.
  if (!allowed(side, offset, kHostReads)) return false;
  if (!allowed(side, offset, kHostWrites)) return side == Side::kCpu;
  if (debug) return true;
  if (offset >= reg::kInterruptPending) {
    write_peripheral(offset, value);
  } else {
    write_mailbox(offset, value);
  }
  return true;
}

void Mailbox::write_mailbox(uint32_t offset, uint32_t value) {
  switch (offset) {
    case reg::kDoorbell:
      if (value < 32 && !cpu_.held()) word(reg::kDoorbellPending) |= 1u << value;
      update_cpu_interrupt();
      break;
    case reg::kHostIrqStatus:
      word(offset) &= ~value;
      port_.host_irq_changed();
      break;
    case reg::kHostIrqEnable:
      word(offset) = value;
      port_.host_irq_changed();
      break;
    case reg::kFirmwareState:
      word(offset) = value;
      raise(reg::kHostIrqStatusFirmwareMask);
      break;
    case reg::kCpuControl:
      write_cpu_control(value);
      break;
    case reg::kTestHang:
      word(offset) = value;
      arm_hang();
      break;
    case reg::kTestHangCommand:
      word(offset) = value;
      if (port_.hang_armed()) arm_hang();
      break;
    case reg::kTestFlipBit:
      word(offset) = value;
      port_.flip_bit(word(reg::kTestFlipAddress), value);
      break;
    case reg::kTestBrownout:
      port_.brown_out(value);
      break;
    case reg::kTestBusError:
      port_.fail_burst(value);
      break;
    default:
      word(offset) = value;
      break;
  }
}

void Mailbox::write_peripheral(uint32_t offset, uint32_t value) {
  switch (offset) {
    case reg::kInterruptEnable:
      word(offset) = value & (reg::kInterruptPendingDoorbellMask | reg::kInterruptPendingCoreMask);
      update_cpu_interrupt();
      break;
    case reg::kDoorbellPending:
      word(offset) &= ~value;
      update_cpu_interrupt();
      break;
    case reg::kHostIrqRaise:
      raise(value);
      break;
    case reg::kTimerCompareLo:
    case reg::kTimerCompareHi:
      word(offset) = value;
      update_timer();
      break;
    case reg::kWatchdog:
      word(offset) = value;
      cpu_.set_watchdog(duration(value));
      break;
    case reg::kUart:
      if (uart_) uart_(static_cast<char>(value));
      break;
    case reg::kPhase:
      word(offset) = value;
      record_phase(value);
      break;
    default:
      word(offset) = value;
      break;
  }
}

void Mailbox::write_cpu_control(uint32_t value) {
  if ((value & reg::kCpuControlRunMask) != 0) {
    if (cpu_.held()) word(reg::kPhaseCount) = 0;
    cpu_.release();
    return;
  }
  cpu_.hold();
  reset_peripherals();
  if ((value & reg::kCpuControlResetAllMask) != 0) {
    word(reg::kTestDropInterrupts) = 0;
    port_.reset_core(true);
  } else if ((value & reg::kCpuControlResetCoreMask) != 0) {
    port_.reset_core(false);
  }
}

void Mailbox::reset_peripherals() {
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    if (info.block == Block::kCpu) word(info.offset) = info.reset;
  }
  word(reg::kFirmwareState) = word(reg::kFirmwareVersion) = word(reg::kFirmwareChecksum) = 0;
  update_timer();
  cpu_.set_watchdog(sc_core::SC_ZERO_TIME);
  update_cpu_interrupt();
}

void Mailbox::arm_hang() {
  const uint32_t hang = word(reg::kTestHang);
  port_.arm_hang((hang & reg::kTestHangEnableMask) != 0, (hang & reg::kTestHangQueueMask) >> reg::kTestHangQueueLsb,
                 word(reg::kTestHangCommand));
}

// --- Interrupts and records

void Mailbox::raise(uint32_t bits) {
  constexpr uint32_t kAll =
      reg::kHostIrqStatusCompletionMask | reg::kHostIrqStatusFirmwareMask | reg::kHostIrqStatusCpuStoppedMask;
  if ((bits & kAll) == 0) return;
  if (word(reg::kTestDropInterrupts) != 0) {
    --word(reg::kTestDropInterrupts);
    return;
  }
  word(reg::kHostIrqStatus) |= bits & kAll;
  port_.host_irq_changed();
}

bool Mailbox::host_interrupt() const { return (word(reg::kHostIrqStatus) & word(reg::kHostIrqEnable)) != 0; }

void Mailbox::cpu_stopped() { raise(reg::kHostIrqStatusCpuStoppedMask); }

void Mailbox::set_core_interrupt(bool level) {
  core_interrupt_ = level;
  update_cpu_interrupt();
}

void Mailbox::update_cpu_interrupt() {
  cpu_.set_external_interrupt((interrupt_pending() & word(reg::kInterruptEnable)) != 0);
}

void Mailbox::record_phase(uint32_t value) {
  const uint32_t capacity = word(reg::kPhaseCapacity);
  if (capacity == 0) return;
  contract::PhaseRecord record;
  record.time = time_seen_by(Side::kCpu);
  record.id = value & reg::kPhaseIdMask;
  record.argument = (value & reg::kPhaseArgumentMask) >> reg::kPhaseArgumentLsb;
  std::array<uint8_t, contract::PhaseRecord::kBytes> bytes;
  record.store(bytes.data());
  const uint64_t place = word(reg::kPhaseCount)++ % capacity;
  port_.write_phase(pair(reg::kPhaseBaseLo) + place * bytes.size(), bytes);
}

}  // namespace npu::model
