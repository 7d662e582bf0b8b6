// SPDX-License-Identifier: Apache-2.0
// A parameter block, taken apart into arrays for the kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/engine/kernels.h"

namespace npu::engine {

// Range of a type that a rescaled value is clipped to.
struct ValueRange {
  int32_t low = 0, high = 0;
};
[[nodiscard]] ValueRange value_range(contract::Element type, bool is_unsigned);

// How a multiplier and a shift scale, of which hardware keeps the low six bits.
[[nodiscard]] OutputScale output_scale(int32_t multiplier, int32_t shift, contract::Rescale kind);

// One entry a channel. Multipliers of 16-bit kinds are the low 16 bits, shifts the low six: what hardware keeps of
// values outside the operator's conditions.
struct ChannelParams {
  contract::ParameterHeader header;
  std::vector<int64_t> bias;
  std::vector<int32_t> multiplier;
  std::vector<int64_t> round, extra, shift;

  // `block` is a parameter header and `entries` entries.
  void load(std::span<const uint8_t> block, size_t entries, contract::Rescale kind);

  // Appends copies of the arrays' contents until they are there `times` times.
  void repeat(size_t times);
};

}  // namespace npu::engine
