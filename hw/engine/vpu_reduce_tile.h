// SPDX-License-Identifier: Apache-2.0
// Tiles of reductions: the command with everything that follows from it.
#pragma once

#include <cstdint>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/box.h"

namespace npu::engine {

// One validated reduction. Types: sum and product i32 (wrapping); max and min i8, i16, i32; all and any bool; argmax
// i8, i16, i32 to i32.
struct ReduceTile {
  contract::VpuReduceCommand command;
  uint64_t src_bytes = 1, dst_bytes = 1;  // of an element

  [[nodiscard]] static contract::ErrorCode make(const contract::VpuReduceCommand& issued, ReduceTile& tile);
  [[nodiscard]] Box src_box() const;
  [[nodiscard]] Box dst_box() const;
};

// Where the operands of a tile are: the first byte of each box.
struct ReduceOperands {
  const uint8_t* src = nullptr;
  uint8_t* dst = nullptr;

  // Asks for them in this order, and ends with the first that is refused.
  [[nodiscard]] contract::ErrorCode resolve(const ReduceTile& tile, MemoryView& memory);
};

}  // namespace npu::engine
