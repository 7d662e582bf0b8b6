// SPDX-License-Identifier: GPL-2.0-only
#include "sim/platform/iss/unicorn_iss.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace npu::iss {

using model::IssStop;
using Kind = MemoryAccess::Kind;
using Reason = IssStop::Reason;

namespace {

constexpr uint64_t kAddressSpace = uint64_t{1} << 32;

// What Unicorn maps for translated code, and a little for the rest of an engine.
constexpr size_t kEngineBytes = (size_t{1} << 30) + (size_t{1} << 26);

constexpr uint32_t kEcall = 0x0000'0073, kEbreak = 0x0010'0073, kWfi = 0x1050'0073, kMret = 0x3020'0073;

void check(uc_err error, const char* what) {
  if (error != UC_ERR_OK) throw std::runtime_error(std::string(what) + ": " + uc_strerror(error));
}

// Unicorn ends the whole process when it cannot have its memory, so it is asked for only where it is to be had.
void require_memory_of_an_engine() {
  void* const probe = mmap(nullptr, kEngineBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) throw std::bad_alloc();
  munmap(probe, kEngineBytes);
}

// Memory that is mapped while this exists lies, in Unicorn's own numbering, far from what was mapped before. Unicorn
// looks on every store for translated code around it, and has nothing to look at where no code lies within these bytes.
// Where there is no room for it at `unused`, stores are slower.
class FarFromCode {
 public:
  FarFromCode(uc_engine* engine, uint64_t unused)
      : engine_(engine),
        address_(unused),
        mapped_(unused + kBytes <= kAddressSpace && uc_mem_map(engine, unused, kBytes, UC_PROT_NONE) == UC_ERR_OK) {}
  ~FarFromCode() {
    if (mapped_) uc_mem_unmap(engine_, address_, kBytes);
  }
  FarFromCode(const FarFromCode&) = delete;
  FarFromCode& operator=(const FarFromCode&) = delete;

 private:
  static constexpr size_t kBytes = size_t{4} << 20;  // what a leaf of its page table covers
  uc_engine* engine_;
  uint64_t address_;
  bool mapped_;
};

template <typename Function>
void add_hook(uc_engine* engine, int type, Function function, void* self) {
  uc_hook hook = 0;  // lives as long as the engine
  // Begin above end: everywhere.
  check(uc_hook_add(engine, &hook, type, reinterpret_cast<void*>(function), self, 1, 0), "uc_hook_add");
}

}  // namespace

UnicornIss::UnicornIss(const model::IssConfig& config) : config_(config) {
  require_memory_of_an_engine();
  check(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, &engine_), "uc_open");
  try {
    check(uc_ctl_set_cpu_model(engine_, UC_CPU_RISCV32_SIFIVE_E31), "uc_ctl_set_cpu_model");  // RV32IMAC, no MMU
    check(uc_ctl_exits_enable(engine_), "uc_ctl_exits_enable");
    map_memories();
    add_hooks();
    check(uc_context_alloc(engine_, &first_state_), "uc_context_alloc");
    check(uc_context_save(engine_, first_state_), "uc_context_save");
    marks_.assign(config_.code.size() / 2, 0);
    mark_code();
  } catch (...) {
    if (first_state_ != nullptr) uc_context_free(first_state_);
    uc_close(engine_);
    throw;
  }
}

UnicornIss::~UnicornIss() {
  uc_context_free(first_state_);
  uc_close(engine_);
}

// Code, data, and everything else as bus, which is not executed.
void UnicornIss::map_memories() {
  const uint64_t code_end = uint64_t{config_.code_base} + config_.code.size();
  const uint64_t data_end = uint64_t{config_.data_base} + config_.data.size();
  check(
      uc_mem_map_ptr(engine_, config_.code_base, config_.code.size(), UC_PROT_READ | UC_PROT_EXEC, config_.code.data()),
      "code memory");
  {
    const FarFromCode far(engine_, std::max(code_end, data_end));
    check(uc_mem_map_ptr(engine_, config_.data_base, config_.data.size(), UC_PROT_READ | UC_PROT_WRITE,
                         config_.data.data()),
          "data memory");
  }
  windows_.reserve(3);
  const bool code_first = config_.code_base < config_.data_base;
  map_bus(0, code_first ? config_.code_base : config_.data_base);
  map_bus(code_first ? code_end : data_end, code_first ? config_.data_base : config_.code_base);
  map_bus(code_first ? data_end : code_end, kAddressSpace);
}

void UnicornIss::map_bus(uint64_t first, uint64_t end) {
  if (first >= end) return;
  Window& window = windows_.emplace_back(Window{this, static_cast<uint32_t>(first)});
  check(uc_mmio_map(engine_, first, end - first, &on_read, &window, &on_write, &window), "bus");
}

void UnicornIss::add_hooks() {
  add_hook(engine_, UC_HOOK_CODE, &on_instruction, this);
  add_hook(engine_, UC_HOOK_INTR, &on_exception, this);
  add_hook(engine_, UC_HOOK_MEM_INVALID, &on_refused, this);
}

// Unicorn would fault on translating a block that only might get to half an instruction at the end of the code: it has
// to stop before that. A stop that is never reached costs as much as one that is: it makes Unicorn look for code to
// translate anew at the end of each run.
void UnicornIss::mark_code() {
  bool half_at_end = false;
  for (size_t i = 0; i < marks_.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, config_.code.data() + 2 * i, 2);
    marks_[i] &= kBreak;
    if ((half & 0x7f) == kSystemOpcode || half == kCompressedEbreak) marks_[i] |= kSystem;
    if (i + 1 == marks_.size() && instruction_bytes(half) == 4) {
      marks_[i] |= kOutside;
      half_at_end = true;
    }
  }
  uint64_t end = uint64_t{config_.code_base} + config_.code.size() - 2;
  check(uc_ctl_set_exits(engine_, &end, half_at_end ? size_t{1} : size_t{0}), "uc_ctl_set_exits");
}

void UnicornIss::reset(uint32_t pc) {
  check(uc_context_restore(engine_, first_state_), "uc_context_restore");
  check(uc_ctl_remove_cache(engine_, uint64_t{config_.code_base}, uint64_t{config_.code_base} + config_.code.size()),
        "uc_ctl_remove_cache");
  mark_code();
  csrs_.reset();
  pc_ = pc & ~1u;
  entered_ = end_ = 0;
  requested_ = in_bus_ = at_breakpoint_ = over_breakpoint_ = false;
  fault_ = {};
  update_attention();
}

uint32_t UnicornIss::instruction_at(uint32_t pc) const {
  const size_t offset = pc - config_.code_base;
  if (!in_code(pc)) return 0;
  uint16_t low = 0, high = 0;
  std::memcpy(&low, config_.code.data() + offset, 2);
  if (instruction_bytes(low) == 4 && offset + 4 <= config_.code.size()) {
    std::memcpy(&high, config_.code.data() + offset + 2, 2);
  }
  return uint32_t{high} << 16 | low;
}

// --- Running

IssStop UnicornIss::run(uint64_t instructions) {
  IssStop stop;
  bool over = at_breakpoint_;
  at_breakpoint_ = requested_ = false;
  end_ = entered_ + instructions;
  update_attention();
  for (;;) {
    if (fault_.pending) {
      if (!take_fault(stop)) return stop;
      over = false;
      continue;
    }
    if (requested_) return {Reason::kRequested, 0, 0};
    if (entered_ >= end_) return {Reason::kBudget, 0, 0};
    if (csrs_.interrupt_ready()) {
      if (!take_trap(csrs_.interrupt_cause(), 0, stop)) return stop;
      over = false;
      continue;
    }
    if (!in_code(pc_)) {
      raise_fault(kFetchAccessFault, pc_, pc_, false);
      continue;
    }
    const uint8_t marks = marks_at(pc_);
    if ((marks & kBreak) != 0 && !over) {
      at_breakpoint_ = true;
      return {Reason::kBreakpoint, 0, 0};
    }
    if ((marks & kOutside) != 0) {
      raise_fault(kFetchAccessFault, pc_ + 2, pc_, false);  // its second half is not there
      continue;
    }
    over_breakpoint_ = over && (marks & kBreak) != 0;  // it may be gone by now
    over = false;
    if ((marks & kSystem) != 0) {
      if (!execute_system(stop)) return stop;
    } else {
      execute();
    }
  }
}

void UnicornIss::execute() {
  hooked_ = false;
  const uc_err error = uc_emu_start(engine_, pc_, 0, 0, 0);
  over_breakpoint_ = false;
  if (fault_.pending) {
    if (fault_.destination != 0) write_register(fault_.destination, fault_.kept);
    pc_ = fault_.pc;
  } else if (error != UC_ERR_OK) {
    raise_fault(kIllegalInstruction, 0, pc_, true);
  } else if (!hooked_) {  // at half an instruction
    uc_reg_read(engine_, UC_RISCV_REG_PC, &pc_);
  }
}

void UnicornIss::on_instruction(uc_engine* engine, uint64_t address, uint32_t, void* self) {
  auto& iss = *static_cast<UnicornIss*>(self);
  const auto pc = static_cast<uint32_t>(address);
  iss.pc_ = pc;
  const uint8_t marks = iss.marks_at(pc);
  if (iss.attention_ || iss.entered_ == iss.end_ || marks != 0) [[unlikely]] {
    const bool pass = !iss.attention_ && iss.entered_ != iss.end_ && marks == kBreak && iss.over_breakpoint_;
    if (!pass) {
      iss.hooked_ = true;
      uc_emu_stop(engine);
      return;
    }
    iss.over_breakpoint_ = false;
  }
  ++iss.entered_;
}

void UnicornIss::request_stop() {
  requested_ = true;
  update_attention();
}

void UnicornIss::set_interrupts(uint32_t mip) {
  csrs_.set_lines(mip);
  update_attention();
}

void UnicornIss::update_attention() { attention_ = requested_ || fault_.pending || csrs_.interrupt_ready(); }

// --- Memory

uint64_t UnicornIss::on_read(uc_engine*, uint64_t, unsigned, void* window) {
  uint32_t value = 0;
  static_cast<Window*>(window)->self->bus_access(value);
  return value;
}

void UnicornIss::on_write(uc_engine*, uint64_t, unsigned size, uint64_t value, void* window) {
  auto word = static_cast<uint32_t>(size < 4 ? value & ((uint64_t{1} << 8 * size) - 1) : value);
  static_cast<Window*>(window)->self->bus_access(word);
}

// Unicorn may split a misaligned access, so what is accessed comes from the instruction, not from the callback.
void UnicornIss::bus_access(uint32_t& value) {
  if (fault_.pending) return;  // the rest of an access that was refused
  const MemoryAccess access = decode_access(instruction_at(pc_));
  const uint32_t address = read_register(access.base) + access.offset;
  if (access.kind == Kind::kNone || access.kind == Kind::kAtomic || config_.bus == nullptr) {
    raise_access_fault(access, address, address % std::max(access.bytes, 1u) != 0);
    return;
  }
  if (address % access.bytes != 0) {
    raise_access_fault(access, address, true);
    return;
  }
  in_bus_ = true;
  const bool done = access.kind == Kind::kStore ? config_.bus->write(address, access.bytes, value)
                                                : config_.bus->read(address, access.bytes, value);
  in_bus_ = false;
  if (!done) raise_access_fault(access, address, false);
}

bool UnicornIss::on_refused(uc_engine*, uc_mem_type type, uint64_t address, int, int64_t, void* self) {
  auto& iss = *static_cast<UnicornIss*>(self);
  if (iss.fault_.pending) return false;
  const auto target = static_cast<uint32_t>(address);
  if (type == UC_MEM_FETCH_PROT || type == UC_MEM_FETCH_UNMAPPED) {
    iss.raise_fault(kFetchAccessFault, target, target, false);
    return false;
  }
  const MemoryAccess access = decode_access(iss.instruction_at(iss.pc_));
  iss.raise_access_fault(access, iss.read_register(access.base) + access.offset, false);
  return false;
}

void UnicornIss::on_exception(uc_engine* engine, uint32_t number, void* self) {
  auto& iss = *static_cast<UnicornIss*>(self);
  uc_emu_stop(engine);
  if (iss.fault_.pending) return;
  const uint32_t word = iss.instruction_at(iss.pc_);
  if (number == kLoadMisaligned || number == kStoreMisaligned) {
    const MemoryAccess access = decode_access(word);
    iss.raise_access_fault(access, iss.read_register(access.base) + access.offset, true);
  } else {
    iss.raise_fault(kIllegalInstruction, word, iss.pc_, true);
  }
}

void UnicornIss::raise_access_fault(const MemoryAccess& access, uint32_t address, bool misaligned) {
  const bool load = access.kind == Kind::kLoad || access.reserve;
  const uint32_t cause =
      misaligned ? (load ? kLoadMisaligned : kStoreMisaligned) : (load ? kLoadAccessFault : kStoreAccessFault);
  raise_fault(cause, address, pc_, true);
  fault_.destination = access.destination;
  fault_.kept = read_register(access.destination);
}

void UnicornIss::raise_fault(uint32_t cause, uint32_t value, uint32_t pc, bool entered) {
  fault_ = {true, entered, pc, cause, value, 0, 0};
  attention_ = true;
}

// --- Traps and SYSTEM instructions

bool UnicornIss::take_fault(IssStop& stop) {
  const Fault fault = fault_;
  fault_ = {};
  if (fault.entered) --entered_;
  pc_ = fault.pc;
  return take_trap(fault.cause, fault.value, stop);
}

bool UnicornIss::take_trap(uint32_t cause, uint32_t value, IssStop& stop) {
  if (!csrs_.can_trap()) {
    stop = {Reason::kTrap, cause, value};
    return false;
  }
  pc_ = csrs_.enter_trap(cause, value, pc_);
  update_attention();
  return true;
}

bool UnicornIss::execute_system(IssStop& stop) {
  const uint32_t word = instruction_at(pc_);
  switch (word) {
    case kEcall:
      return take_trap(kEnvironmentCall, 0, stop);
    case kEbreak:
    case kCompressedEbreak:
      return execute_ebreak(stop);
    case kWfi:
      pc_ += 4;
      ++entered_;
      stop = {Reason::kWait, 0, 0};
      return false;
    case kMret:
      pc_ = csrs_.leave_trap();
      break;
    default:
      if (!execute_csr(word)) return take_trap(kIllegalInstruction, word, stop);
      pc_ += 4;
      break;
  }
  ++entered_;
  update_attention();
  return true;
}

bool UnicornIss::execute_ebreak(IssStop& stop) {
  if (csrs_.handling_exception()) {
    stop = {Reason::kGivenUp, csrs_.mcause(), csrs_.mtval()};
    return false;
  }
  return take_trap(kBreakpoint, pc_, stop);
}

bool UnicornIss::execute_csr(uint32_t word) {
  const uint32_t operation = word >> 12 & 7, number = word >> 20, destination = word >> 7 & 31,
                 source = word >> 15 & 31;
  if ((operation & 3) == 0) return false;
  const bool writes = (operation & 3) == 1 || source != 0;
  if (writes && number >> 10 == 3) return false;  // read-only by its number
  uint32_t old = 0;
  if (!csrs_.read(number, entered_, old)) return false;
  if (writes) {
    const uint32_t operand = (operation & 4) != 0 ? source : read_register(source);
    uint32_t value = operand;
    if ((operation & 3) == 2) value = old | operand;
    if ((operation & 3) == 3) value = old & ~operand;
    if (!csrs_.write(number, entered_, value)) return false;
  }
  write_register(destination, old);
  return true;
}

// --- State

uint32_t UnicornIss::read_register(uint32_t index) const {
  if (index == model::kIssPc) return pc_;
  uint32_t value = 0;
  if (index > 0 && index < 32) uc_reg_read(engine_, static_cast<int>(UC_RISCV_REG_X0 + index), &value);
  return value;
}

void UnicornIss::write_register(uint32_t index, uint32_t value) {
  if (index == model::kIssPc) {
    pc_ = value & ~1u;
    at_breakpoint_ = false;
  } else if (index > 0 && index < 32) {
    uc_reg_write(engine_, static_cast<int>(UC_RISCV_REG_X0 + index), &value);
  }
}

uint32_t UnicornIss::read_csr(uint32_t number) const {
  uint32_t value = 0;
  return csrs_.read(number, retired(), value) ? value : 0;
}

void UnicornIss::write_csr(uint32_t number, uint32_t value) {
  static_cast<void>(csrs_.write(number, retired(), value));  // one that there is not keeps nothing
  update_attention();
}

void UnicornIss::set_breakpoint(uint32_t address, bool on) {
  if (!in_code(address)) return;
  uint8_t& marks = marks_[(address - config_.code_base) / 2];
  marks = static_cast<uint8_t>(on ? marks | kBreak : marks & ~kBreak);
}

}  // namespace npu::iss
