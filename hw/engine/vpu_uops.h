// SPDX-License-Identifier: Apache-2.0
// A block of elements on its way through an element-wise micro-program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/contract/gen/commands.h"

namespace npu::engine {

// Elements that the interpreter takes at a time: few enough for the registers to stay in the caches.
inline constexpr size_t kBlockElements = 512;

// An operand of load or store: `rows` x `cols` elements from `data` on.
struct UopStream {
  uint8_t* data = nullptr;
  int64_t row_stride = 0, col_stride = 0;  // bytes
  contract::Element type = contract::Element::kI8;
};

// A RESCALE with its parameter block (or the range of a NEGATE). Arrays hold an entry for each element of the block, or
// one for all.
struct UopRescale {
  bool per_element = false;
  bool wide = false;  // values of 48 bits, multipliers of 16
  const int32_t* multiplier = nullptr;
  const int64_t* round = nullptr;
  const int64_t* extra = nullptr;
  const int64_t* shift = nullptr;
  int32_t input_zp = 0, output_zp = 0;
  int32_t low = 0, high = 0, clamp_min = 0, clamp_max = 0;
};

struct UopBlock {
  std::span<const contract::Uop> uops;
  size_t rows = 0, cols = 0;               // rows * cols <= kBlockElements
  int64_t* registers = nullptr;            // kBlockElements each
  const UopStream* streams = nullptr;      // by operand
  const uint8_t* const* tables = nullptr;  // by operand
  const UopRescale* rescales = nullptr;    // by micro-operation
};

}  // namespace npu::engine
