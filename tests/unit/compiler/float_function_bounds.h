// SPDX-License-Identifier: Apache-2.0
// What TOSA 1.0 allows functions of floating point: how far from the exact result, and which values of infinities and
// zeros.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::testing {

// A pattern of f32, f16 or bf16 as a number, and the nearest pattern to a number.
[[nodiscard]] double float_of(contract::Element type, uint32_t pattern);
[[nodiscard]] uint32_t pattern_of(contract::Element type, double value);
[[nodiscard]] double largest_float(contract::Element type);

// Whether the specification says what the operator makes of x, or of x and y.
[[nodiscard]] bool is_defined(graph::Op op, double x, double y);
// The result in double precision.
[[nodiscard]] double float_reference(graph::Op op, double x, double y);

struct FloatOperands {
  double x = 0, y = 0;
};
// The error as a share of what the operator may have. It is 0 for a special value that is right, and infinity for one
// that is wrong, for a number where the reference has a NaN, and for TANH, ERF or SIGMOID beyond 1. Subnormal numbers
// must not be flushed, though the specification allows it.
[[nodiscard]] double error_share(graph::Op op, contract::Element type, FloatOperands operands, double got, double want);
// The error in units of the last place of the reference, of a subnormal one in those of all subnormals. SIN and COS: in
// units of 1, for angles up to a turn, since their bounds grow with the angle. 0 where one of both is no number.
[[nodiscard]] double error_ulp(graph::Op op, contract::Element type, double x, double got, double want);

}  // namespace npu::compiler::testing
