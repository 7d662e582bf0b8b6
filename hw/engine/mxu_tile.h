// SPDX-License-Identifier: Apache-2.0
// One validated MXU tile: the command with everything that follows from it.
#pragma once

#include <cstdint>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/box.h"

namespace npu::engine {

// No tile may need more multiply-accumulates than this: a damaged command must end in seconds.
inline constexpr uint64_t kMaxTileMacs = uint64_t{1} << 36;
// Of floating point, which takes longer. The channels count as whole panels of the kernels.
inline constexpr uint64_t kMaxFloatTileMacs = uint64_t{1} << 35;

// Half-open interval of rows or columns of the input box.
struct Range {
  int64_t begin = 0, end = 0;
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] int64_t size() const { return empty() ? 0 : end - begin; }
};

// Rows (or columns) of an input of `in` positions that outputs [first, last] can touch: the smallest interval that
// holds them all.
[[nodiscard]] Range used_range(int64_t first, int64_t last, int64_t stride, int64_t pad, int64_t kernel,
                               int64_t dilation, int64_t in);

// Pairs of (output position, kernel position) that fall inside the input, along one axis.
[[nodiscard]] uint64_t taps_inside(int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t dilation,
                                   int64_t in);

struct MxuTile {
  contract::MxuCommand issued;
  // The same, except that a matmul reads as a 1x1 convolution over its rows.
  contract::MxuCommand command;
  bool wide = false;                                        // 48-bit accumulators
  uint64_t src_bytes = 1, weight_bytes = 1, dst_bytes = 1;  // of an element
  uint64_t taps = 1;                                        // kernel_h * kernel_w
  uint64_t reduction = 1;                                   // products an accumulator, padding counted
  uint64_t pixels = 1;                                      // out_h * out_w
  uint64_t macs = 0;
  Range rows, cols;  // of the input box that the tile touches; both empty when it sees only padding

  // Checks every field; fault_bad_command when one is out of range or the combination of types is none of the MXU's.
  [[nodiscard]] static contract::ErrorCode make(const contract::MxuCommand& issued, MxuTile& tile);

  [[nodiscard]] bool reads_input() const { return !rows.empty() && !cols.empty(); }
  // The bytes that the tile touches. The input's first byte is that of (rows.begin, cols.begin).
  [[nodiscard]] Box src_box() const;
  [[nodiscard]] Box weight_box() const;
  [[nodiscard]] Box params_box() const;
  [[nodiscard]] bool adds() const { return command.residual != contract::Residual::kNone; }
  [[nodiscard]] Box residual_box() const;  // of a tile that adds
  [[nodiscard]] Box dst_box() const;
};

// Where the operands of a tile are: the first byte of each box.
struct MxuOperands {
  const uint8_t* src = nullptr;  // null when the tile sees only padding
  const uint8_t* weights = nullptr;
  const uint8_t* params = nullptr;
  const uint8_t* residual = nullptr;  // null when the tile adds nothing
  uint8_t* dst = nullptr;

  // Asks for them in this order, and ends with the first that is refused.
  [[nodiscard]] contract::ErrorCode resolve(const MxuTile& tile, MemoryView& memory);
};

}  // namespace npu::engine
