// SPDX-License-Identifier: Apache-2.0
// Arithmetic of bounds that saturates, and division that rounds. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

namespace npu::graph {

// Stands for anything as large, or larger.
inline constexpr int64_t kFar = int64_t{1} << 62;

inline int64_t clamped(int64_t value) { return std::clamp(value, -kFar, kFar); }

// Of numbers that are not beyond kFar. What may be anything stays so.
inline int64_t clamped_sum(int64_t a, int64_t b, int64_t anything) {
  return a == anything || b == anything ? anything : clamped(a + b);
}
inline int64_t clamped_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kFar : -kFar;
  return clamped(product);
}

inline int64_t divided_down(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
inline int64_t divided_up(int64_t a, int64_t b) { return -divided_down(-a, b); }

}  // namespace npu::graph
