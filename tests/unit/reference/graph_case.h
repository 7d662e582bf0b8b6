// SPDX-License-Identifier: Apache-2.0
// Graphs of several operators, for tests.
#pragma once

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {

// Puts a main block together by hand, so that a test can also build what a validator would refuse.
class GraphCase {
 public:
  GraphCase() { graph_.regions.push_back({"main", {graph::Block{"main", {}, {}, {}, {}}}}); }

  graph::TensorId tensor(const std::string& name, DType type, const Shape& shape) {
    graph::Tensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.shape = shape;
    block().tensors.push_back(tensor);
    return static_cast<graph::TensorId>(block().tensors.size() - 1);
  }
  graph::TensorId input(const std::string& name, DType type, const Shape& shape) {
    block().inputs.push_back(tensor(name, type, shape));
    return block().inputs.back();
  }
  // A CONST operator; `bytes` as the file packs them.
  graph::TensorId constant(const std::string& name, DType type, const Shape& shape, const std::vector<uint8_t>& bytes) {
    const graph::TensorId id = tensor(name, type, shape);
    set_data(id, bytes);
    add({.op = Op::kConst, .attributes = {}, .inputs = {}, .outputs = {id}, .location = ""});
    return id;
  }
  graph::TensorId variable(const std::string& identity, DType type, const Shape& shape,
                           const std::vector<uint8_t>& initial = {}) {
    const graph::TensorId id = tensor("Variable_" + std::to_string(block().tensors.size()), type, shape);
    block().tensors[id].variable = true;
    block().tensors[id].variable_name = identity;
    if (!initial.empty()) {
      set_data(id, initial);
    }
    return id;
  }
  void add(const graph::Operator& op) { block().operators.push_back(op); }
  // An operator with one result.
  graph::TensorId result(Op op, const std::vector<graph::TensorId>& inputs, const std::string& name, DType type,
                         const Shape& shape) {
    const graph::TensorId id = tensor(name, type, shape);
    add({.op = op, .attributes = {}, .inputs = inputs, .outputs = {id}, .location = ""});
    return id;
  }
  void write(graph::TensorId value, graph::TensorId variable) {
    add({.op = Op::kVariableWrite, .attributes = {}, .inputs = {value}, .outputs = {variable}, .location = ""});
  }
  void declare(graph::TensorId variable) {
    add({.op = Op::kVariable, .attributes = {}, .inputs = {}, .outputs = {variable}, .location = ""});
  }
  void output(graph::TensorId id) { block().outputs.push_back(id); }

  graph::Block& block() { return graph_.main(); }
  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  std::vector<Value> run(const std::vector<Value>& inputs, Context& context, const Observer& observer = {}) const {
    return reference::run(graph_, inputs, context, observer);
  }

 private:
  void set_data(graph::TensorId id, const std::vector<uint8_t>& bytes) {
    graph_.storage.push_back(std::make_shared<const std::vector<uint8_t>>(bytes));
    block().tensors[id].data = *graph_.storage.back();
    block().tensors[id].has_data = true;
  }
  graph::Graph graph_;
};

}  // namespace npu::reference::test
