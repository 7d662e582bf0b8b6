// SPDX-License-Identifier: Apache-2.0
// What the requests of a port move, and where the operands of a tile lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hw/engine/box.h"
#include "hw/engine/memory_view.h"
#include "hw/timing/ports.h"

namespace npu::engine {

// Bytes from the first to behind the last one of a box, relative to its base address.
struct Extent {
  int64_t low = 0;
  uint64_t bytes = 0;
};
[[nodiscard]] Extent extent_of(const Box& box);

// `requests` requests move `bytes` bytes that lie within `extent`, each its even share. Fewer bytes than the extent
// has: one sweep over it; more: the sweep starts over.
struct Sweep {
  Access access = Access::kRead;
  contract::Address base;
  Extent extent;
  uint64_t bytes = 0;
  uint64_t requests = 0;
};
[[nodiscard]] Sweep sweep_of(const Box& box, Access access, uint64_t bytes, uint64_t requests);
// Bytes of a box, what is repeated counted once.
[[nodiscard]] uint64_t distinct_bytes(const Box& box);

// A sweep, and the port that makes its requests.
struct PortSweep {
  timing::Ports port = 0;
  Sweep sweep;
};

// An operand of a tile by the number that the VPU's RTL has for it: the first byte of its box, null for one that the
// tile does not use.
struct Place {
  size_t operand = 0;
  const uint8_t* first = nullptr;
  Box box;
};

}  // namespace npu::engine
