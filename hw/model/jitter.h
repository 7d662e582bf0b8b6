// SPDX-License-Identifier: Apache-2.0
// Random extra latency (config.h), the same for the same seed in every job.
#pragma once

#include <cstdint>

#include "hw/model/config.h"

namespace npu::model {

class JitterSource {
 public:
  explicit JitterSource(const Jitter& jitter) : jitter_(jitter) {}

  void begin_job() { state_ = jitter_.seed; }
  [[nodiscard]] uint32_t engine() { return draw(jitter_.engine_cycles); }
  [[nodiscard]] uint32_t dma() { return draw(jitter_.dma_cycles); }
  [[nodiscard]] uint32_t memory() { return draw(jitter_.memory_cycles); }

 private:
  // SplitMix64: 0 to `most` inclusive.
  uint32_t draw(uint32_t most) {
    if (most == 0) return 0;
    state_ += 0x9e3779b97f4a7c15;
    uint64_t value = state_;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value ^= value >> 31;
    return static_cast<uint32_t>(value % (uint64_t{most} + 1));
  }

  Jitter jitter_;
  uint64_t state_ = 0;
};

}  // namespace npu::model
