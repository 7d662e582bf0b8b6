// SPDX-License-Identifier: Apache-2.0
// Micro-programs of the operators of floating point that are functions: EXP, LOG, POW, SIN, COS, TANH, SIGMOID, ERF,
// RECIPROCAL and RSQRT.
#pragma once

#include <cstdint>
#include <span>

#include "driver/graph/graph.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler {

// Takes the micro-operations of a program. Values are numbers, each made once.
class UopSink {
 public:
  virtual ~UopSink() = default;

  // Gives the number of the result, an earlier one where the same was computed before. `dst` is not looked at.
  virtual uint32_t emit(contract::Uop uop) = 0;
  // A pattern in a register; `seed` is any value that is there.
  virtual uint32_t constant(uint32_t pattern, uint32_t seed) = 0;
};

// Emits the program of `op` on the values `in`, FP32, and gives the number of its result, FP32. Once that is rounded to
// `type`, it is within the bound of TOSA 1.0 for operands of that type: f32, or f16 and bf16, which take fewer
// micro-operations. docs/reference/float-functions.md has the errors and what the programs take.
//
// Subnormal operands and results are not flushed. Infinities, NaNs and zeros give what the specification wants; where
// it has no rule, as for POW of a negative base, the result is some value.
[[nodiscard]] uint32_t emit_float_function(graph::Op op, std::span<const uint32_t> in, UopSink& sink,
                                           contract::Element type = contract::Element::kF32);

}  // namespace npu::compiler
