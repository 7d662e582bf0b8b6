// SPDX-License-Identifier: Apache-2.0
// The RTL of a lane's floating point (rtl/blocks/float), for its test.
#pragma once

#include <cstdint>
#include <memory>

#include "hw/contract/gen/commands.h"

namespace npu::rtl {

class Float {
 public:
  // A micro-operation with the values of its registers, and what the conversions take of the same values. FP32 patterns
  // where nothing else is said.
  struct Inputs {
    contract::UopCode op = contract::UopCode::kFadd;
    uint32_t imm0 = 0, imm1 = 0;
    bool flag = false;  // a NaN is ignored: of fclamp, order and the larger one
    contract::Element type = contract::Element::kF32;
    uint32_t a = 0, b = 0, c = 0;
  };
  struct Outputs {
    uint32_t result = 0;    // of the micro-operation
    uint32_t widened = 0;   // a, bits of `type`
    uint32_t narrowed = 0;  // a, as bits of `type`
    uint32_t sum = 0;       // a + b, by the adder of trees
    uint32_t product = 0;   // a * b, by the multiplier of dot products; a and b are numbers of `type`
    int32_t order = 0;      // of a
    uint32_t larger = 0;    // of a and b
  };

  virtual ~Float() = default;
  [[nodiscard]] virtual Outputs run(const Inputs& inputs) = 0;
};

[[nodiscard]] std::unique_ptr<Float> make_float();

}  // namespace npu::rtl
