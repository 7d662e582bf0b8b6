// SPDX-License-Identifier: Apache-2.0
// What a test driver needs from a device, be it the fake one or the model's chip.
#pragma once

#include <cstdint>
#include <span>

namespace npu::firmware_test {

class DevicePort {
 public:
  virtual ~DevicePort() = default;
  // Registers of the host's side.
  [[nodiscard]] virtual uint32_t read_register(uint32_t offset) = 0;
  virtual void write_register(uint32_t offset, uint32_t value) = 0;
  virtual void read_memory(uint64_t address, std::span<uint8_t> bytes) = 0;
  virtual void write_memory(uint64_t address, std::span<const uint8_t> bytes) = 0;
  // The CPU is held in reset.
  virtual void write_code(std::span<const uint8_t> bytes) = 0;
};

}  // namespace npu::firmware_test
