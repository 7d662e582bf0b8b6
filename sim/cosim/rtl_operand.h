// SPDX-License-Identifier: Apache-2.0
// An operand of a tile in memory: what a block of RTL may reach of it.
#pragma once

#include <cstdint>

#include "hw/engine/box.h"
#include "hw/engine/tile_ports.h"

namespace npu::cosim {

struct RtlOperand {
  uint8_t* base = nullptr;  // byte of offset 0, which need not be one of the operand's
  int64_t low = 0, high = 0;

  RtlOperand() = default;
  // `first` is the first byte of the box. Only what was resolved for writing is written.
  RtlOperand(const uint8_t* first, const engine::Box& box) {
    const engine::Extent extent = engine::extent_of(box);
    base = const_cast<uint8_t*>(first) - box.offset;
    low = extent.low;
    high = extent.low + static_cast<int64_t>(extent.bytes);
  }
  [[nodiscard]] bool holds(int64_t begin, int64_t bytes) const { return begin >= low && begin + bytes <= high; }
};

}  // namespace npu::cosim
