// SPDX-License-Identifier: GPL-2.0-only
// Control and status registers of a machine-mode-only RV32IMAC, and the traps that use them. The simulator library's
// own are not used: they know other modes, and count with the host's clock.
//
// mcycle counts as minstret does: the simulator has no notion of time. Event counters read 0.
#pragma once

#include <cstdint>

namespace npu::iss {

// Exceptions, as mcause counts them.
enum Cause : uint32_t {
  kFetchAccessFault = 1,
  kIllegalInstruction = 2,
  kBreakpoint = 3,
  kLoadMisaligned = 4,
  kLoadAccessFault = 5,
  kStoreMisaligned = 6,
  kStoreAccessFault = 7,
  kEnvironmentCall = 11,
};

class CsrFile {
 public:
  void reset();

  // False: there is none of this number. `retired`: instructions retired before this one.
  [[nodiscard]] bool read(uint32_t number, uint64_t retired, uint32_t& value) const;
  // False: there is none, or it is read-only by its number.
  [[nodiscard]] bool write(uint32_t number, uint64_t retired, uint32_t value);

  void set_lines(uint32_t mip) { mip_ = mip; }
  // An interrupt is pending, enabled, and interrupts are on.
  [[nodiscard]] bool interrupt_ready() const { return (mstatus_ & kMie) != 0 && (mip_ & mie_) != 0; }
  // mcause of the pending interrupt that goes first.
  [[nodiscard]] uint32_t interrupt_cause() const;

  // An exception can be taken: there is a vector, and no exception is being handled. One in an interrupt handler can.
  [[nodiscard]] bool can_trap() const { return (mtvec_ & ~3u) != 0 && !handling_exception_; }
  [[nodiscard]] bool handling_exception() const { return handling_exception_; }
  // Takes an exception or an interrupt (bit 31 of the cause) at `pc`; returns where execution goes on.
  [[nodiscard]] uint32_t enter_trap(uint32_t cause, uint32_t value, uint32_t pc);
  // mret: where execution goes on.
  [[nodiscard]] uint32_t leave_trap();

  [[nodiscard]] uint32_t mcause() const { return mcause_; }
  [[nodiscard]] uint32_t mtval() const { return mtval_; }

 private:
  static constexpr uint32_t kMie = 1u << 3, kMpie = 1u << 7, kMpp = 3u << 11;  // of mstatus

  [[nodiscard]] bool read_counter(uint32_t number, uint64_t retired, uint32_t& value) const;
  [[nodiscard]] bool write_counter(uint32_t number, uint64_t retired, uint32_t value);

  uint32_t mstatus_ = kMpp, mie_ = 0, mip_ = 0, mtvec_ = 0, mscratch_ = 0, mepc_ = 0, mcause_ = 0, mtval_ = 0;
  uint64_t cycle_base_ = 0, instret_base_ = 0;  // what the counters are ahead of the retired instructions
  bool handling_exception_ = false;
};

}  // namespace npu::iss
