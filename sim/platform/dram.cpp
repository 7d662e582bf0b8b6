// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/dram.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "hw/contract/error.h"

namespace npu::platform {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

Dram::Dram(const sc_core::sc_module_name& name, const presets::Dram& timing, uint64_t bytes)
    : sc_module(name),
      socket("socket"),
      cpu("cpu"),
      timing_(timing::make_dram_timing(timing)),
      bytes_(bytes),
      picosecond_(sc_time(1, sc_core::SC_PS).value()) {
  NPU_CHECK(picosecond_ > 0);  // the simulation's resolution is a picosecond or finer
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(contract::ErrorCode::kDramFull, "this computer cannot provide the " + std::to_string(bytes >> 20) +
                                                    " MiB of DRAM that the machine has (dram_mib)");
  }
  memory_ = static_cast<uint8_t*>(memory);
  socket.register_b_transport(this, &Dram::b_transport);
  socket.register_nb_transport_fw(this, &Dram::nb_transport_fw);
  socket.register_get_direct_mem_ptr(this, &Dram::get_direct_mem_ptr);
  socket.register_transport_dbg(this, &Dram::transport_dbg);
  cpu.register_b_transport(this, &Dram::b_transport);
  cpu.register_get_direct_mem_ptr(this, &Dram::get_direct_mem_ptr);
  cpu.register_transport_dbg(this, &Dram::transport_dbg);
  SC_HAS_PROCESS(Dram);
  SC_METHOD(respond);
  sensitive << respond_event_;
  dont_initialize();
}

Dram::~Dram() { munmap(memory_, bytes_); }

void Dram::restart() {
  origin_ = sc_time_stamp();
  last_arrival_ = 0;
  timing_->restart();
}

sc_time Dram::time(const tlm::tlm_generic_payload& payload, const sc_time& arrival) {
  if (!payload.is_response_ok()) return arrival;
  last_arrival_ = std::max<uint64_t>(last_arrival_, (arrival - origin_).value() / picosecond_);
  const uint64_t done =
      timing_->access(last_arrival_, payload.get_address(), payload.get_data_length(), payload.is_write());
  return origin_ + sc_time::from_value(done * picosecond_);
}

void Dram::execute(tlm::tlm_generic_payload& payload) {
  const uint64_t address = payload.get_address();
  const uint64_t length = payload.get_data_length();
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (length == 0 || payload.get_streaming_width() < length) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (address > bytes_ || length > bytes_ - address) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else {
    if (payload.is_write()) std::memcpy(memory_ + address, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), memory_ + address, length);
    payload.set_dmi_allowed(true);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
}

void Dram::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
  execute(payload);
  delay = time(payload, sc_time_stamp() + delay) - sc_time_stamp();
}

tlm::tlm_sync_enum Dram::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::END_RESP) {
    awaiting_end_ = false;
    response_free_ = std::max(response_free_, sc_time_stamp() + delay);
    schedule();
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  execute(payload);
  responses_.push_back({&payload, time(payload, sc_time_stamp() + delay)});
  if (responses_.size() == 1) schedule();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Dram::schedule() {
  if (responses_.empty() || awaiting_end_) return;
  const sc_time at = std::max(responses_.front().at, response_free_);
  respond_event_.notify(at > sc_time_stamp() ? at - sc_time_stamp() : sc_core::SC_ZERO_TIME);
}

void Dram::respond() {
  if (responses_.empty() || awaiting_end_) return;
  tlm::tlm_generic_payload* const payload = responses_.front().payload;
  responses_.pop_front();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_time delay = sc_core::SC_ZERO_TIME;
  awaiting_end_ = true;
  const tlm::tlm_sync_enum status = socket->nb_transport_bw(*payload, phase, delay);
  if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    awaiting_end_ = false;
    response_free_ = sc_time_stamp() + delay;
  }
  payload->release();
  schedule();
}

bool Dram::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
  dmi.set_dmi_ptr(memory_);
  dmi.set_start_address(0);
  dmi.set_end_address(bytes_ - 1);
  dmi.allow_read_write();
  return true;
}

unsigned Dram::transport_dbg(tlm::tlm_generic_payload& payload) {
  const uint64_t address = payload.get_address();
  if (address >= bytes_) return 0;
  const auto length = static_cast<unsigned>(std::min<uint64_t>(payload.get_data_length(), bytes_ - address));
  if (payload.is_write()) std::memcpy(memory_ + address, payload.get_data_ptr(), length);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), memory_ + address, length);
  return length;
}

}  // namespace npu::platform
