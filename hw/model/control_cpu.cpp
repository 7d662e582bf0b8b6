// SPDX-License-Identifier: Apache-2.0
#include "hw/model/control_cpu.h"

#include <algorithm>
#include <limits>
#include <new>

#include "hw/model/clock.h"

namespace npu::model {

using sc_core::sc_max_time;
using sc_core::sc_time;
using sc_core::sc_time_stamp;
using sc_core::SC_ZERO_TIME;
using Reason = IssStop::Reason;

namespace {

constexpr std::align_val_t kPage{4096};
constexpr size_t kStackBytes = 1 << 20;  // the simulator translates code on the stack of its thread
constexpr uint64_t kNeverDue = std::numeric_limits<uint64_t>::max();

// CSRs, bits of mip and mie.
constexpr uint32_t kMie = 0x304, kMepc = 0x341;
constexpr uint32_t kTimerBit = 1u << 7, kExternalBit = 1u << 11;

}  // namespace

ControlCpu::Pages::Pages(uint32_t count) : bytes(static_cast<uint8_t*>(::operator new(count, kPage)), count) {
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
}
ControlCpu::Pages::~Pages() { ::operator delete(bytes.data(), kPage); }

ControlCpu::ControlCpu(const sc_core::sc_module_name& name, uint32_t clock_mhz, const IssFactory& iss,
                       CpuPeripherals& peripherals)
    : sc_module(name),
      memory("memory"),
      period_(Clock(clock_mhz, Mode::kTimed).period()),
      peripherals_(peripherals),
      code_(contract::kCpuCodeBytes),
      data_(contract::kCpuDataBytes),
      iss_(iss({this, contract::kCpuCodeBase, contract::kCpuDataBase, code_.bytes, data_.bytes})),
      timer_due_(sc_max_time()),
      watchdog_due_(sc_max_time()) {
  SC_HAS_PROCESS(ControlCpu);
  SC_THREAD(main);
  set_stack_size(kStackBytes);
}

// --- Time

sc_time ControlCpu::time_of(uint64_t cycle) const { return origin_ + sc_time::from_value(cycle * period_.value()); }

uint64_t ControlCpu::cycle_at(const sc_time& moment) const {
  if (moment <= origin_) return 0;
  return ((moment - origin_).value() - 1) / period_.value() + 1;
}

void ControlCpu::synchronise() {
  const sc_time target = time_of(now());
  if (target > sc_time_stamp()) wait(target - sc_time_stamp());
}

void ControlCpu::approach(bool acts) {
  const sc_time target = time_of(now());
  if (target <= sc_time_stamp()) return;
  const sc_time ahead = target - sc_time_stamp();
  const bool far = target - std::max(sc_time_stamp(), time_of(quantum_began_)) >= kQuantum * period_;
  if (acts || far || sc_core::sc_time_to_pending_activity() <= ahead) wait(ahead);
}

sc_time ControlCpu::local_time() const { return std::max(time_of(now()), sc_time_stamp()); }

uint64_t ControlCpu::next_due() const {
  uint64_t due = kNeverDue;
  if (watchdog_due_ != sc_max_time()) due = cycle_at(watchdog_due_);
  if (timer_due_ != sc_max_time() && cycle_at(timer_due_) > now()) due = std::min(due, cycle_at(timer_due_));
  return due;
}

void ControlCpu::replan() {
  if (!executing_) return;
  if (next_due() < now() + (quantum_end_ - iss_->retired())) {
    iss_->request_stop();
  } else {
    iss_->end_at(slice_end());
  }
}

void ControlCpu::enter_quantum() {
  const uint64_t retired = iss_->retired();
  if (retired < quantum_end_) return;
  const uint64_t into = (retired - quantum_end_) % kQuantum;
  quantum_began_ = now() - into;
  quantum_end_ = retired - into + kQuantum;
}

uint64_t ControlCpu::slice_end() const {
  if (debugger_ != nullptr || most_quanta_ == 1) return quantum_end_;
  const uint64_t end = now() + (quantum_end_ - iss_->retired()), due = next_due();
  const uint64_t others = cycle_at(sc_time_stamp() + sc_core::sc_time_to_pending_activity());
  if (end >= others || end > due) return quantum_end_;
  const uint64_t more = std::min((others - 1 - end) / kQuantum + 1, (due - end) / kQuantum);
  return quantum_end_ + kQuantum * std::min(more, most_quanta_ - 1);
}

uint64_t ControlCpu::busy_cycles() const { return fresh_ ? 0 : now() - wfi_cycles_; }

uint64_t ControlCpu::retired() const { return fresh_ ? 0 : iss_->retired(); }

// --- Reset and lines

void ControlCpu::hold() {
  if (running() && !fresh_) {
    stop_.pc = iss_->read_register(kIssPc);
    keep_registers();
  }
  held_ = true;
  waiting_ = false;
  if (executing_) iss_->request_stop();
  changed_.notify(SC_ZERO_TIME);
}

void ControlCpu::release() {
  if (!held_) return;
  held_ = false;
  fresh_ = true;
  stop_ = {};
  changed_.notify(SC_ZERO_TIME);
}

void ControlCpu::request_halt() {
  halt_requested_ = true;
  if (executing_) iss_->request_stop();
  changed_.notify(SC_ZERO_TIME);
}

void ControlCpu::set_external_interrupt(bool level) {
  if (external_ == level) return;
  external_ = level;
  lines_changed();
}

void ControlCpu::set_timer(const sc_time& due) {
  timer_due_ = due;
  lines_changed();
  replan();
}

void ControlCpu::set_watchdog(const sc_time& period) {
  watchdog_period_ = period;
  watchdog_due_ = period == SC_ZERO_TIME ? sc_max_time() : local_time() + period;
  replan();
}

uint32_t ControlCpu::lines() const {
  return (external_ ? kExternalBit : 0) | (local_time() >= timer_due_ ? kTimerBit : 0);
}

void ControlCpu::lines_changed() {
  iss_->set_interrupts(lines());
  if (waiting_) changed_.notify(SC_ZERO_TIME);
}

// --- Running

void ControlCpu::main() {
  for (;;) {
    while (held_) wait(changed_);
    leave_reset();
    while (!aborted() && running()) run_slice();
    waiting_ = false;
    while (!aborted()) wait(changed_);
  }
}

void ControlCpu::leave_reset() {
  fresh_ = false;
  step_ = false;
  origin_ = sc_time_stamp();
  cycles_ = counted_ = wfi_cycles_ = 0;
  line_.drop();
  stores_ = {};
  iss_->reset(contract::kCpuCodeBase);
  halt(CpuDebugger::Halt::kReset);
}

void ControlCpu::run_slice() {
  if (halt_wanted()) halt(CpuDebugger::Halt::kInterrupt);
  if (time_of(now()) >= watchdog_due_) {
    stop_now(contract::CpuStop::kWatchdog, {});
    return;
  }
  iss_->set_interrupts(lines());
  const bool step = step_;
  quantum_began_ = now();
  quantum_end_ = iss_->retired() + (step ? 1 : std::min<uint64_t>(kQuantum, next_due() - now()));
  executing_ = true;
  const IssStop stop = iss_->run(slice_end() - iss_->retired());
  executing_ = false;
  cycles_ = now();
  counted_ = iss_->retired();
  if (aborted()) return;
  synchronise();
  if (aborted()) return;
  switch (stop.reason) {
    case Reason::kTrap:
      stop_now(contract::CpuStop::kTrap, stop);
      return;
    case Reason::kGivenUp:
      stop_now(contract::CpuStop::kFirmware, stop);
      return;
    case Reason::kBreakpoint:
      halt(CpuDebugger::Halt::kBreakpoint);
      return;
    case Reason::kWait:
      wait_for_interrupt();
      break;
    case Reason::kBudget:
    case Reason::kRequested:
      break;
  }
  if (step && !aborted()) halt(CpuDebugger::Halt::kStep);
}

// The CPU goes on at the first edge of its clock after an enabled interrupt is pending, taken or not.
void ControlCpu::wait_for_interrupt() {
  waiting_ = true;
  line_.drop();
  const uint64_t began = cycles_;
  const uint32_t enabled = iss_->read_csr(kMie);
  const uint32_t pc = iss_->read_register(kIssPc);
  while (!aborted() && (lines() & enabled) == 0 && iss_->read_register(kIssPc) == pc) {
    if (halt_wanted()) {
      halt(CpuDebugger::Halt::kInterrupt);
      continue;
    }
    if ((enabled & kTimerBit) != 0 && timer_due_ != sc_max_time()) {
      wait(timer_due_ - sc_time_stamp(), changed_);
    } else {
      wait(changed_);
    }
    cycles_ = std::max(cycles_, cycle_at(sc_time_stamp()));
  }
  waiting_ = false;
  wfi_cycles_ += cycles_ - began;
  if (watchdog_due_ != sc_max_time()) watchdog_due_ = time_of(cycles_) + watchdog_period_;
}

void ControlCpu::stop_now(contract::CpuStop reason, const IssStop& why) {
  stop_.reason = reason;
  stop_.pc = reason == contract::CpuStop::kFirmware ? iss_->read_csr(kMepc) : iss_->read_register(kIssPc);
  stop_.cause = why.cause;
  stop_.value = why.value;
  keep_registers();
  peripherals_.cpu_stopped();
  halt(CpuDebugger::Halt::kStopped);
}

void ControlCpu::keep_registers() {
  for (uint32_t i = 0; i < stop_.registers.size(); ++i) stop_.registers[i] = iss_->read_register(i);
}

bool ControlCpu::halt_wanted() {
  if (debugger_ == nullptr) halt_requested_ = false;
  return debugger_ != nullptr && (halt_requested_ || debugger_->interrupt_requested());
}

void ControlCpu::halt(CpuDebugger::Halt why) {
  halt_requested_ = false;
  step_ = debugger_ != nullptr && debugger_->halted(why) == CpuDebugger::Resume::kStep;
}

}  // namespace npu::model
