// SPDX-License-Identifier: Apache-2.0
// An operator of a graph, as facts (bins.h) ask about it.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::test {

// An operator of a legal graph.
struct OperatorInstance {
  const graph::Block& block;
  const graph::Operator& op;

  [[nodiscard]] const graph::Tensor& in(size_t i) const { return block.tensors[op.inputs.at(i)]; }
  [[nodiscard]] const graph::Shape& shape() const { return in(0).shape; }
  [[nodiscard]] const graph::Shape& out() const { return block.tensors[op.outputs.at(0)].shape; }
  [[nodiscard]] size_t rank() const { return shape().size(); }
  [[nodiscard]] const graph::Operator* maker(size_t i) const {
    for (const graph::Operator& other : block.operators) {
      if (!other.outputs.empty() && other.outputs[0] == op.inputs.at(i)) return &other;
    }
    return nullptr;
  }
  [[nodiscard]] bool constant(size_t i) const { return maker(i) != nullptr && maker(i)->op == graph::Op::kConst; }
  [[nodiscard]] int64_t axis_size() const { return shape().at(static_cast<size_t>(op.attributes.axis)); }
  // The index-th shape operand, whose values are constants of the graphs that are counted.
  [[nodiscard]] std::vector<int64_t> numbers(size_t index) const {
    for (const graph::TensorId id : op.inputs) {
      if (block.tensors[id].type != graph::DType::kShape || index-- > 0) continue;
      std::vector<int64_t> numbers(block.tensors[id].data.size() / sizeof(int64_t));
      std::memcpy(numbers.data(), block.tensors[id].data.data(), numbers.size() * sizeof(int64_t));
      return numbers;
    }
    throw std::invalid_argument("an operator without its shape operand");
  }
};

}  // namespace npu::test
