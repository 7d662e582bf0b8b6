// SPDX-License-Identifier: Apache-2.0
// Tiles of reductions: the command with everything that follows from it.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/box.h"
#include "hw/engine/sweep.h"

namespace npu::engine {

struct ReduceOperands;

// One validated reduction. Types: sum and product i32 (wrapping), max and min i8, i16, i32, all of them f16, bf16, f32;
// all and any bool; argmax i8, i16, i32 and floating point of any format, to i32.
struct ReduceTile {
  using Operands = ReduceOperands;

  contract::VpuReduceCommand command;
  uint64_t src_bytes = 1, dst_bytes = 1;  // of an element

  [[nodiscard]] static contract::ErrorCode make(const contract::VpuReduceCommand& issued, ReduceTile& tile);
  [[nodiscard]] Box src_box() const;
  [[nodiscard]] Box dst_box() const;
  [[nodiscard]] std::vector<PortSweep> sweeps(const contract::Capabilities& caps) const;
};

// Where the operands of a tile are: the first byte of each box.
struct ReduceOperands {
  const uint8_t* src = nullptr;
  uint8_t* dst = nullptr;

  // Asks for them in this order, and ends with the first that is refused.
  [[nodiscard]] contract::ErrorCode resolve(const ReduceTile& tile, MemoryView& memory);
  [[nodiscard]] std::vector<Place> places(const ReduceTile& tile) const;
};

}  // namespace npu::engine
