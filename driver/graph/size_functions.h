// SPDX-License-Identifier: Apache-2.0
// Functions of one size or two that operators on shapes have. Private to this folder. Source: the draft of the TOSA 1.1
// specification, "Shape Operators".
#pragma once

#include <cstdint>

namespace npu::graph {

enum class SizeFunction : uint8_t {
  kAdd,
  kSub,
  kMul,
  kMax,
  kMin,
  kMod,
  kDivFloor,
  kDivCeil,
  kExp2,
  kLog2Floor,
  kLog2Ceil,
  kQuotient,  // no operator's: of a RESHAPE, the size that the others leave; without a rest
};

[[nodiscard]] inline bool is_unary(SizeFunction function) {
  return function == SizeFunction::kExp2 || function == SizeFunction::kLog2Floor || function == SizeFunction::kLog2Ceil;
}

// Undefined: what has to hold instead, in words.
struct SizeResult {
  int64_t value = 0;
  const char* undefined = nullptr;
};

// A function of one size takes `a`.
[[nodiscard]] SizeResult apply(SizeFunction function, int64_t a, int64_t b);

}  // namespace npu::graph
