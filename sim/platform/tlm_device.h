// SPDX-License-Identifier: Apache-2.0
// The runtime's hardware interface over the simulated system (platform.h). Starts and resets are posted: they reach the
// device, in order, before anything that could tell the difference. A doorbell is seen by the CPU in the next wait.
#pragma once

#include <exception>
#include <memory>
#include <thread>

#include "driver/runtime/hal.h"
#include "hw/model/hand_over.h"
#include "sim/platform/system.h"

namespace npu::platform {

class TlmDevice : public runtime::Hal {
 public:
  explicit TlmDevice(const PlatformOptions& options);
  ~TlmDevice() override;

  [[nodiscard]] uint32_t read_register(uint32_t offset) override;
  void write_register(uint32_t offset, uint32_t value) override;
  void read_registers(uint32_t offset, std::span<uint32_t> values) override;
  void read_memory(uint64_t address, std::span<uint8_t> bytes) override;
  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override;
  void fill_memory(uint64_t address, uint64_t bytes, uint8_t value) override;
  void read_window(runtime::Window window, uint32_t offset, std::span<uint8_t> bytes) override;
  void write_window(runtime::Window window, uint32_t offset, std::span<const uint8_t> bytes) override;
  [[nodiscard]] bool wait_interrupt(std::chrono::nanoseconds timeout) override;
  void wake() override { system_->wake(); }

 private:
  void simulate(const PlatformOptions& options);
  void flush();
  void access_window(tlm::tlm_command command, runtime::Window window, uint32_t offset, uint8_t* data, uint64_t bytes);
  [[nodiscard]] std::span<uint8_t> memory(uint64_t address, uint64_t bytes);

  model::HandOver hand_over_;
  Request request_;
  std::unique_ptr<System> system_;  // made, used and destroyed by the simulation's thread
  std::exception_ptr failure_;      // why the system could not be built
  bool open_ = false;               // the system was built; ordered by the hand-over
  std::thread thread_;
};

}  // namespace npu::platform
