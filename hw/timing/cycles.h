// SPDX-License-Identifier: Apache-2.0
// What every cycle formula answers: cycles of the NPU clock with ideal memory.
#pragma once

#include <bit>
#include <cstdint>

namespace npu::timing {

struct Cycles {
  uint64_t fill = 0;    // until the first operand has passed the pipeline
  uint64_t steady = 0;  // the work itself
  uint64_t drain = 0;   // until the last result has left
  [[nodiscard]] constexpr uint64_t total() const { return fill + steady + drain; }
  friend constexpr bool operator==(const Cycles&, const Cycles&) = default;
};

// ceil(a / b) without overflow; b > 0.
[[nodiscard]] constexpr uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Levels of a binary tree over `leaves` inputs.
[[nodiscard]] constexpr uint64_t tree_levels(uint64_t leaves) { return leaves <= 1 ? 0 : std::bit_width(leaves - 1); }

}  // namespace npu::timing
