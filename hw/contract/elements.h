// SPDX-License-Identifier: Apache-2.0
// What all users of the contract's element types would write.
#pragma once

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::contract {

[[nodiscard]] constexpr bool is_float(Element type) {
  switch (type) {
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      return true;
    case Element::kI8:
    case Element::kI16:
    case Element::kI32:
    case Element::kI48:
    case Element::kBool:
      return false;
  }
  return false;
}

// Cycles that a pixel spends in a step of mxu_depth elements of a floating-point type; 0 of another type, and where the
// machine has none.
[[nodiscard]] constexpr uint32_t mxu_float_cycles(Element type, const Capabilities& caps) {
  switch (type) {
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      return caps.mxu_fp8_cycles;
    case Element::kF16:
      return caps.mxu_fp16_cycles;
    case Element::kBf16:
      return caps.mxu_bf16_cycles;
    case Element::kF32:
      return caps.mxu_fp32_cycles;
    case Element::kI8:
    case Element::kI16:
    case Element::kI32:
    case Element::kI48:
    case Element::kBool:
      return 0;
  }
  return 0;
}

}  // namespace npu::contract
