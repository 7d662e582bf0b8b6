// SPDX-License-Identifier: GPL-2.0-only
// Iss on the Unicorn library. Unicorn executes instructions and memory accesses; this class executes SYSTEM
// instructions (CSRs, wfi, mret, ecall, ebreak), takes traps and interrupts, and counts.
//
// A hook before each instruction counts it, and stops Unicorn where this class has to act: that makes budget,
// interrupts and breakpoints exact to the instruction, and costs little beside the rest of an instruction.
#pragma once

#include <unicorn/unicorn.h>

#include <cstdint>
#include <vector>

#include "hw/model/iss.h"
#include "sim/platform/iss/csr_file.h"
#include "sim/platform/iss/decode.h"

namespace npu::iss {

class UnicornIss : public model::Iss {
 public:
  // Throws std::runtime_error if Unicorn refuses.
  explicit UnicornIss(const model::IssConfig& config);
  ~UnicornIss() override;
  UnicornIss(const UnicornIss&) = delete;
  UnicornIss& operator=(const UnicornIss&) = delete;

  void reset(uint32_t pc) override;
  [[nodiscard]] model::IssStop run(uint64_t instructions) override;
  void request_stop() override;
  void end_at(uint64_t retired) override { end_ = retired; }
  [[nodiscard]] uint64_t retired() const override { return entered_ - (in_bus_ ? 1 : 0); }
  [[nodiscard]] uint32_t read_register(uint32_t index) const override;
  void write_register(uint32_t index, uint32_t value) override;
  [[nodiscard]] uint32_t read_csr(uint32_t number) const override;
  void write_csr(uint32_t number, uint32_t value) override;
  void set_interrupts(uint32_t mip) override;
  void set_breakpoint(uint32_t address, bool on) override;

 private:
  // What stops execution before an instruction, by its halfword.
  enum Mark : uint8_t { kSystem = 1, kBreak = 2, kOutside = 4 };
  struct Fault {
    bool pending = false;
    bool entered = false;  // by an instruction that was counted
    uint32_t pc = 0, cause = 0, value = 0;
    uint32_t destination = 0, kept = 0;  // register that a faulting load must not change, and its value
  };

  static void on_instruction(uc_engine*, uint64_t address, uint32_t size, void* self);
  static void on_exception(uc_engine*, uint32_t number, void* self);
  static bool on_refused(uc_engine*, uc_mem_type type, uint64_t address, int size, int64_t value, void* self);
  static uint64_t on_read(uc_engine*, uint64_t offset, unsigned size, void* window);
  static void on_write(uc_engine*, uint64_t offset, unsigned size, uint64_t value, void* window);

  void map_memories();
  void map_bus(uint64_t first, uint64_t end);
  void add_hooks();
  void mark_code();

  // One run of Unicorn, up to where this class has to act; pc_ is there.
  void execute();
  void bus_access(uint32_t& value);
  void raise_fault(uint32_t cause, uint32_t value, uint32_t pc, bool entered);
  void raise_access_fault(const MemoryAccess& access, uint32_t address, bool misaligned);
  void update_attention();
  // False: it cannot be taken; `stop` says so.
  [[nodiscard]] bool take_fault(model::IssStop& stop);
  [[nodiscard]] bool take_trap(uint32_t cause, uint32_t value, model::IssStop& stop);
  // The SYSTEM instruction at pc_. False: run() ends with `stop`.
  [[nodiscard]] bool execute_system(model::IssStop& stop);
  [[nodiscard]] bool execute_csr(uint32_t word);
  [[nodiscard]] bool execute_ebreak(model::IssStop& stop);

  [[nodiscard]] bool in_code(uint32_t pc) const { return pc - config_.code_base < config_.code.size(); }
  [[nodiscard]] uint8_t marks_at(uint32_t pc) const { return marks_[(pc - config_.code_base) / 2]; }
  [[nodiscard]] uint32_t instruction_at(uint32_t pc) const;

  struct Window {  // a part of the address space that is the bus
    UnicornIss* self;
    uint32_t base;
  };

  model::IssConfig config_;
  uc_engine* engine_ = nullptr;
  uc_context* first_state_ = nullptr;
  std::vector<Window> windows_;
  std::vector<uint8_t> marks_;

  CsrFile csrs_;
  uint32_t pc_ = 0;
  uint64_t entered_ = 0;  // instructions begun and not undone by a trap
  uint64_t end_ = 0;      // of the budget
  bool hooked_ = false;   // the hook stopped Unicorn
  bool requested_ = false, in_bus_ = false, attention_ = false;
  bool at_breakpoint_ = false;  // stopped at one: the next run goes over it
  bool over_breakpoint_ = false;
  Fault fault_;
};

}  // namespace npu::iss
