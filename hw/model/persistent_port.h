// SPDX-License-Identifier: Apache-2.0
// What the host port shows of the persistent SRAM: its window, the registers psram_* and ecc_*, and var_word0..3.
// While the memory is not on, the window answers with an error, and var_word0..3 read as 0 and take nothing.
#pragma once

#include <cstdint>
#include <span>

#include "hw/model/machine.h"

namespace npu::model {

class PersistentPort {
 public:
  explicit PersistentPort(Machine& machine) : machine_(machine) {}

  // Moves bytes from or to the window. False, and nothing is moved: beyond the memory, not on, or a word that is read,
  // or written in part, has two wrong bits. With `debug` wrong bits are neither looked at nor counted.
  [[nodiscard]] bool access(uint64_t offset, bool write, bool debug, std::span<uint8_t> bytes);

  // One of these registers, but for var_index.
  [[nodiscard]] static bool has(uint32_t offset);
  // `entry` is what var_index holds. With `debug` reading corrects nothing, and writing starts and clears nothing.
  [[nodiscard]] uint32_t read(uint32_t offset, uint32_t entry, bool debug);
  void write(uint32_t offset, uint32_t value, uint32_t entry, bool debug);

 private:
  [[nodiscard]] uint32_t read_entry(uint64_t place, bool debug);
  void write_entry(uint64_t place, uint32_t value);
  [[nodiscard]] uint32_t status() const;
  void set_power(uint32_t value);
  void scrub();
  // As long as it takes to go through all of the memory.
  void be_busy();

  Machine& machine_;
};

}  // namespace npu::model
