// SPDX-License-Identifier: Apache-2.0
#include "hw/model/chip.h"

#include <cstring>
#include <utility>

#include "hw/contract/error.h"

namespace npu::model {

namespace reg = contract::reg;
using Side = Mailbox::Side;

namespace {

// Of a window that may have a memory of `size` bytes.
bool fits(uint64_t offset, uint64_t length, uint64_t size) { return offset <= size && length <= size - offset; }

bool in_window(uint64_t address, uint64_t window, uint64_t end) { return address >= window && address < end; }

}  // namespace

Chip::Chip(const sc_core::sc_module_name& name, const ChipConfig& config, std::unique_ptr<engine::Engine> mxu,
           std::unique_ptr<engine::Engine> vpu, std::unique_ptr<engine::PersistentBackEnd> persistent)
    : sc_module(name),
      cpu_("cpu", config.npu.caps.cpu_clock_mhz, config.iss, *this),
      npu_("npu", config.npu, std::move(mxu), std::move(vpu), std::move(persistent)),
      mailbox_(config.npu.caps.clock_mhz, cpu_, *this, config.uart),
      host("host"),
      memory(npu_.memory),
      cpu_memory(cpu_.memory),
      irq("irq"),
      table_bytes_(config.npu.caps.var_entries * contract::VariableEntry::kBytes),
      core_("core"),
      core_irq_("core_irq") {
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    if (info.block == contract::Block::kId) id_[info.offset / 4] = true;
  }
  for (const contract::CapabilityInfo& info : contract::kCapabilities) id_[info.register_offset / 4] = true;
  host.register_b_transport(this, &Chip::b_transport);
  host.register_transport_dbg(this, &Chip::transport_dbg);
  core_.bind(npu_.host);
  npu_.irq.bind(core_irq_);
  SC_HAS_PROCESS(Chip);
  SC_METHOD(drive_irq);
  sensitive << host_irq_event_;
  dont_initialize();
  SC_METHOD(core_irq_changed);
  sensitive << core_irq_;
  dont_initialize();
}

// --- Host

void Chip::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  payload.set_response_status(access(payload, false));
}

unsigned Chip::transport_dbg(tlm::tlm_generic_payload& payload) {
  return access(payload, true) == tlm::TLM_OK_RESPONSE ? payload.get_data_length() : 0;
}

tlm::tlm_response_status Chip::access(tlm::tlm_generic_payload& payload, bool debug) {
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_data_length() == 0 || payload.get_streaming_width() < payload.get_data_length()) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  if (!payload.is_write() && !payload.is_read()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  return payload.get_address() < contract::kPsramWindow ? access_words(payload, debug) : access_memory(payload, debug);
}

tlm::tlm_response_status Chip::access_words(tlm::tlm_generic_payload& payload, bool debug) {
  const uint64_t address = payload.get_address();
  const uint32_t length = payload.get_data_length();
  if (address % 4 != 0 || length % 4 != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (!fits(address, length, contract::kRegisterSpaceBytes)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  const bool write = payload.is_write();
  for (uint32_t i = 0; i < length; i += 4) {
    const auto offset = static_cast<uint32_t>(address + i);
    uint32_t value = 0;
    std::memcpy(&value, payload.get_data_ptr() + i, 4);
    const bool done = host_word(offset, write, debug, value);
    if (!done) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (!write) std::memcpy(payload.get_data_ptr() + i, &value, 4);
  }
  return tlm::TLM_OK_RESPONSE;
}

bool Chip::host_word(uint32_t offset, bool write, bool debug, uint32_t& value) {
  if (id_[offset / 4]) {
    std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&value), 4);
    return core_access(offset, write, debug, bytes);
  }
  return write ? mailbox_.write(Side::kHost, offset, debug, value) : mailbox_.read(Side::kHost, offset, debug, value);
}

tlm::tlm_response_status Chip::access_memory(tlm::tlm_generic_payload& payload, bool debug) {
  const uint64_t address = payload.get_address();
  const std::span<uint8_t> bytes(payload.get_data_ptr(), payload.get_data_length());
  const bool write = payload.is_write();
  bool done = false;
  if (in_window(address, contract::kPsramWindow, contract::kCodeWindow)) {
    const bool table = address - contract::kPsramWindow < table_bytes_;
    done = !(write && table) && core_access(address, write, debug, bytes);
  } else if (in_window(address, contract::kCodeWindow, contract::kDataWindow)) {
    const bool permitted = write ? cpu_.held() : debug;
    done = permitted && move(cpu_.code(), address - contract::kCodeWindow, write, bytes);
  } else if (address >= contract::kDataWindow) {
    done = !write && move(cpu_.data(), address - contract::kDataWindow, write, bytes);
  }
  return done ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

bool Chip::move(std::span<uint8_t> memory, uint64_t offset, bool write, std::span<uint8_t> bytes) {
  if (!fits(offset, bytes.size(), memory.size())) return false;
  uint8_t* const place = memory.data() + offset;
  write ? std::memcpy(place, bytes.data(), bytes.size()) : std::memcpy(bytes.data(), place, bytes.size());
  return true;
}

// --- CPU

// Of the core: starting, resetting and preempting, interrupts, power. What else it shows changes by events only, and
// what else it takes it uses when it starts.
bool Chip::acts(uint32_t offset, bool write) const {
  if (!write) return false;
  return offset == reg::kControl || offset == reg::kIrqStatus || offset == reg::kIrqEnable ||
         offset == reg::kEnginePower || (offset >= reg::kPsramPower && offset <= reg::kPsramScrub) ||
         Mailbox::acts(offset);
}

bool Chip::access_register(uint32_t offset, bool write, uint32_t& value) {
  return cpu_word(offset, write, false, value);
}

bool Chip::debug_register(uint32_t offset, bool write, uint32_t& value) { return cpu_word(offset, write, true, value); }

bool Chip::cpu_word(uint32_t offset, bool write, bool debug, uint32_t& value) {
  if (offset < reg::kDoorbell) return core_access(offset, write, debug, {reinterpret_cast<uint8_t*>(&value), 4});
  return write ? mailbox_.write(Side::kCpu, offset, debug, value) : mailbox_.read(Side::kCpu, offset, debug, value);
}

bool Chip::access_psram(uint32_t offset, bool write, uint32_t& value) {
  return core_access(uint64_t{contract::kPsramWindow} + offset, write, false, {reinterpret_cast<uint8_t*>(&value), 4});
}

bool Chip::debug_psram(uint32_t offset, bool write, std::span<uint8_t> bytes) {
  return core_access(uint64_t{contract::kPsramWindow} + offset, write, true, bytes);
}

void Chip::cpu_stopped() { mailbox_.cpu_stopped(); }

// --- Core

bool Chip::core_access(uint64_t address, bool write, bool debug, std::span<uint8_t> bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(bytes.data());
  payload.set_data_length(static_cast<uint32_t>(bytes.size()));
  payload.set_streaming_width(static_cast<uint32_t>(bytes.size()));
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (debug) return core_->transport_dbg(payload) == bytes.size();
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  core_->b_transport(payload, delay);
  return payload.is_response_ok();
}

void Chip::reset_core(bool cold) {
  uint32_t value = cold ? reg::kControlColdResetMask : reg::kControlSoftResetMask;
  NPU_CHECK(core_access(reg::kControl, true, false, {reinterpret_cast<uint8_t*>(&value), 4}));
}

void Chip::host_irq_changed() { host_irq_event_.notify(sc_core::SC_ZERO_TIME); }

// Beyond the memory a record is lost, as anything that a trace port writes there.
void Chip::write_phase(uint64_t address, std::span<const uint8_t> record) {
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(const_cast<uint8_t*>(record.data()));  // a write does not change it
  payload.set_data_length(static_cast<uint32_t>(record.size()));
  payload.set_streaming_width(static_cast<uint32_t>(record.size()));
  cpu_memory->transport_dbg(payload);
}

void Chip::arm_hang(bool enable, uint32_t queue, uint32_t command) {
  if (enable) {
    npu_.hang(queue, command);
  } else {
    npu_.no_hang();
  }
}

bool Chip::hang_armed() const { return npu_.hang_armed(); }

}  // namespace npu::model
