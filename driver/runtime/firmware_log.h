// SPDX-License-Identifier: Apache-2.0
// Reads the firmware's log: lines of text in a ring buffer in the shared memory.
#pragma once

#include <cstdint>
#include <string>

#include "driver/runtime/hal.h"

namespace npu::runtime {

class FirmwareLog {
 public:
  // `bytes` is a power of two.
  FirmwareLog(Hal& hal, uint64_t address, uint32_t bytes) : hal_(hal), address_(address), bytes_(bytes) {}

  // Fetches what was written until `produced` bytes had been. Says how much was overwritten before it was read.
  void fetch(uint32_t produced);
  // The firmware starts again, with an empty log; what was fetched stays.
  void restart();
  // Whole lines since the last call.
  [[nodiscard]] std::string take();
  // Up to `count` lines, the last ones; do not count as taken.
  [[nodiscard]] std::string last_lines(int count) const;

 private:
  Hal& hal_;
  const uint64_t address_;
  const uint32_t bytes_;
  uint32_t fetched_ = 0;
  std::string text_;
};

}  // namespace npu::runtime
