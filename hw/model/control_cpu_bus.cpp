// SPDX-License-Identifier: Apache-2.0
// What the control CPU reaches, by its address map (cpu_map in hw/contract/registers.yaml): accesses of its program,
// and those of a debugger.
#include <algorithm>
#include <cstring>

#include "hw/model/control_cpu.h"

namespace npu::model {

using contract::kCpuDramBase;
using contract::kCpuPsramBase;
using contract::kCpuRegistersBase;

namespace {

bool in(uint32_t address, uint32_t base, uint32_t bytes) { return address - base < bytes; }
bool in(uint32_t address, size_t length, uint32_t base, uint32_t bytes) {
  return in(address, base, bytes) && length <= bytes - (address - base);
}

void prepare(tlm::tlm_generic_payload& payload, bool write, uint32_t offset, uint8_t* data, size_t bytes) {
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(offset);
  payload.set_data_ptr(data);
  payload.set_data_length(static_cast<uint32_t>(bytes));
  payload.set_streaming_width(static_cast<uint32_t>(bytes));
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace

bool ControlCpu::read(uint32_t address, uint32_t bytes, uint32_t& value) {
  return access(address, bytes, false, value);
}

bool ControlCpu::write(uint32_t address, uint32_t bytes, uint32_t value) { return access(address, bytes, true, value); }

bool ControlCpu::access(uint32_t address, uint32_t bytes, bool write, uint32_t& value) {
  const bool dram = address >= kCpuDramBase;
  if (dram && !write && line_.read(address - kCpuDramBase, bytes, value)) return true;
  const bool registers = in(address, kCpuRegistersBase, contract::kCpuRegistersBytes);
  const bool acts = registers && peripherals_.acts(address - kCpuRegistersBase, write);
  if (registers) line_.drop();
  if (!dram && write) pass_until(stores_.all_done());
  enter_quantum();
  approach(acts);
  if (aborted()) {  // the instruction ends without effect
    iss_->request_stop();
    return true;
  }
  sc_core::sc_time end = local_time() + kBusCycles * period_;
  bool done = false;
  if (registers) {
    done = bytes == 4 && peripherals_.access_register(address - kCpuRegistersBase, write, value);
    end = std::max(end, sc_core::sc_time_stamp());  // it may have waited
  } else if (in(address, kCpuPsramBase, contract::kCpuPsramBytes)) {
    done = bytes == 4 && peripherals_.access_psram(address - kCpuPsramBase, write, value);
  } else if (dram) {
    done = write ? store(address - kCpuDramBase, bytes, value, end) : load(address - kCpuDramBase, bytes, value, end);
  }
  if (!done) return false;
  pass_until(end);
  if (acts) synchronise();
  if (aborted()) {
    iss_->request_stop();
  } else {
    replan();
  }
  return true;
}

void ControlCpu::pass_until(const sc_core::sc_time& moment) {
  const uint64_t cycle = cycle_at(moment);
  cycles_ += cycle - std::min(now(), cycle);
}

// A line costs memory no more than a word. Where a whole one cannot be read, the word that was asked for may be.
bool ControlCpu::load(uint32_t offset, uint32_t bytes, uint32_t& value, sc_core::sc_time& end) {
  const sc_core::sc_time start = local_time();
  const std::span<uint8_t> line = line_.replace(offset);
  if (access_dram(false, line_.first(), line, start, end)) return line_.read(offset, bytes, value);
  line_.drop();
  return access_dram(false, offset, {reinterpret_cast<uint8_t*>(&value), bytes}, start, end);
}

bool ControlCpu::store(uint32_t offset, uint32_t bytes, uint32_t value, sc_core::sc_time& end) {
  const sc_core::sc_time start = std::max(local_time(), stores_.room());
  sc_core::sc_time done;
  if (!access_dram(true, offset, {reinterpret_cast<uint8_t*>(&value), bytes}, start, done)) return false;
  line_.write(offset, bytes, value);
  stores_.add(done);
  end = start + kBusCycles * period_;
  return true;
}

bool ControlCpu::access_dram(bool write, uint32_t offset, std::span<uint8_t> bytes, const sc_core::sc_time& start,
                             sc_core::sc_time& end) {
  prepare(payload_, write, offset, bytes.data(), bytes.size());
  sc_core::sc_time delay = start - sc_core::sc_time_stamp();
  memory->b_transport(payload_, delay);
  end = sc_core::sc_time_stamp() + delay;
  return payload_.is_response_ok();
}

// --- Debugger

uint32_t ControlCpu::debug_register(uint32_t index) const { return iss_->read_register(index); }

void ControlCpu::set_debug_register(uint32_t index, uint32_t value) { iss_->write_register(index, value); }

uint32_t ControlCpu::debug_csr(uint32_t number) const { return iss_->read_csr(number); }

void ControlCpu::set_breakpoint(uint32_t address, bool on) { iss_->set_breakpoint(address, on); }

bool ControlCpu::debug_read(uint32_t address, std::span<uint8_t> bytes) { return debug_access(address, false, bytes); }

bool ControlCpu::debug_write(uint32_t address, std::span<const uint8_t> bytes) {
  // Not written to: the direction says so.
  return debug_access(address, true, {const_cast<uint8_t*>(bytes.data()), bytes.size()});
}

bool ControlCpu::debug_access(uint32_t address, bool write, std::span<uint8_t> bytes) {
  const size_t length = bytes.size();
  if (length == 0) return true;
  if (in(address, length, contract::kCpuCodeBase, contract::kCpuCodeBytes)) {
    if (!write) std::memcpy(bytes.data(), code().data() + (address - contract::kCpuCodeBase), length);
    return !write;
  }
  if (in(address, length, contract::kCpuDataBase, contract::kCpuDataBytes)) {
    uint8_t* const place = data().data() + (address - contract::kCpuDataBase);
    write ? std::memcpy(place, bytes.data(), length) : std::memcpy(bytes.data(), place, length);
    return true;
  }
  if (in(address, length, kCpuRegistersBase, contract::kCpuRegistersBytes)) {
    return debug_registers(address - kCpuRegistersBase, write, bytes);
  }
  if (in(address, length, kCpuPsramBase, contract::kCpuPsramBytes)) {
    return peripherals_.debug_psram(address - kCpuPsramBase, write, bytes);
  }
  return in(address, length, kCpuDramBase, contract::kCpuDramBytes) && debug_dram(address - kCpuDramBase, write, bytes);
}

bool ControlCpu::debug_registers(uint32_t offset, bool write, std::span<uint8_t> bytes) {
  if (offset % 4 != 0 || bytes.size() % 4 != 0) return false;
  for (size_t i = 0; i < bytes.size(); i += 4) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + i, 4);
    if (!peripherals_.debug_register(static_cast<uint32_t>(offset + i), write, value)) return false;
    if (!write) std::memcpy(bytes.data() + i, &value, 4);
  }
  return true;
}

bool ControlCpu::debug_dram(uint32_t offset, bool write, std::span<uint8_t> bytes) {
  if (write) line_.drop();
  tlm::tlm_generic_payload payload;
  prepare(payload, write, offset, bytes.data(), bytes.size());
  return memory->transport_dbg(payload) == bytes.size();
}

}  // namespace npu::model
