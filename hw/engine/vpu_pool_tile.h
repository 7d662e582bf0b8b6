// SPDX-License-Identifier: Apache-2.0
// Pooling tiles: the command with everything that follows from it.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/box.h"
#include "hw/engine/mxu_tile.h"
#include "hw/engine/sweep.h"

namespace npu::engine {

struct PoolOperands;

// One validated pooling command of int8, int16 or floating point. Elements outside the input box do not count; a window
// without any gives the smallest value, minus infinity of floating point (max), or the output zero point, +0 (average).
struct PoolTile {
  using Operands = PoolOperands;

  contract::VpuPoolCommand command;
  uint64_t bytes = 1;  // of an element
  Range rows, cols;    // of the input box that the tile touches

  [[nodiscard]] static contract::ErrorCode make(const contract::VpuPoolCommand& issued, PoolTile& tile);
  [[nodiscard]] bool reads_input() const { return !rows.empty() && !cols.empty(); }
  [[nodiscard]] Box src_box() const;
  [[nodiscard]] Box dst_box() const;
  [[nodiscard]] Box params_box() const;  // average only
  [[nodiscard]] std::vector<PortSweep> sweeps(const contract::Capabilities& caps) const;
};

// Where the operands of a tile are: the first byte of each box.
struct PoolOperands {
  const uint8_t* src = nullptr;     // null when the tile sees only padding
  const uint8_t* params = nullptr;  // average only
  uint8_t* dst = nullptr;

  // Asks for them in this order, and ends with the first that is refused.
  [[nodiscard]] contract::ErrorCode resolve(const PoolTile& tile, MemoryView& memory);
  [[nodiscard]] std::vector<Place> places(const PoolTile& tile) const;
};

}  // namespace npu::engine
