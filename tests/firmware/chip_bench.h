// SPDX-License-Identifier: Apache-2.0
// The firmware of this build on the model's chip: real engines, a test memory that engines and CPU share, and a host
// that is the test. One bench a process.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "firmware/image.h"
#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"
#include "hw/model/chip.h"
#include "sim/platform/iss_loader.h"
#include "tests/firmware/ring_driver.h"
#include "tests/unit/model/stream.h"
#include "tests/unit/model/test_memory.h"

namespace npu::firmware_test {

// The CPU's door to the memory.
class CpuDoor : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<CpuDoor> socket;
  CpuDoor(const sc_core::sc_module_name& name, std::vector<uint8_t>& data)
      : sc_module(name), socket("socket"), data_(data) {
    socket.register_b_transport(this, &CpuDoor::b_transport);
    socket.register_transport_dbg(this, &CpuDoor::transport_dbg);
  }
  uint64_t accesses = 0;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++accesses;
    const bool done = transport_dbg(payload) == payload.get_data_length();
    payload.set_response_status(done ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += sc_core::sc_time(60, sc_core::SC_NS);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    const uint64_t address = payload.get_address(), length = payload.get_data_length();
    if (address > data_.size() || length > data_.size() - address) return 0;
    if (payload.is_write()) std::memcpy(data_.data() + address, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), data_.data() + address, length);
    return payload.get_data_length();
  }
  std::vector<uint8_t>& data_;
};

class ChipBoard : public sc_core::sc_module {
 public:
  ChipBoard(const sc_core::sc_module_name& name, const model::ChipConfig& config)
      : sc_module(name),
        memory("memory", uint64_t{config.npu.caps.dram_mib} << 20, model::testing::Answer::kUpdated, true),
        door("door", memory.data),
        chip("chip", config, engine::make_mxu_model(config.npu.caps), engine::make_vpu_model(config.npu.caps)),
        host("host"),
        irq("irq") {
    chip.cpu_memory.bind(door.socket);
    chip.memory.bind(memory.socket);
    chip.irq.bind(irq);
    host.bind(chip.host);
  }
  model::testing::TestMemory memory;
  CpuDoor door;
  model::Chip chip;
  tlm_utils::simple_initiator_socket<ChipBoard> host;
  sc_core::sc_signal<bool> irq;
};

class ChipBench : public DevicePort {
 public:
  explicit ChipBench(model::Mode mode = model::Mode::kTimed) : caps_(machine()), board_("board", config(mode)) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  [[nodiscard]] uint32_t read_register(uint32_t offset) override {
    uint32_t value = 0;
    transport(tlm::TLM_READ_COMMAND, offset, &value, 4);
    return value;
  }
  void write_register(uint32_t offset, uint32_t value) override {
    transport(tlm::TLM_WRITE_COMMAND, offset, &value, 4);
  }
  void read_memory(uint64_t address, std::span<uint8_t> bytes) override {
    std::memcpy(bytes.data(), memory().data() + address, bytes.size());
  }
  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override {
    std::memcpy(memory().data() + address, bytes.data(), bytes.size());
  }
  void write_code(std::span<const uint8_t> bytes) override {
    std::vector<uint8_t> copy(bytes.begin(), bytes.end());
    transport(tlm::TLM_WRITE_COMMAND, contract::kCodeWindow, copy.data(), static_cast<uint32_t>(copy.size()));
  }

  // Simulates by microseconds until the condition holds; false after `most` of them.
  [[nodiscard]] bool until(const std::function<bool()>& condition, uint32_t most_us) {
    for (uint32_t us = 0; us < most_us; ++us) {
      if (condition()) return true;
      sc_core::sc_start(1, sc_core::SC_US);
    }
    return condition();
  }
  [[nodiscard]] uint64_t device_time() {
    const uint32_t low = read_register(contract::reg::kTimeLo);
    return uint64_t{read_register(contract::reg::kTimeHi)} << 32 | low;
  }
  [[nodiscard]] bool irq() const { return board_.irq.read(); }
  [[nodiscard]] std::vector<uint8_t>& memory() { return board_.memory.data; }
  [[nodiscard]] const contract::Capabilities& caps() const { return caps_; }
  [[nodiscard]] uint64_t cpu_accesses() const { return board_.door.accesses; }
  std::string uart;

 private:
  static contract::Capabilities machine() {
    contract::Capabilities caps = model::testing::small_machine();
    caps.dram_mib = 16;
    return caps;
  }
  model::ChipConfig config(model::Mode mode) {
    model::ChipConfig config;
    config.npu.caps = caps_;
    config.npu.mode = mode;
    config.iss = platform::load_iss("");
    config.uart = [this](char c) { uart += c; };
    return config;
  }
  void transport(tlm::tlm_command command, uint64_t address, void* data, uint32_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<uint8_t*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    board_.host->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE) << std::hex << address;
  }

  const contract::Capabilities caps_;
  ChipBoard board_;
};

}  // namespace npu::firmware_test
