// SPDX-License-Identifier: Apache-2.0
// How a graph's blocks declare its variables.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::compiler {

// Of one variable.
struct Declaration {
  // The tensor that says what it is: that of its first VARIABLE operator; without one the first tensor of the variable,
  // or the first that has an initial value. Blocks come in the order of the file, the one that runs first before all.
  const graph::Tensor* tensor = nullptr;
  bool by_operator = false;
  // A VARIABLE operator stands in a block of control flow, or behind control flow that uses the variable: whether an
  // execution has declared it is known when it runs. Others are declared before anything else is done.
  bool late = false;
  // Of its VARIABLE operators: whether they give it the same initial value, or all of them none.
  bool one_initial_value = true;
};

// Of a valid graph, which must outlive this.
class Declarations {
 public:
  explicit Declarations(const graph::Graph& graph);

  // In order of their first tensors.
  [[nodiscard]] const std::vector<Declaration>& all() const { return all_; }
  // The number of a variable tensor's identity in this graph.
  [[nodiscard]] uint32_t number(const graph::Tensor& tensor) const { return numbers_.at(variable_identity(tensor)); }
  [[nodiscard]] const Declaration& of(const graph::Tensor& tensor) const { return all_[number(tensor)]; }

 private:
  void note_tensor(const graph::Tensor& tensor);
  void note_operator(const graph::Tensor& tensor);
  void find_late_ones(const graph::Graph& graph);

  std::vector<Declaration> all_;
  std::unordered_map<std::string, uint32_t> numbers_;  // by identity
};

}  // namespace npu::compiler
