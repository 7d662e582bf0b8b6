// SPDX-License-Identifier: Apache-2.0
// The registers between host and firmware (block mailbox) and the peripherals of the control CPU that only it sees
// (block cpu): doorbells, interrupts both ways, device time with timer and watchdog, UART, phase records, and why the
// CPU stopped. hw/contract/registers.yaml says what each is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <systemc>

#include "hw/contract/gen/registers.h"
#include "hw/model/clock.h"
#include "hw/model/control_cpu.h"

namespace npu::model {

// What the mailbox moves in the rest of the chip; implemented by Chip.
class MailboxPort {
 public:
  virtual ~MailboxPort() = default;
  // Soft or cold reset of sequencer and engines. May wait.
  virtual void reset_core(bool cold) = 0;
  virtual void host_irq_changed() = 0;
  // A record of the trace port, to DRAM, without time.
  virtual void write_phase(uint64_t address, std::span<const uint8_t> record) = 0;
  // The test hook: the first command of `queue` with index `command` or later never completes; and whether it still is
  // to strike.
  virtual void arm_hang(bool enable, uint32_t queue, uint32_t command) = 0;
  [[nodiscard]] virtual bool hang_armed() const = 0;
  // Test hooks: a stored bit of the word of the persistent SRAM at a byte offset; the bytes that jobs still write to
  // variables before power breaks down, 0: never; the bursts to or from DRAM until one fails, 0: none does.
  virtual void flip_bit(uint32_t address, uint32_t bit) = 0;
  virtual void brown_out(uint32_t bytes) = 0;
  [[nodiscard]] virtual uint32_t brown_out_left() const = 0;
  virtual void fail_burst(uint32_t n) = 0;
  [[nodiscard]] virtual uint32_t bursts_until_error() const = 0;
};

class Mailbox {
 public:
  enum class Side : uint8_t { kHost, kCpu };

  // The clock of device time; `uart` may be empty.
  Mailbox(uint32_t clock_mhz, ControlCpu& cpu, MailboxPort& port, std::function<void(char)> uart);

  // Registers of the two blocks, by their offsets. False: there is none that this side sees, or that the host may
  // write; the CPU's writes to read-only ones are ignored. Of block
  // mailbox the CPU writes firmware_state, firmware_version and firmware_checksum.
  // With `debug`: no side effects; a write does nothing then.
  [[nodiscard]] bool read(Side side, uint32_t offset, bool debug, uint32_t& value);
  [[nodiscard]] bool write(Side side, uint32_t offset, bool debug, uint32_t value);

  // The test hook of that name.
  void drop_interrupts(uint32_t count) { word(contract::reg::kTestDropInterrupts) = count; }
  void set_core_interrupt(bool level);
  void cpu_stopped();
  [[nodiscard]] bool host_interrupt() const;
  // Cycles of the engines' clock from power-on to a moment.
  [[nodiscard]] uint64_t device_time(const sc_core::sc_time& moment) const { return moment.value() / period_.value(); }
  // A write of the CPU at this offset acts on the host's side.
  [[nodiscard]] static bool acts(uint32_t offset);

 private:
  [[nodiscard]] static uint32_t index(uint32_t offset) { return (offset - kFirst) / 4; }
  [[nodiscard]] uint32_t& word(uint32_t offset) { return words_[index(offset)]; }
  [[nodiscard]] uint32_t word(uint32_t offset) const { return words_[index(offset)]; }
  [[nodiscard]] uint64_t pair(uint32_t low_offset) const;
  [[nodiscard]] bool allowed(Side side, uint32_t offset, uint8_t right) const;

  [[nodiscard]] uint32_t value_of(uint32_t offset) const;
  [[nodiscard]] uint64_t time_seen_by(Side side) const;
  [[nodiscard]] uint32_t stop_register(uint32_t offset) const;
  [[nodiscard]] uint32_t cpu_control() const;
  [[nodiscard]] uint32_t cpu_status() const;
  [[nodiscard]] uint32_t interrupt_pending() const;

  void write_mailbox(uint32_t offset, uint32_t value);
  void write_peripheral(uint32_t offset, uint32_t value);
  void write_cpu_control(uint32_t value);
  void arm_hang();
  void reset_peripherals();
  void raise(uint32_t bits);
  void update_cpu_interrupt();
  void update_timer();
  void record_phase(uint32_t value);
  [[nodiscard]] sc_core::sc_time duration(uint64_t cycles) const;

  static constexpr uint32_t kFirst = contract::reg::kDoorbell;  // of both blocks
  static constexpr uint32_t kWords = (contract::kRegisterSpaceBytes - kFirst) / 4;

  const sc_core::sc_time period_;
  ControlCpu& cpu_;
  MailboxPort& port_;
  const std::function<void(char)> uart_;
  std::array<uint32_t, kWords> words_{};
  std::array<uint8_t, kWords> rights_{};    // who may read and write
  std::array<uint32_t, 2> latched_time_{};  // high half, for each side
  bool core_interrupt_ = false;
};

}  // namespace npu::model
