// SPDX-License-Identifier: Apache-2.0
// What a debugger of the control CPU (a GDB server, for one) and the CPU say to each other. All calls happen in the
// simulation's thread.
#pragma once

#include <cstdint>
#include <span>

namespace npu::model {

// Implemented by the debugger; ControlCpu::attach() takes it.
class CpuDebugger {
 public:
  enum class Halt : uint8_t {
    kReset,       // the CPU left reset; nothing is executed yet
    kBreakpoint,  // the program counter is at a breakpoint
    kStep,        // the one instruction asked for is executed
    kInterrupt,   // interrupt_requested() or ControlCpu::request_halt()
    kStopped,     // the CPU stopped (trap, watchdog, given up); it stays so until reset, whatever is answered
  };
  enum class Resume : uint8_t { kContinue, kStep };

  virtual ~CpuDebugger() = default;
  // The CPU halted. Returns when it shall go on; until then simulated time stands still.
  [[nodiscard]] virtual Resume halted(Halt why) = 0;
  // Polled between slices of execution, so it must be cheap. True: halted(kInterrupt) follows at once.
  [[nodiscard]] virtual bool interrupt_requested() = 0;
};

// What a debugger may do with the CPU; implemented by ControlCpu.
class CpuDebugPort {
 public:
  virtual ~CpuDebugPort() = default;
  // x0 to x31, and kIssPc (hw/model/iss.h).
  [[nodiscard]] virtual uint32_t debug_register(uint32_t index) const = 0;
  virtual void set_debug_register(uint32_t index, uint32_t value) = 0;
  // Machine-mode CSR by its number; 0 for one that there is not.
  [[nodiscard]] virtual uint32_t debug_csr(uint32_t number) const = 0;
  // Memory as the CPU addresses it, without side effects and without time. A range may touch one memory only: code,
  // data, registers (whole aligned words), persistent SRAM or DRAM. False: not there; writing code is refused too.
  [[nodiscard]] virtual bool debug_read(uint32_t address, std::span<uint8_t> bytes) = 0;
  [[nodiscard]] virtual bool debug_write(uint32_t address, std::span<const uint8_t> bytes) = 0;
  // Stops before the instruction at `address` is executed. Breakpoints survive resets.
  virtual void set_breakpoint(uint32_t address, bool on) = 0;
};

}  // namespace npu::model
