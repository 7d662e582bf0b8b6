// SPDX-License-Identifier: Apache-2.0
// What all users of the contract's element types would write.
#pragma once

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

}  // namespace npu::contract
