// SPDX-License-Identifier: Apache-2.0
// A device around the instruction-set simulator with nothing real in it but the CPU: registers are words, the command
// processor only notes what it is told, and a test says how streams end. Fast, and it counts what the firmware does.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"
#include "hw/model/iss.h"
#include "tests/firmware/device_port.h"

namespace npu::firmware_test {

// The job registers when a stream was started.
struct Start {
  std::map<uint32_t, uint32_t> registers;
  uint64_t time = 0;
  [[nodiscard]] uint32_t at(uint32_t offset) const { return registers.at(offset); }
  [[nodiscard]] uint64_t pair(uint32_t offset) const { return uint64_t{at(offset + 4)} << 32 | at(offset); }
};

struct Work {
  uint64_t instructions = 0, register_accesses = 0, memory_accesses = 0;
};

class FakeDevice : public DevicePort, private model::IssBus {
 public:
  static constexpr uint32_t kClockMhz = 1000, kDramMib = 16, kPsramBytes = 8192, kPsramPortBytes = 16, kVarEntries = 32;

  // `module`: file with the instruction-set simulator.
  explicit FakeDevice(const std::string& module);
  ~FakeDevice() override;

  [[nodiscard]] uint32_t read_register(uint32_t offset) override { return word(offset); }
  void write_register(uint32_t offset, uint32_t value) override;
  void read_memory(uint64_t address, std::span<uint8_t> bytes) override;
  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override;
  void write_code(std::span<const uint8_t> bytes) override;

  // Lets the CPU work until it waits and nothing is pending, or until it has stopped (then stop() says why). False: it
  // is still at it after `instructions`.
  bool run(uint64_t instructions = 1'000'000);
  // Lets the CPU wait; then as run().
  bool pass(uint64_t cycles);
  [[nodiscard]] uint64_t time() const { return idle_ + 2 * iss_->retired() + bus_cycles_; }
  [[nodiscard]] const model::IssStop& stop() const { return stop_; }
  [[nodiscard]] bool stopped() const;

  // How the stream that is running ends; run() afterwards.
  void end_done(uint64_t cycles, uint32_t events = 0);
  void end_preempted(uint64_t cycles, uint32_t next_word, uint32_t segment, uint32_t events = 0);
  void end_fault(contract::ErrorCode code, uint32_t command);

  // Of the CPU's data memory; 0 outside of it.
  [[nodiscard]] uint32_t data_word(uint32_t address) const;
  uint32_t& word(uint32_t offset) { return words_.at(offset / 4); }
  [[nodiscard]] model::Iss& iss() { return *iss_; }

  std::vector<Start> starts;
  uint32_t preemptions_asked = 0, resets = 0;
  uint64_t preemption_asked_at = 0;  // the last time
  uint32_t host_raises = 0;          // of completions
  bool busy = false;                 // a stream is running
  bool power_comes = true;           // when it is switched on
  uint64_t last_kick = 0;            // of the watchdog
  std::string uart;
  std::vector<contract::Phase> phases;
  Work work;
  std::map<uint32_t, std::array<uint32_t, 4>> variables;
  uint32_t damaged_entry = UINT32_MAX;  // two wrong bits in it
  uint32_t damage_elsewhere = 0;        // wrong words that the running job finds while entries are read
  uint32_t changes_of_valid_entries = 0;
  uint32_t scrubs = 0;  // each corrects 3 bits, and finds 2 words that it cannot

 private:
  struct Memory {
    explicit Memory(uint32_t bytes);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    std::span<uint8_t> span;
  };

  [[nodiscard]] bool read(uint32_t address, uint32_t bytes, uint32_t& value) override;
  [[nodiscard]] bool write(uint32_t address, uint32_t bytes, uint32_t value) override;
  [[nodiscard]] uint32_t cpu_read(uint32_t offset);
  void cpu_write(uint32_t offset, uint32_t value);
  void control(uint32_t value);
  void end(uint32_t status, uint64_t cycles);
  void update_lines();
  [[nodiscard]] uint32_t lines();

  Memory code_, data_;
  std::vector<uint8_t> dram_;
  std::array<uint32_t, contract::kRegisterSpaceBytes / 4> words_{};
  std::unique_ptr<model::Iss> iss_;
  model::IssStop stop_;
  uint64_t idle_ = 5000, bus_cycles_ = 0;
  uint32_t status_ = 0;
};

}  // namespace npu::firmware_test
