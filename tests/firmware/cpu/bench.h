// SPDX-License-Identifier: Apache-2.0
// A test bench: a Chip with idle engines, a memory for its CPU, and a host. One bench a process.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"
#include "hw/model/chip.h"
#include "hw/presets/preset.h"
#include "sim/platform/iss_loader.h"

namespace npu::model::testing {

namespace reg = contract::reg;
using sc_core::sc_time;

// Answers every access after `latency`; beyond its end with an address error.
class TestDram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<TestDram> socket;
  TestDram(const sc_core::sc_module_name& name, size_t bytes) : sc_module(name), socket("socket"), data(bytes, 0) {
    socket.register_b_transport(this, &TestDram::b_transport);
    socket.register_transport_dbg(this, &TestDram::transport_dbg);
  }
  std::vector<uint8_t> data;
  sc_time latency{37, sc_core::SC_NS};
  std::vector<sc_time> accesses;  // when they came

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    accesses.push_back(sc_core::sc_time_stamp() + delay);
    const bool done = transport_dbg(payload) == payload.get_data_length();
    payload.set_response_status(done ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += latency;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    const uint64_t address = payload.get_address(), length = payload.get_data_length();
    if (address > data.size() || length > data.size() - address) return 0;
    if (payload.is_write()) std::memcpy(data.data() + address, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), data.data() + address, length);
    return payload.get_data_length();
  }
};

class Board : public sc_core::sc_module {
 public:
  Board(const sc_core::sc_module_name& name, const ChipConfig& config)
      : sc_module(name),
        dram("dram", 1 << 20),
        npu_dram("npu_dram", 1 << 20),
        chip("chip", config, engine::make_mxu_model(config.npu.caps), engine::make_vpu_model(config.npu.caps)),
        host("host"),
        irq("irq") {
    chip.cpu_memory.bind(dram.socket);
    chip.memory.bind(npu_dram.socket);
    chip.irq.bind(irq);
    host.bind(chip.host);
    SC_HAS_PROCESS(Board);
    SC_THREAD(watch_irq);
  }
  TestDram dram, npu_dram;
  Chip chip;
  tlm_utils::simple_initiator_socket<Board> host;
  sc_core::sc_signal<bool> irq;
  std::vector<sc_time> irq_rises;

 private:
  void watch_irq() {
    for (;;) {
      wait(irq.posedge_event());
      irq_rises.push_back(sc_core::sc_time_stamp());
    }
  }
};

class Bench {
 public:
  // The machine `nano`: the CPU at 200 MHz; see period(). Functional mode has no engines' cycles, but the CPU's.
  explicit Bench(Mode mode = Mode::kTimed) : board_("board", config(mode)) { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

  // --- Host
  tlm::tlm_response_status transport(tlm::tlm_command command, uint64_t address, void* data, uint32_t bytes) {
    tlm::tlm_generic_payload payload;
    prepare(payload, command, address, data, bytes);
    sc_time delay = sc_core::SC_ZERO_TIME;
    board_.host->b_transport(payload, delay);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    return payload.get_response_status();
  }
  unsigned debug(tlm::tlm_command command, uint64_t address, void* data, uint32_t bytes) {
    tlm::tlm_generic_payload payload;
    prepare(payload, command, address, data, bytes);
    return board_.host->transport_dbg(payload);
  }
  uint32_t read(uint32_t offset) {
    uint32_t value = 0;
    EXPECT_EQ(transport(tlm::TLM_READ_COMMAND, offset, &value, 4), tlm::TLM_OK_RESPONSE) << std::hex << offset;
    return value;
  }
  void write(uint32_t offset, uint32_t value) {
    EXPECT_EQ(transport(tlm::TLM_WRITE_COMMAND, offset, &value, 4), tlm::TLM_OK_RESPONSE) << std::hex << offset;
  }
  uint64_t read64(uint32_t low) { return read(low) | uint64_t{read(low + 4)} << 32; }

  // --- CPU
  // Loads a program of tests/firmware/cpu/programs by its name, or words, through the code window.
  void load(const std::string& name) {
    const std::string path = std::string(NPU_CPU_PROGRAMS) + "/" + name + ".bin";
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path;
    load_bytes({std::istreambuf_iterator<char>(file), {}});
  }
  void load_words(const std::vector<uint32_t>& words) {
    std::vector<char> bytes(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    load_bytes(bytes);
  }
  void load_bytes(std::vector<char> bytes) {
    bytes.resize(contract::kCpuCodeBytes, 0);
    ASSERT_EQ(transport(tlm::TLM_WRITE_COMMAND, contract::kCodeWindow, bytes.data(), contract::kCpuCodeBytes),
              tlm::TLM_OK_RESPONSE);
  }
  void release() { write(reg::kCpuControl, reg::kCpuControlRunMask); }
  void hold() { write(reg::kCpuControl, 0); }
  void run(const sc_time& duration) { sc_core::sc_start(duration); }
  void run_us(double microseconds) { run(sc_time(microseconds, sc_core::SC_US)); }
  // Until the CPU waits or stops; false after `most`.
  bool settle(const sc_time& most = {10, sc_core::SC_MS}) {
    const sc_time end = sc_core::sc_time_stamp() + most;
    while (sc_core::sc_time_stamp() < end) {
      run_us(1);
      if (cpu().waiting() || !cpu().running()) return true;
    }
    return false;
  }
  bool start(const std::string& program) {
    load(program);
    release();
    return settle();
  }
  // Word of the data memory, where programs leave their results.
  uint32_t result(uint32_t index) {
    uint32_t value = 0;
    EXPECT_EQ(transport(tlm::TLM_READ_COMMAND, contract::kDataWindow + 4 * index, &value, 4), tlm::TLM_OK_RESPONSE);
    return value;
  }
  std::vector<uint32_t> results(uint32_t count) {
    std::vector<uint32_t> values;
    for (uint32_t i = 0; i < count; ++i) values.push_back(result(i));
    return values;
  }
  uint32_t status() { return read(reg::kCpuStatus); }
  contract::CpuStop stop_reason() {
    return static_cast<contract::CpuStop>((status() & reg::kCpuStatusReasonMask) >> reg::kCpuStatusReasonLsb);
  }
  ControlCpu& cpu() { return board_.chip.cpu(); }
  Chip& chip() { return board_.chip; }
  TestDram& dram() { return board_.dram; }
  bool irq() const { return board_.irq.read(); }
  const std::vector<sc_time>& irq_rises() const { return board_.irq_rises; }
  sc_time cpu_period() const { return sc_time(5, sc_core::SC_NS); }
  const contract::Capabilities& caps() const { return caps_; }
  // A cycle of the device time.
  sc_time device_period() const { return sc_time((1'000'000 + caps_.clock_mhz / 2) / caps_.clock_mhz, sc_core::SC_PS); }

  std::string uart;

 private:
  ChipConfig config(Mode mode) {
    ChipConfig config;
    config.npu.caps = caps_;
    config.npu.mode = mode;
    config.iss = platform::load_iss("");
    config.uart = [this](char c) { uart += c; };
    return config;
  }
  static void prepare(tlm::tlm_generic_payload& payload, tlm::tlm_command command, uint64_t address, void* data,
                      uint32_t bytes) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<uint8_t*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }

  const contract::Capabilities caps_ = presets::load_preset("nano").caps;
  Board board_;
};

}  // namespace npu::model::testing
