// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The instruction-set simulator of the control CPU (RV32IMAC, machine mode), as the model sees it. What implements it
// is a shared module of its own that the platform loads (iss_module.h); nothing here knows which simulator that is.
//
// The simulator executes; it has no notion of time, devices or interrupts. Code and data memory are the model's own
// arrays, which the simulator reads and writes directly; every other access goes to the bus, and a refused one becomes
// an access fault of the CPU. Not thread-safe: one thread, the simulation's.
#pragma once

#include <cstdint>
#include <span>

namespace npu::model {

// Number of the program counter among the registers; 0 to 31 are x0 to x31.
inline constexpr uint32_t kIssPc = 32;

class IssBus {
 public:
  virtual ~IssBus() = default;
  // An aligned access of 1, 2 or 4 bytes outside of code and data memory. May wait (SystemC). False: access fault.
  // The program counter of the simulator is that of the accessing instruction.
  [[nodiscard]] virtual bool read(uint32_t address, uint32_t bytes, uint32_t& value) = 0;
  [[nodiscard]] virtual bool write(uint32_t address, uint32_t bytes, uint32_t value) = 0;
};

struct IssConfig {
  IssBus* bus = nullptr;
  // Page-aligned, a multiple of 4 KiB each. Code cannot be written by the CPU.
  uint32_t code_base = 0, data_base = 0;
  std::span<uint8_t> code, data;
};

struct IssStop {
  enum class Reason : uint8_t {
    kBudget,      // the instructions asked for are retired
    kWait,        // wfi retired
    kRequested,   // request_stop()
    kBreakpoint,  // about to execute at a breakpoint set with set_breakpoint()
    kTrap,        // a trap that the CPU cannot take: mtvec is 0, or an exception in the handler of another one, before
                  // mret or mstatus.MIE; in the handler of an interrupt it can be taken
    kGivenUp,     // ebreak in the handler of an exception: how the firmware stops the CPU; mepc is where that happened
  };
  Reason reason = Reason::kBudget;
  uint32_t cause = 0, value = 0;  // mcause and mtval, for kTrap and kGivenUp
};

class Iss {
 public:
  virtual ~Iss() = default;

  // First state: all registers 0, traps and interrupts off, the program counter at `pc`, no cached translation of code
  // that has changed. Breakpoints stay.
  virtual void reset(uint32_t pc) = 0;
  // Executes at most `instructions`. Exceptions (illegal instruction, ebreak, ecall, misaligned and refused accesses)
  // are taken as traps of the CPU: mepc, mcause, mtval, mstatus, then mtvec.
  [[nodiscard]] virtual IssStop run(uint64_t instructions) = 0;
  // From a bus call: run() returns after the instruction at hand.
  virtual void request_stop() = 0;
  // From a bus call: run() retires instructions up to so many since reset, the one at hand at least, in place of those
  // that were asked for.
  virtual void end_at(uint64_t retired) = 0;
  // Instructions retired since reset; exact also within a bus call (the accessing instruction is not counted yet).
  [[nodiscard]] virtual uint64_t retired() const = 0;

  // Registers 0 to 31, and kIssPc.
  [[nodiscard]] virtual uint32_t read_register(uint32_t index) const = 0;
  virtual void write_register(uint32_t index, uint32_t value) = 0;
  // Machine-mode CSR by its number.
  [[nodiscard]] virtual uint32_t read_csr(uint32_t number) const = 0;
  virtual void write_csr(uint32_t number, uint32_t value) = 0;

  // The interrupt lines as mip shows them (bit 7 timer, bit 11 external). run() takes an enabled one before the next
  // instruction.
  virtual void set_interrupts(uint32_t mip) = 0;

  virtual void set_breakpoint(uint32_t address, bool on) = 0;
};

}  // namespace npu::model
