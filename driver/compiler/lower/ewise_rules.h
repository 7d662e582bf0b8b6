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
  contract::UopCode code;
  uint32_t streams;  // leading operands that are read element by element
};

// Null when the operator is not element-wise.
[[nodiscard]] const EwiseRule* ewise_rule(graph::Op op);

// Values that an element can have.
[[nodiscard]] std::pair<int64_t, int64_t> element_range(contract::Element type);
// Limits of CLAMP.
[[nodiscard]] std::pair<int64_t, int64_t> clamp_range(const graph::Operator& op, contract::Element type);

}  // namespace npu::compiler
