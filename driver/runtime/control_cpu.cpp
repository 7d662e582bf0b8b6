// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/control_cpu.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "hw/contract/error.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

constexpr std::chrono::nanoseconds kWaitSlice = std::chrono::milliseconds(20);
// Cycles of the control CPU's clock that a boot takes at most beside other waits: three times what its tests take.
constexpr uint64_t kBootCycles = 500'000;
// Waits in which no device time passed, one after the other, before it counts as standing still. A wake() that came too
// late for an earlier wait can end one.
constexpr int kStandstill = 4;

std::string version_name(uint32_t version) { return fmt::format("{}.{}", version >> 16, version & 0xffff); }

}  // namespace

ControlCpu::ControlCpu(Hal& hal, const contract::Capabilities& caps, std::vector<uint8_t> image,
                       std::string_view symbols, bool polling)
    : hal_(hal),
      clock_mhz_(caps.clock_mhz),
      cpu_clock_mhz_(caps.cpu_clock_mhz),
      polling_(polling),
      bytes_(std::move(image)),
      image_(parse_firmware(bytes_)),
      symbols_(symbols) {}

void ControlCpu::load(bool cold) {
  ready_ = false;
  hal_.write_register(reg::kCpuControl, 0);
  hal_.write_register(reg::kCpuControl, cold ? reg::kCpuControlResetAllMask : reg::kCpuControlResetCoreMask);
  hal_.write_window(Window::kCode, 0, image_.code);
}

void ControlCpu::start(const Memory& memory) {
  const auto write_wide = [&](uint32_t offset_low, uint32_t offset_high, uint64_t value) {
    hal_.write_register(offset_low, static_cast<uint32_t>(value));
    hal_.write_register(offset_high, static_cast<uint32_t>(value >> 32));
  };
  constexpr uint32_t kAll =
      reg::kHostIrqStatusCompletionMask | reg::kHostIrqStatusFirmwareMask | reg::kHostIrqStatusCpuStoppedMask;
  write_wide(reg::kAdminRingLo, reg::kAdminRingHi, memory.admin_ring);
  write_wide(reg::kPhaseBaseLo, reg::kPhaseBaseHi, memory.phases);
  hal_.write_register(reg::kPhaseCapacity, memory.phase_capacity);
  hal_.write_register(reg::kHostIrqStatus, kAll);
  hal_.write_register(reg::kHostIrqEnable, polling_ ? 0 : kAll);
  hal_.write_register(reg::kCpuControl, reg::kCpuControlRunMask);

  Patience patience(*this, kBootCycles);
  for (;;) {
    const Wakeup wakeup = wait();
    take_interrupts();
    const uint32_t word = hal_.read_register(reg::kFirmwareState);
    const auto state = static_cast<contract::FirmwareState>(word & reg::kFirmwareStateStateMask);
    if (state == contract::FirmwareState::kReady) break;
    if (state == contract::FirmwareState::kFailed) {
      const uint32_t detail = (word & reg::kFirmwareStateDetailMask) >> reg::kFirmwareStateDetailLsb;
      const auto test = static_cast<contract::SelfTest>(detail);
      // Without data memory the firmware gets no further than to the name of this test.
      if (test != contract::SelfTest::kDataMemory) check_running_version();
      hal_.write_register(reg::kCpuControl, 0);  // where it waits says nothing
      throw FirmwareGone(fmt::format("the firmware's self-test failed: {} ({})", contract::name(test), detail));
    }
    patience.check(wakeup, fmt::format("did not get ready (its state is '{}')", contract::name(state)));
  }
  check_running_version();
  // Between a device's write of the state and this read of it, another write of the state may have come.
  take_interrupts();
  ready_ = true;
}

void ControlCpu::check_running_version() {
  const uint32_t version = hal_.read_register(reg::kFirmwareVersion);
  const uint32_t checksum = hal_.read_register(reg::kFirmwareChecksum);
  const uint32_t own = uint32_t{image_.header.major} << 16 | image_.header.minor;
  if (version != own || checksum != image_.header.checksum) {
    throw Error(ErrorCode::kFirmwareMismatch,
                fmt::format("the firmware that runs says that it has version {} and checksum {:#010x}, but the image "
                            "that was loaded has version {} and checksum {:#010x}; use firmware, driver and device of "
                            "the same release.",
                            version_name(version), checksum, version_name(own), image_.header.checksum));
  }
}

uint64_t ControlCpu::time() {
  static_assert(reg::kTimeHi == reg::kTimeLo + 4);
  std::array<uint32_t, 2> words{};
  hal_.read_registers(reg::kTimeLo, words);
  return words[0] | uint64_t{words[1]} << 32;
}

// The halves are not latched.
uint64_t ControlCpu::busy_cycles() {
  uint32_t high = hal_.read_register(reg::kCpuBusyHi);
  for (;;) {
    const uint32_t low = hal_.read_register(reg::kCpuBusyLo);
    const uint32_t again = hal_.read_register(reg::kCpuBusyHi);
    if (again == high) return low | uint64_t{high} << 32;
    high = again;
  }
}

uint32_t ControlCpu::take_interrupts() {
  const uint32_t bits = hal_.read_register(reg::kHostIrqStatus);
  if (bits != 0) hal_.write_register(reg::kHostIrqStatus, bits);
  if ((bits & reg::kHostIrqStatusCpuStoppedMask) != 0) {
    throw FirmwareGone(runtime::describe_stop(read_stop(), symbols_));
  }
  if (ready_ && (bits & reg::kHostIrqStatusFirmwareMask) != 0) {
    throw FirmwareGone("the firmware started again without being asked to");
  }
  return bits;
}

std::string ControlCpu::hold_and_describe() {
  if ((hal_.read_register(reg::kCpuStatus) & reg::kCpuStatusRunningMask) == 0) return {};
  hal_.write_register(reg::kCpuControl, 0);
  return "; the control CPU was at " + describe_place(read_stop(), symbols_);
}

StoppedCpu ControlCpu::read_stop() {
  StoppedCpu cpu;
  const uint32_t status = hal_.read_register(reg::kCpuStatus);
  cpu.reason = (status & reg::kCpuStatusReasonMask) >> reg::kCpuStatusReasonLsb;
  cpu.pc = hal_.read_register(reg::kStopPc);
  cpu.cause = hal_.read_register(reg::kStopCause);
  cpu.value = hal_.read_register(reg::kStopValue);
  static_assert(reg::kStopRegisterStep == 4 && reg::kStopRegisterCount == 32);
  hal_.read_registers(reg::kStopRegister, cpu.registers);
  cpu.data.resize(contract::kCpuDataBytes);
  hal_.read_window(Window::kData, 0, cpu.data);
  return cpu;
}

Wakeup ControlCpu::wait() {
  const std::chrono::nanoseconds slice = polling_ ? kPollSlice : kWaitSlice;
  const auto start = std::chrono::steady_clock::now();
  if (hal_.wait_interrupt(slice)) return Wakeup::kInterrupt;
  return std::chrono::steady_clock::now() - start < slice / 2 ? Wakeup::kNothing : Wakeup::kTimeout;
}

bool Standstill::check(Wakeup wakeup, uint64_t time) {
  waits_ = wakeup == Wakeup::kNothing && time == last_ ? waits_ + 1 : 0;
  last_ = time;
  return waits_ >= kStandstill;
}

void Patience::check(Wakeup wakeup, std::string_view what) {
  const uint64_t now = cpu_.time();
  if (now - start_ > limit_) {
    throw FirmwareGone(fmt::format("the firmware {} within {} cycles", what, limit_));
  }
  if (standstill_.check(wakeup, now)) {
    throw FirmwareGone(fmt::format("the firmware {}, and nothing in the device moves any more", what));
  }
}

}  // namespace npu::runtime
