// SPDX-License-Identifier: Apache-2.0
// What one operator of the reference sees of a run: operands, results, attributes, variables, and how it complains.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::reference {

class Execution;
class Variables;

class Call {
 public:
  // `inputs` in the operator's order; a variable tensor is a null pointer. `outputs` are allocated, with type and
  // shape.
  Call(const graph::Operator& op, const graph::Block& block, std::vector<const graph::Value*> inputs,
       std::vector<graph::Value*> outputs, Execution* execution = nullptr)
      : op_(op), block_(block), inputs_(std::move(inputs)), outputs_(std::move(outputs)), execution_(execution) {}

  [[nodiscard]] const graph::Operator& op() const { return op_; }
  [[nodiscard]] const graph::Attributes& attributes() const { return op_.attributes; }
  [[nodiscard]] const graph::Tensor& tensor(graph::TensorId id) const { return block_.tensors[id]; }
  // What the run shares; an operator of a call without a run must not ask.
  [[nodiscard]] Execution& execution() const;
  [[nodiscard]] Variables& variables() const;

  [[nodiscard]] size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] const graph::Value& input(size_t index) const;
  [[nodiscard]] graph::Value& output(size_t index = 0) const;

  // A REQUIRE of the specification: the graph is legal, but these values make its result unpredictable.
  void require(bool holds, std::string_view what_is_wrong) const {
    if (!holds) [[unlikely]] {
      fail(contract::ErrorCode::kRequireFailed, what_is_wrong);
    }
  }
  // An ERROR_IF of the specification, for conditions that depend on values.
  void error_if(bool wrong, contract::ErrorCode code, std::string_view what_is_wrong) const {
    if (wrong) [[unlikely]] {
      fail(code, what_is_wrong);
    }
  }
  [[noreturn]] void unsupported_types() const;
  // "CONV2D 'layer_103' at loc(...)": how messages name the operator.
  [[nodiscard]] std::string describe() const;
  // Throws Error with the operator, its result and its location in front of the message.
  [[noreturn]] void fail(contract::ErrorCode code, std::string_view what_is_wrong) const;

 private:
  const graph::Operator& op_;
  const graph::Block& block_;
  std::vector<const graph::Value*> inputs_;
  std::vector<graph::Value*> outputs_;
  Execution* execution_;
};

}  // namespace npu::reference
