// SPDX-License-Identifier: Apache-2.0
// Turning "so many bytes of this operand during these cycles" into runs of memory beats.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/engine/box.h"
#include "hw/engine/engine.h"

namespace npu::engine {

// Bytes from the first to behind the last one of a box, relative to its base address.
struct Extent {
  int64_t low = 0;
  uint64_t bytes = 0;
};
[[nodiscard]] Extent extent_of(const Box& box);

// `bytes` bytes of an operand that lies within `extent`, in beats of up to `width` bytes, spread evenly over the cycles
// begin .. begin + cycles. Fewer bytes than the extent has: one sweep over it; more: the sweep starts over.
struct Stream {
  Port port = Port::kOperand;
  Access access = Access::kRead;
  contract::Address base;
  Extent extent;
  uint64_t bytes = 0;
  uint64_t width = 1;
  uint64_t begin = 0;
  uint64_t cycles = 1;
};

// Appends the stream's runs: the beats' bytes sum up to exactly `bytes`, none leaves the extent, and none starts after
// the stream's cycles when these suffice for a beat a cycle.
void add_stream(std::vector<BeatRun>& beats, const Stream& stream);

// total * part / whole, exact, for part <= whole < 2^32 and any total.
[[nodiscard]] uint64_t share(uint64_t total, uint64_t part, uint64_t whole);

}  // namespace npu::engine
