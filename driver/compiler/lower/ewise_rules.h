// SPDX-License-Identifier: Apache-2.0
// Which operators are element-wise on the VPU, and how each maps to a micro-operation.
#pragma once

#include <cstdint>
#include <utility>

#include "driver/graph/graph.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler {

struct EwiseRule {
  graph::Op op;
  contract::UopCode code;  // of integers, if it takes any
  uint32_t streams;        // leading operands that are read element by element
};

// Null when the operator is not element-wise.
[[nodiscard]] const EwiseRule* ewise_rule(graph::Op op);

// Values that an element can have; of floating point as a register holds them.
[[nodiscard]] std::pair<int64_t, int64_t> element_range(contract::Element type);
// Limits of CLAMP, of elements of a type; of floating point FP32 patterns.
[[nodiscard]] std::pair<int64_t, int64_t> clamp_range(const graph::Operator& op, graph::DType type);

}  // namespace npu::compiler
