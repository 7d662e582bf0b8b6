// SPDX-License-Identifier: Apache-2.0
// Random numbers that start without cost: every input of the fuzz target makes a generator of its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64.
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 to `limit` - 1; 0 for a limit of 0.
  size_t below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(next() % limit); }
  bool one_in(size_t chances) { return below(chances) == 0; }

 private:
  uint64_t state_;
};

}  // namespace npu::fuzz
