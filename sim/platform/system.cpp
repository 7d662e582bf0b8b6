// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/system.h"

#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"
#include "sim/platform/iss_loader.h"

namespace npu::platform {

using sc_core::SC_ZERO_TIME;
namespace reg = contract::reg;

namespace {

std::unique_ptr<engine::Engine> make_mxu(const PlatformOptions& options) {
  return options.make_mxu ? options.make_mxu() : engine::make_mxu_model(options.preset.caps);
}

std::unique_ptr<engine::Engine> make_vpu(const PlatformOptions& options) {
  return options.make_vpu ? options.make_vpu() : engine::make_vpu_model(options.preset.caps);
}

std::unique_ptr<engine::PersistentBackEnd> make_persistent(const PlatformOptions& options) {
  return options.make_persistent ? options.make_persistent() : nullptr;
}

}  // namespace

model::NpuConfig System::npu_config(const PlatformOptions& options) {
  model::NpuConfig config;
  config.caps = options.preset.caps;
  config.mode = options.mode;
  config.jitter = {options.jitter_seed, options.jitter_max_cycles, options.jitter_max_cycles,
                   options.jitter_max_cycles};
  config.poison = options.poison;
  config.job_begins = [this] { faults_.job_starts(); };
  config.job_started = [this] { dram_.restart(); };
  return config;
}

System::System(const sc_core::sc_module_name& name, const PlatformOptions& options, model::HandOver& hand_over,
               Request& request)
    : sc_module(name),
      faults_(options.faults, [this](const FaultClause& clause) { strike(clause); }),
      hand_over_(hand_over),
      request_(request),
      dram_("dram", options.preset.dram, uint64_t{options.preset.caps.dram_mib} << 20),
      irq_("irq"),
      wake_alert_("wake"),
      debugger_alert_("debugger"),
      host_("host") {
  if (options.control_cpu) {
    build_chip(options);
  } else {
    build_npu(options);
  }
  open_debugger(options);
  SC_HAS_PROCESS(System);
  SC_THREAD(serve);
}

void System::build_chip(const PlatformOptions& options) {
  chip_ = std::make_unique<model::Chip>(
      "chip", model::ChipConfig{npu_config(options), load_iss(options.iss_module), options.uart}, make_mxu(options),
      make_vpu(options), make_persistent(options));
  chip_->memory.bind(dram_.socket);
  chip_->cpu_memory.bind(dram_.cpu);
  chip_->cpu().run_ahead();
  chip_->irq.bind(irq_);
  host_.bind(chip_->host);
}

void System::build_npu(const PlatformOptions& options) {
  npu_ = std::make_unique<model::Npu>("npu", npu_config(options), make_mxu(options), make_vpu(options),
                                      make_persistent(options));
  npu_->memory.bind(dram_.socket);
  npu_->irq.bind(irq_);
  host_.bind(npu_->host);
}

void System::strike(const FaultClause& clause) {
  model::Npu& npu = chip_ ? chip_->npu() : *npu_;
  switch (clause.kind) {
    case FaultClause::Kind::kHang:
      npu.hang(clause.queue, clause.number);
      return;
    case FaultClause::Kind::kFlip:
      npu.flip_bit(clause.number, clause.bit);
      return;
    case FaultClause::Kind::kDropInterrupt:
      chip_->drop_interrupts(clause.number);
      return;
    case FaultClause::Kind::kBrownOut:
      npu.brown_out(clause.number);
      return;
    case FaultClause::Kind::kBusError:
      npu.fail_burst(clause.number);
      return;
  }
}

void System::open_debugger(const PlatformOptions& options) {
  if (options.gdb_port == 0) return;
  if (!chip_) throw Error(contract::ErrorCode::kBadOption, "a device without control CPU has nothing to debug");
  debugger_ = std::make_unique<GdbServer>(options.gdb_port, chip_->cpu(), [this] { debugger_alert_.raise(); });
  chip_->cpu().attach(debugger_.get());
  SC_HAS_PROCESS(System);
  SC_METHOD(halt_cpu);
  sensitive << debugger_alert_.event();
  dont_initialize();
  if (options.debugger_waiting) options.debugger_waiting(debugger_->port());
}

void System::halt_cpu() {
  if (debugger_->interrupt_requested()) chip_->cpu().request_halt();
}

std::chrono::nanoseconds System::halted_time() const {
  return debugger_ ? debugger_->halted_time() : std::chrono::nanoseconds(0);
}

bool System::access(tlm::tlm_command command, uint64_t address, uint8_t* data, uint32_t bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = SC_ZERO_TIME;
  host_->b_transport(payload, delay);
  return payload.is_response_ok();
}

bool System::needs_simulation(uint32_t offset) const { return offset == (chip_ ? reg::kCpuControl : reg::kControl); }

void System::serve() {
  for (;;) {
    hand_over_.receive();
    if (request_.quit) {
      sc_core::sc_stop();
      return;
    }
    for (RegisterWrite& write : request_.writes) {
      NPU_CHECK(access(tlm::TLM_WRITE_COMMAND, write.offset, reinterpret_cast<uint8_t*>(&write.value), 4));
    }
    request_.writes.clear();
    if (request_.wait_interrupt) request_.interrupted = wait_interrupt();
    hand_over_.answer();
  }
}

// The interrupt line follows the registers some delta cycles later.
void System::settle() {
  for (int i = 0; i < 4; ++i) wait(SC_ZERO_TIME);
}

// Nothing will raise the interrupt: the kernel has nothing to do, or the NPU by itself has no job. A job of such an NPU
// that nothing moves any more ends with a fault.
bool System::finished() const {
  if (chip_) return starved_;
  if (starved_ && npu_->running()) npu_->report_stuck();
  return !npu_->running();
}

// A device in which nothing can move any more has nothing to wait for: no time passes in it.
void System::start_poll() {
  if (sc_core::sc_pending_activity()) {
    poll_event_.notify(sc_core::sc_time(kPollMicroseconds, sc_core::SC_US));
  } else {
    starved_ = true;
  }
}

bool System::wait_interrupt() {
  starved_ = false;
  settle();
  bool over = false;
  if (request_.poll && !irq_.read()) start_poll();
  while (!irq_.read() && !woken_ && !over && !finished()) {
    starved_ = false;
    waiting_ = true;
    wait(irq_.posedge_event() | wake_alert_.event() | starved_event_ | poll_event_);
    waiting_ = false;
    over = poll_event_.triggered();
  }
  poll_event_.cancel();
  if (!irq_.read()) settle();
  return irq_.read();
}

void System::wake() {
  if (!woken_.exchange(true)) wake_alert_.raise();
}

void System::starved() {
  NPU_CHECK(waiting_);  // or a reset waits for something that never comes
  starved_ = true;
  starved_event_.notify(SC_ZERO_TIME);
}

}  // namespace npu::platform
