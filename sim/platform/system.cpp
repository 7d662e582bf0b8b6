#include "sim/platform/system.h"

#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"

namespace npu::platform {

using sc_core::SC_ZERO_TIME;

namespace {

model::NpuConfig npu_config(const PlatformOptions& options, Dram& dram) {
  model::NpuConfig config;
  config.caps = options.preset.caps;
  config.mode = options.mode;
  config.jitter = {options.jitter_seed, options.jitter_max_cycles, options.jitter_max_cycles,
                   options.jitter_max_cycles};
  config.poison = options.poison;
  config.job_started = [&dram] { dram.restart(); };
  return config;
}

}  // namespace

System::System(const sc_core::sc_module_name& name, const PlatformOptions& options, Mailbox& mailbox, Request& request)
    : sc_module(name),
      mailbox_(mailbox),
      request_(request),
      dram_("dram", options.preset.dram, uint64_t{options.preset.caps.dram_mib} << 20),
      npu_("npu", npu_config(options, dram_), engine::make_mxu_model(options.preset.caps),
           engine::make_vpu_model(options.preset.caps)),
      irq_("irq"),
      host_("host") {
  npu_.memory.bind(dram_.socket);
  npu_.irq.bind(irq_);
  host_.bind(npu_.host);
  SC_HAS_PROCESS(System);
  SC_THREAD(serve);
}

bool System::host_debug(tlm::tlm_command command, uint64_t address, uint8_t* data, uint32_t bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  return host_->transport_dbg(payload) == bytes;
}

void System::serve() {
  for (;;) {
    mailbox_.receive();
    if (request_.quit) {
      sc_core::sc_stop();
      return;
    }
    for (uint32_t value : request_.controls) NPU_CHECK(write_register(contract::reg::kControl, value));
    request_.controls.clear();
    if (request_.wait_interrupt) request_.interrupted = wait_interrupt();
    mailbox_.answer();
  }
}

bool System::write_register(uint32_t offset, uint32_t value) {
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(offset);
  payload.set_data_ptr(reinterpret_cast<uint8_t*>(&value));
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = SC_ZERO_TIME;
  host_->b_transport(payload, delay);
  return payload.is_response_ok();
}

// The interrupt line follows the registers some delta cycles later.
void System::settle() {
  for (int i = 0; i < 3; ++i) wait(SC_ZERO_TIME);
}

bool System::wait_interrupt() {
  settle();
  const sc_core::sc_time slice(kSliceMicroseconds, sc_core::SC_US);
  while (!irq_.read()) {
    if (!npu_.running()) {
      settle();
      return irq_.read();
    }
    if (std::chrono::steady_clock::now() >= request_.deadline) return false;
    wait(slice, irq_.posedge_event());
    if (!irq_.read() && !sc_core::sc_pending_activity()) npu_.report_stuck();
  }
  return true;
}

}  // namespace npu::platform
