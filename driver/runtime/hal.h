// SPDX-License-Identifier: Apache-2.0
// What the runtime needs from a device, and all that it knows about one. Implemented by sim/platform (a SystemC system)
// and by the recording mock (mock_hal.h). Called by Device only, from one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

namespace npu::runtime {

enum class Window : uint8_t { kPersistent, kCode, kData };

class Hal {
 public:
  virtual ~Hal() = default;

  // One 32-bit register of the host port; offset in bytes (hw/contract registers).
  [[nodiscard]] virtual uint32_t read_register(uint32_t offset) = 0;
  virtual void write_register(uint32_t offset, uint32_t value) = 0;
  // Registers at offset, offset + 4, ...: the same as one read after the other, for devices that are faster in blocks.
  virtual void read_registers(uint32_t offset, std::span<uint32_t> values) {
    for (uint32_t& value : values) {
      value = read_register(offset);
      offset += 4;
    }
  }

  // Device memory (DRAM) as the host sees it. Throws Error(fault_bus) outside of it.
  virtual void read_memory(uint64_t address, std::span<uint8_t> bytes) = 0;
  virtual void write_memory(uint64_t address, std::span<const uint8_t> bytes) = 0;
  // Fills device memory with one byte value.
  virtual void fill_memory(uint64_t address, uint64_t bytes, uint8_t value) = 0;

  // The memories that the host port shows through windows; offset in bytes from the memory's start. Code can be written
  // while the control CPU is held in reset, data is read only; a device without control CPU has only the persistent
  // SRAM. Throws Error(fault_bus) otherwise.
  virtual void read_window(Window window, uint32_t offset, std::span<uint8_t> bytes) = 0;
  virtual void write_window(Window window, uint32_t offset, std::span<const uint8_t> bytes) = 0;

  // Lets the device run until its interrupt line is up; false when `timeout` of host time passed first, when wake() was
  // called, or when nothing in the device can move any more. A device whose interrupt is already up returns at once.
  // With a timeout of 0 it does not sleep; a simulated device then still lets a little device time pass, so that a host
  // that only looks gets on.
  // Afterwards the device may stand still until the next call.
  [[nodiscard]] virtual bool wait_interrupt(std::chrono::nanoseconds timeout) = 0;
  // Makes a wait_interrupt() that is going on, or else the next one, return soon. The only call that any thread may
  // make at any time.
  virtual void wake() = 0;
};

}  // namespace npu::runtime
