// SPDX-License-Identifier: Apache-2.0
// The trace port: one contract::Event per completed command, written to the event buffer in memory at no time and
// without traffic on the memory port. Records beyond the buffer are counted, not written.
#pragma once

#include <cstdint>

#include "hw/contract/gen/commands.h"

namespace npu::model {

class MemoryPort;

class EventRecorder {
 public:
  explicit EventRecorder(MemoryPort& memory) : memory_(memory) {}

  // `cycle_base` is added to all cycles.
  void begin_job(uint64_t base, uint32_t capacity, uint64_t cycle_base);
  void record(contract::Event event);
  void clear() { count_ = 0; }
  [[nodiscard]] uint32_t count() const { return count_; }

 private:
  MemoryPort& memory_;
  uint64_t base_ = 0, cycle_base_ = 0;
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
};

}  // namespace npu::model
