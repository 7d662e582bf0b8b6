// SPDX-License-Identifier: Apache-2.0
// Operands of an operator: the file lists tensors and shape values in one list.
#pragma once

#include <optional>

#include "driver/graph/graph.h"

namespace npu::compiler {

namespace detail {
inline std::optional<graph::TensorId> operand(const graph::Block& block, const graph::Operator& op, size_t index,
                                              bool shape) {
  for (graph::TensorId id : op.inputs) {
    if ((block.tensors[id].type == graph::DType::kShape) != shape) continue;
    if (index-- == 0) return id;
  }
  return std::nullopt;
}
}  // namespace detail

// The index-th operand that is a tensor.
inline std::optional<graph::TensorId> data_operand_id(const graph::Block& block, const graph::Operator& op,
                                                      size_t index) {
  return detail::operand(block, op, index, false);
}

// The index-th operand that is a shape value: RESHAPE's shape, SLICE's start and size, TILE's multiples, PAD's padding.
inline std::optional<graph::TensorId> shape_operand_id(const graph::Block& block, const graph::Operator& op,
                                                       size_t index) {
  return detail::operand(block, op, index, true);
}

}  // namespace npu::compiler
