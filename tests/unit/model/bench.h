// SPDX-License-Identifier: Apache-2.0
// A test bench: one Npu with fake engines, a test memory and a host. One bench a process.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>
#include <systemc>
#include <vector>

#include "hw/model/npu.h"
#include "tests/unit/model/stream.h"
#include "tests/unit/model/test_memory.h"

namespace npu::model::testing {

// Asks on the same ports in every cycle, so many times, and goes on when all are granted.
class EveryCycle final : public timing::SteppedSchedule<EveryCycle> {
 public:
  EveryCycle(timing::Ports ports, uint64_t times) : ports_(ports), left_(times), asking_(ports) {}
  [[nodiscard]] timing::Ports asking() const override { return asking_; }
  void step(timing::Ports granted) override {
    asking_ &= ~granted;
    if (asking_ != 0) return;
    --left_;
    asking_ = ports_;
  }
  [[nodiscard]] bool done() const override { return left_ == 0; }

 private:
  const timing::Ports ports_;
  uint64_t left_;
  timing::Ports asking_;
};

// A tile of so many cycles in which port i moves the bytes of sweep i.
inline engine::TileResult every_cycle(uint64_t cycles, const std::vector<engine::Sweep>& sweeps) {
  engine::TileResult result;
  timing::Ports ports = 0;
  engine::TilePorts at_work;
  for (size_t i = 0; i < sweeps.size(); ++i) {
    ports |= 1u << i;
    at_work.demands.at(i).sweeps = {sweeps[i]};
  }
  at_work.schedule = std::make_unique<EveryCycle>(ports, cycles);
  result.set_time({0, cycles, 0}, std::move(at_work));
  return result;
}

// Copies operand 0 to operand 1 of an ewise command, and does nothing for others; 4 elements a cycle.
class FakeEngine : public engine::Engine {
 public:
  engine::TileResult run(const engine::Tile& tile, engine::MemoryView& memory, bool timed) override {
    ++runs;
    if (custom) return custom(tile, memory, timed);
    engine::TileResult result;
    if (!std::holds_alternative<engine::EwiseTile>(tile)) return result;
    const contract::VpuEwiseCommand& ewise = std::get<engine::EwiseTile>(tile).command;
    const uint32_t elements = ewise.dims[3];
    const auto src = memory.resolve(ewise.operands[0].base, 0, elements, engine::Access::kRead);
    const auto dst = memory.resolve(ewise.operands[1].base, 0, elements, engine::Access::kWrite);
    if (src.empty() || dst.empty()) return result;
    std::copy(src.begin(), src.end(), dst.begin());
    if (!timed) return result;
    const engine::Sweep source = {engine::Access::kRead, ewise.operands[0].base, {0, elements}, elements, elements / 4};
    const engine::Sweep result_bytes = {
        engine::Access::kWrite, ewise.operands[1].base, {0, elements}, elements, elements / 4};
    return every_cycle(elements / 4, {source, result_bytes});
  }

  void finish() override {
    if (rest) rest();
  }

  std::function<engine::TileResult(const engine::Tile&, engine::MemoryView&, bool)> custom;
  std::function<void()> rest;  // what custom left
  int runs = 0;
};

struct BenchOptions {
  contract::Capabilities caps = small_machine();
  Mode mode = Mode::kTimed;
  Jitter jitter;
  Answer answer = Answer::kUpdated;
  bool dmi = true;
  uint64_t memory_bytes = 1 << 20;
  uint64_t most_repeats = contract::kMostRepeats;
  bool poison = false;  // so that a job can read what the one before left
  engine::MakePersistentBackEnd make_persistent;
};

// The modules and their wires; a host thread that runs functions of the test.
class Hardware : public sc_core::sc_module {
 public:
  Hardware(const sc_core::sc_module_name& name, const BenchOptions& options)
      : sc_module(name),
        memory("memory", options.memory_bytes, options.answer, options.dmi),
        npu("npu", config(options), make_engine(mxu), make_engine(vpu),
            options.make_persistent ? options.make_persistent() : nullptr),
        host("host"),
        irq("irq") {
    npu.memory.bind(memory.socket);
    npu.irq.bind(irq);
    host.bind(npu.host);
    SC_HAS_PROCESS(Hardware);
    SC_THREAD(host_thread);
  }

  TestMemory memory;
  FakeEngine* mxu = nullptr;
  FakeEngine* vpu = nullptr;
  Npu npu;
  tlm_utils::simple_initiator_socket<Hardware> host;
  sc_core::sc_signal<bool> irq;
  std::function<void()> body;
  sc_core::sc_event start_host;
  int jobs_started = 0;

 private:
  NpuConfig config(const BenchOptions& options) {
    NpuConfig config;
    config.caps = options.caps;
    config.mode = options.mode;
    config.jitter = options.jitter;
    config.poison = options.poison;
    config.most_repeats = options.most_repeats;
    config.job_started = [this] { ++jobs_started; };
    return config;
  }
  static std::unique_ptr<engine::Engine> make_engine(FakeEngine*& seen) {
    auto engine = std::make_unique<FakeEngine>();
    seen = engine.get();
    return engine;
  }
  void host_thread() {
    for (;;) {
      wait(start_host);
      body();
      body = nullptr;
    }
  }
};

class Bench {
 public:
  static constexpr uint32_t kStreamBase = 0x80000;  // DRAM
  static constexpr uint32_t kEventBase = 0xc0000;
  static constexpr uint32_t kWorkspaceBytes = 0x40000;  // region workspace: from 0
  static constexpr uint32_t kOwner = 7;

  explicit Bench(const BenchOptions& options = {}) : options_(options), hardware_("bench", options) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    map_region(contract::Region::kWorkspace, 0, kWorkspaceBytes, contract::Space::kDram, true, true);
    map_region(contract::Region::kConstants, 0, kWorkspaceBytes, contract::Space::kDram, true, false);
    write(contract::reg::kJobOwner, kOwner);
    write(contract::reg::kIrqEnable, 1);
    // Without a period, so that bytes from another place are other bytes.
    std::mt19937 random(1);
    std::generate_n(memory.data.begin(), kWorkspaceBytes, [&] { return static_cast<uint8_t>(random()); });
  }

  // Register access; the response status of the last one is in `status`.
  uint32_t read(uint32_t offset) {
    uint32_t value = 0;
    transport(tlm::TLM_READ_COMMAND, offset, &value, 4);
    return value;
  }
  void write(uint32_t offset, uint32_t value) { transport(tlm::TLM_WRITE_COMMAND, offset, &value, 4); }
  void transport(tlm::tlm_command command, uint64_t address, void* data, uint32_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<uint8_t*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    hardware_.host->b_transport(payload, delay);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    status = payload.get_response_status();
  }
  unsigned debug_write(uint32_t offset, uint32_t value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<uint8_t*>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    return hardware_.host->transport_dbg(payload);
  }
  uint64_t read64(uint32_t low_offset) { return read(low_offset) | uint64_t{read(low_offset + 4)} << 32; }
  void write64(uint32_t low_offset, uint64_t value) {
    write(low_offset, static_cast<uint32_t>(value));
    write(low_offset + 4, static_cast<uint32_t>(value >> 32));
  }
  uint64_t counter(uint32_t queue, contract::Counter counter) {
    return read64(contract::reg::counter_lo(contract::counter_index(queue, counter)));
  }

  void map_region(contract::Region region, uint64_t base, uint32_t limit, contract::Space space, bool readable,
                  bool writable) {
    const auto index = static_cast<uint32_t>(region);
    write(contract::reg::region_base_lo(index), static_cast<uint32_t>(base));
    write(contract::reg::region_base_hi(index), static_cast<uint32_t>(base >> 32));
    write(contract::reg::region_limit(index), limit);
    write(contract::reg::region_flags(index),
          (readable ? 1u : 0u) | (writable ? 2u : 0u) | static_cast<uint32_t>(space) << 4);
  }
  void set_variable(uint32_t index, const contract::VariableEntry& entry) {
    std::array<uint8_t, contract::VariableEntry::kBytes> bytes;
    entry.store(bytes.data());
    transport(tlm::TLM_WRITE_COMMAND, contract::kPsramWindow + index * bytes.size(), bytes.data(), bytes.size());
  }
  contract::VariableEntry get_variable(uint32_t index) {
    std::array<uint8_t, contract::VariableEntry::kBytes> bytes;
    transport(tlm::TLM_READ_COMMAND, contract::kPsramWindow + index * bytes.size(), bytes.data(), bytes.size());
    return contract::VariableEntry::load(bytes.data());
  }

  // Loads a stream and starts it at a word; `also` are more bits of the control register.
  void start(const std::vector<uint32_t>& stream, uint32_t word = 0, uint32_t also = 0) {
    std::memcpy(memory.data.data() + kStreamBase, stream.data(), stream.size() * 4);
    write(contract::reg::kCommandBaseLo, kStreamBase);
    write(contract::reg::kCommandWords, static_cast<uint32_t>(stream.size()));
    write(contract::reg::kCommandStart, word);
    write(contract::reg::kControl, contract::reg::kControlStartMask | also);
  }
  // Simulates until the job ends; false after `most` of simulated time.
  bool finish(sc_core::sc_time most = {10, sc_core::SC_MS}) {
    const sc_core::sc_time end = sc_core::sc_time_stamp() + most;
    while (npu.running() && sc_core::sc_time_stamp() < end) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
    return !npu.running();
  }
  bool run(const Stream& stream) { return run(stream.finish()); }
  bool run(const std::vector<uint32_t>& stream, uint32_t word = 0, uint32_t also = 0) {
    write(contract::reg::kIrqStatus, 1);
    start(stream, word, also);
    return finish();
  }
  // The fault's code of the last job.
  contract::ErrorCode fault() { return static_cast<contract::ErrorCode>(read(contract::reg::kFaultCode)); }
  uint64_t job_cycles() { return read64(contract::reg::kJobCyclesLo); }

  // Runs a function of the test in a thread of the simulation, so that it may wait; simulates until it returns.
  void in_thread(std::function<void()> body) {
    hardware_.body = std::move(body);
    hardware_.start_host.notify(sc_core::SC_ZERO_TIME);
    while (hardware_.body) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  }

  // Reads scratchpad bytes by a job of its own.
  std::vector<uint8_t> dump_scratchpad(uint32_t offset, uint32_t bytes) {
    Stream stream(options_.caps);
    stream.add(copy(0, spm(offset), dram(kDumpOffset), bytes));
    EXPECT_TRUE(run(stream));
    EXPECT_EQ(fault(), contract::ErrorCode::kOk);
    return {memory.data.begin() + kDumpOffset, memory.data.begin() + kDumpOffset + bytes};
  }

  // The identities of the counters.
  void expect_identities() {
    using contract::Counter;
    expect_cycles_add_up();
    for (uint32_t queue : queues()) {
      EXPECT_EQ(counter(queue, Counter::kBytesRead), counter(queue, Counter::kBytesReadAsked)) << "queue " << queue;
      EXPECT_EQ(counter(queue, Counter::kBytesWritten), counter(queue, Counter::kBytesWrittenAsked))
          << "queue " << queue;
    }
  }
  // Of them what also holds for engines that do not write what their commands say.
  void expect_cycles_add_up() {
    using contract::Counter;
    for (uint32_t queue : queues()) {
      const uint64_t sum =
          counter(queue, Counter::kBusy) + counter(queue, Counter::kStalled) + counter(queue, Counter::kIdle);
      EXPECT_EQ(sum, job_cycles()) << "queue " << queue;
    }
  }

 private:
  [[nodiscard]] std::vector<uint32_t> queues() const {
    std::vector<uint32_t> queues;
    for (uint32_t queue = 0; queue < options_.caps.dma_channels; ++queue) queues.push_back(queue);
    for (uint32_t queue : {8u, 9u, 15u}) queues.push_back(queue);
    return queues;
  }

  static constexpr uint32_t kDumpOffset = 0x20000;

  const BenchOptions options_;
  Hardware hardware_;

 public:
  TestMemory& memory = hardware_.memory;
  FakeEngine* const mxu = hardware_.mxu;
  FakeEngine* const vpu = hardware_.vpu;
  Npu& npu = hardware_.npu;
  sc_core::sc_signal<bool>& irq = hardware_.irq;
  const int& jobs_started = hardware_.jobs_started;
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
};

}  // namespace npu::model::testing
