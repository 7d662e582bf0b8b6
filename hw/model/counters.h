// SPDX-License-Identifier: Apache-2.0
// Performance counters, 16 a queue (hw/contract/registers.yaml, counters). They stand still between jobs and are
// cleared at the start of one. Cycles are added by the units as they spend them; bytes asked come from the commands,
// bytes moved from the memories' side, both when a command completes.
#pragma once

#include <array>
#include <cstdint>

#include "hw/contract/gen/registers.h"
#include "hw/model/command.h"

namespace npu::model {

class MemoryPort;

class Counters {
 public:
  void clear() { values_.fill(0); }
  void add(uint32_t queue, contract::Counter counter, uint64_t amount) {
    values_[contract::counter_index(queue, counter)] += amount;
  }
  // `index` < 256: queue * 16 + counter.
  [[nodiscard]] uint64_t value(uint32_t index) const { return values_[index]; }
  // Adds all of them to as many 64-bit words in memory, by the trace port: no time, no traffic. Without effect where
  // there is no memory for all of them.
  void add_to_memory(MemoryPort& memory, uint64_t base) const;

 private:
  std::array<uint64_t, contract::reg::kCounterCount> values_{};
};

// Bytes by a command's own reckoning, and bytes that memories delivered and took for it.
inline void add_bytes(Counters& counters, uint32_t queue, const Traffic& asked, const Traffic& moved) {
  using contract::Counter;
  counters.add(queue, Counter::kBytesReadAsked, asked.read());
  counters.add(queue, Counter::kBytesRead, moved.read());
  counters.add(queue, Counter::kBytesWrittenAsked, asked.written());
  counters.add(queue, Counter::kBytesWritten, moved.written());
  counters.add(queue, Counter::kDramRead, moved.dram_read);
  counters.add(queue, Counter::kDramWritten, moved.dram_written);
  counters.add(queue, Counter::kPsramRead, moved.psram_read);
  counters.add(queue, Counter::kPsramWritten, moved.psram_written);
}

}  // namespace npu::model
