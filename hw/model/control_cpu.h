// SPDX-License-Identifier: Apache-2.0
// The control CPU: RV32IMAC with code and data memory of its own, as a SystemC module around an instruction-set
// simulator.
//
// Time: every instruction takes one cycle of the CPU's clock, an access to registers or to persistent SRAM
// kBusCycles more, a load from DRAM what DRAM takes for the line around it, rounded up to CPU cycles. Loads from the
// line that was read last take no more, until the CPU accesses a register or waits: news from others come with a
// register. A store to DRAM takes kBusCycles unless CpuStores::kPlaces earlier ones are on their way; a write of a
// register or of persistent SRAM waits for those, so that what it announces is there. The CPU runs ahead of the
// simulation by at most kQuantum cycles, or further where that is allowed and makes no difference (run_ahead()); before
// an access outside of its own memories it is brought into step, unless nothing in the simulation could tell the
// difference. In wfi and in reset it waits for events and costs nothing. The same rule holds in functional mode: the
// CPU's time always passes.
//
// Interrupts are looked at before every instruction; lines change when the CPU is in step, so at the latest a quantum
// after what caused them. Timer and watchdog hit the exact cycle.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <systemc>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"
#include "hw/model/cpu_buffers.h"
#include "hw/model/cpu_debugger.h"
#include "hw/model/iss.h"

namespace npu::model {

// Where the simulator comes from: the model does not know who implements it. Called once, at construction; throws
// npu::Error if there is none.
using IssFactory = std::function<std::unique_ptr<Iss>(const IssConfig&)>;

// Why and where the CPU stopped; with reason `none`, where it was when it was held in reset.
struct CpuStop {
  contract::CpuStop reason = contract::CpuStop::kNone;
  // Program counter of the instruction that trapped; for `firmware` that of the trap which the handler gave up on
  // (mepc); for the watchdog that of the next instruction.
  uint32_t pc = 0;
  uint32_t cause = 0, value = 0;  // mcause and mtval of that trap; 0 for the watchdog
  std::array<uint32_t, 32> registers{};
};

// What the CPU reaches besides its memories and DRAM; implemented by Chip. All offsets are aligned, all accesses words.
class CpuPeripherals {
 public:
  virtual ~CpuPeripherals() = default;
  // The access acts on the rest of the simulation, or waits: the CPU must be in step before, and stay so until what
  // follows from it has arrived. Others happen at ControlCpu::local_time(), which may be ahead of the simulation while
  // nothing is due in between.
  [[nodiscard]] virtual bool acts(uint32_t offset, bool write) const = 0;
  // Called in the CPU's thread. False: access fault.
  [[nodiscard]] virtual bool access_register(uint32_t offset, bool write, uint32_t& value) = 0;
  [[nodiscard]] virtual bool access_psram(uint32_t offset, bool write, uint32_t& value) = 0;
  // The same without side effects and without time.
  [[nodiscard]] virtual bool debug_register(uint32_t offset, bool write, uint32_t& value) = 0;
  [[nodiscard]] virtual bool debug_psram(uint32_t offset, bool write, std::span<uint8_t> bytes) = 0;
  // The CPU stopped; ControlCpu::stop() says why.
  virtual void cpu_stopped() = 0;
};

class ControlCpu : public sc_core::sc_module, public CpuDebugPort, private IssBus {
 public:
  static constexpr uint32_t kQuantum = 64;  // CPU cycles
  static constexpr uint32_t kMostQuanta = 16;
  static constexpr uint32_t kBusCycles = 4;  // of an access to registers or persistent SRAM

  // DRAM, at address - kCpuDramBase: b_transport that reads lines and writes 1, 2 or 4 bytes; transport_dbg for the
  // debugger.
  tlm_utils::simple_initiator_socket<ControlCpu> memory;

  ControlCpu(const sc_core::sc_module_name& name, uint32_t clock_mhz, const IssFactory& iss,
             CpuPeripherals& peripherals);

  // --- Reset. The CPU begins in reset. Neither call waits. A CPU that is released within a quantum after it was held
  // may start up to a quantum later. hold() keeps in stop() where a running CPU was.
  void hold();
  void release();
  [[nodiscard]] bool held() const { return held_; }

  // Lets the CPU run ahead by up to kMostQuanta quanta while nothing is due in the simulation. For those who run it
  // without a limit: at one, in between, they would find the CPU further than it is allowed to be.
  void run_ahead() { most_quanta_ = kMostQuanta; }

  // --- Lines. From any process of the simulation.
  void set_external_interrupt(bool level);
  // The timer interrupt is pending from this moment on; sc_max_time(): never.
  void set_timer(const sc_core::sc_time& due);
  // Stops the CPU when this much time has passed without another call; zero switches it off. In wfi it rests, and
  // starts anew after it.
  void set_watchdog(const sc_core::sc_time& period);

  // --- State
  [[nodiscard]] bool running() const { return !held_ && stop_.reason == contract::CpuStop::kNone; }
  [[nodiscard]] bool waiting() const { return waiting_; }  // in wfi
  [[nodiscard]] const CpuStop& stop() const { return stop_; }
  // The CPU's own time: the simulation's, or up to a quantum ahead of it.
  [[nodiscard]] sc_core::sc_time local_time() const;
  // Since the CPU left reset: cycles not spent in wfi, and instructions. Exact within an access of the CPU; up to a
  // quantum ahead otherwise.
  [[nodiscard]] uint64_t busy_cycles() const;
  [[nodiscard]] uint64_t retired() const;

  // --- Memories. The host writes code in reset only; the caller sees to it.
  [[nodiscard]] std::span<uint8_t> code() { return code_.bytes; }
  [[nodiscard]] std::span<uint8_t> data() { return data_.bytes; }

  // --- Debugger; null detaches. Attach before the simulation starts, or while the CPU halts.
  void attach(CpuDebugger* debugger) { debugger_ = debugger; }
  // Halts the CPU at the next instruction, also out of wfi (the wfi is resumed after it). From the simulation's thread.
  void request_halt();

  [[nodiscard]] uint32_t debug_register(uint32_t index) const override;
  void set_debug_register(uint32_t index, uint32_t value) override;
  [[nodiscard]] uint32_t debug_csr(uint32_t number) const override;
  [[nodiscard]] bool debug_read(uint32_t address, std::span<uint8_t> bytes) override;
  [[nodiscard]] bool debug_write(uint32_t address, std::span<const uint8_t> bytes) override;
  void set_breakpoint(uint32_t address, bool on) override;

 private:
  struct Pages {  // page-aligned bytes
    explicit Pages(uint32_t bytes);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    const std::span<uint8_t> bytes;
  };

  [[nodiscard]] bool read(uint32_t address, uint32_t bytes, uint32_t& value) override;
  [[nodiscard]] bool write(uint32_t address, uint32_t bytes, uint32_t value) override;
  [[nodiscard]] bool access(uint32_t address, uint32_t bytes, bool write, uint32_t& value);
  // Lets the CPU's own time pass to the cycle at or after a moment, unless it is there already.
  void pass_until(const sc_core::sc_time& moment);
  // Of DRAM; `end` is when the CPU goes on.
  [[nodiscard]] bool load(uint32_t offset, uint32_t bytes, uint32_t& value, sc_core::sc_time& end);
  [[nodiscard]] bool store(uint32_t offset, uint32_t bytes, uint32_t value, sc_core::sc_time& end);
  [[nodiscard]] bool access_dram(bool write, uint32_t offset, std::span<uint8_t> bytes, const sc_core::sc_time& start,
                                 sc_core::sc_time& end);
  [[nodiscard]] bool debug_access(uint32_t address, bool write, std::span<uint8_t> bytes);
  [[nodiscard]] bool debug_dram(uint32_t offset, bool write, std::span<uint8_t> bytes);
  [[nodiscard]] bool debug_registers(uint32_t offset, bool write, std::span<uint8_t> bytes);

  void main();
  void leave_reset();
  void run_slice();
  void wait_for_interrupt();
  void stop_now(contract::CpuStop reason, const IssStop& why);
  void keep_registers();
  // Hands the CPU to the debugger, if there is one, until that lets it go on.
  void halt(CpuDebugger::Halt why);
  [[nodiscard]] bool halt_wanted();
  // Held in reset since the CPU started, also when it was released again: what runs now must end.
  [[nodiscard]] bool aborted() const { return held_ || fresh_; }

  // Lets the simulation pass as much time as the CPU has.
  void synchronise();
  // The same, unless nothing is due before, the CPU is less than a quantum ahead, and the access does not act.
  void approach(bool acts);
  // The cycle after all that is executed; its moment; the cycle that begins at a moment or the next one after it.
  [[nodiscard]] uint64_t now() const { return cycles_ + (iss_->retired() - counted_); }
  [[nodiscard]] sc_core::sc_time time_of(uint64_t cycle) const;
  [[nodiscard]] uint64_t cycle_at(const sc_core::sc_time& moment) const;
  // The first cycle at which timer or watchdog want something, beyond now.
  [[nodiscard]] uint64_t next_due() const;
  // Within an access: ends the slice if the rest of its quantum would run over what is due next, or sets its end anew.
  void replan();
  // The instruction at hand may be in a later quantum than that of the access before.
  void enter_quantum();
  // Where a slice ends, in instructions retired: the end of its quantum, or of a later one if nothing is due in the
  // simulation, nor for the CPU, at the end of those before.
  [[nodiscard]] uint64_t slice_end() const;
  [[nodiscard]] uint32_t lines() const;
  void lines_changed();

  const sc_core::sc_time period_;
  CpuPeripherals& peripherals_;
  Pages code_, data_;
  std::unique_ptr<Iss> iss_;
  CpuDebugger* debugger_ = nullptr;

  bool held_ = true;   // in reset
  bool fresh_ = true;  // released, but the thread has not followed yet
  bool waiting_ = false, executing_ = false, external_ = false, halt_requested_ = false, step_ = false;
  sc_core::sc_event changed_;  // reset, lines, requests to halt
  sc_core::sc_time timer_due_, watchdog_period_, watchdog_due_;
  CpuStop stop_;

  // The CPU's own time. Cycle 0 begins when it leaves reset; `cycles_` have passed, those of wfi and of accesses among
  // them, up to instruction `counted_`.
  sc_core::sc_time origin_;
  uint64_t cycles_ = 0, counted_ = 0, wfi_cycles_ = 0;
  uint64_t most_quanta_ = 1;          // in a slice
  uint64_t quantum_end_ = 0;          // of the quantum at hand, in instructions retired
  uint64_t quantum_began_ = 0;        // its first cycle
  tlm::tlm_generic_payload payload_;  // of accesses to DRAM
  CpuReadLine line_;
  CpuStores stores_;
};

}  // namespace npu::model
