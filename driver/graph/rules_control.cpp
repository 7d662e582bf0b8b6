// SPDX-License-Identifier: Apache-2.0
// Rules of constants, variables, control flow and custom operators.
#include <algorithm>
#include <span>
#include <string>

#include "driver/graph/operator_view.h"
#include "driver/graph/rules.h"
#include "driver/graph/text.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

// The first block of the region that an attribute names.
const Block& region_block(const OperatorView& op, const char* attribute, const std::string& region_name) {
  const Region* region = op.regions().find(region_name);
  if (region != nullptr && !region->blocks.empty()) {
    return region->blocks.front();
  }
  op.fail(ErrorCode::kBadStructure,
          std::string(attribute) + " names the region " + in_quotes(region_name) + ", which does not exist");
}

std::string type_text(const OperatorView& op, const Block& block, TensorId id, bool known) {
  const Tensor& tensor = block.tensors[id];
  return known ? std::string(name(tensor.type)) + op.text(op.dims(block, id)) : describe_type(tensor);
}

// Operands of the operator and tensors of a region's interface must agree in number, types and, if they are known,
// shapes.
enum class Shapes : uint8_t { kKnown, kOpen };
void require_same(const OperatorView& op, const std::string& what, std::span<const TensorId> mine, const Block& block,
                  const std::vector<TensorId>& theirs, Shapes shapes = Shapes::kKnown) {
  if (mine.size() != theirs.size()) {
    op.fail(ErrorCode::kBadStructure, "block " + in_quotes(block.name) + " has " + std::to_string(theirs.size()) + " " +
                                          what + ", but the operator has " + std::to_string(mine.size()));
  }
  const bool known = shapes == Shapes::kKnown;
  for (size_t i = 0; i < mine.size(); ++i) {
    const bool same_type = op.block().tensors[mine[i]].type == block.tensors[theirs[i]].type;
    if (same_type && (!known || op.equal(op.dims(op.block(), mine[i]), op.dims(block, theirs[i])))) continue;
    op.fail(same_type ? ErrorCode::kBadShape : ErrorCode::kBadType,
            in_quotes(op.block().tensors[mine[i]].name) + " is " + type_text(op, op.block(), mine[i], known) +
                ", but " + in_quotes(block.tensors[theirs[i]].name) + " of block " + in_quotes(block.name) + " is " +
                type_text(op, block, theirs[i], known));
  }
}

std::span<const TensorId> inputs_from(const OperatorView& op, size_t first) {
  return std::span(op.op().inputs).subspan(std::min(first, op.op().inputs.size()));
}

// A block must give as many results as the operator, of the same types.
void require_results(const OperatorView& op, const Block& block) {
  if (op.op().outputs.size() != block.outputs.size()) {
    op.fail(ErrorCode::kBadStructure, "block " + in_quotes(block.name) + " has " +
                                          std::to_string(block.outputs.size()) + " outputs, but the operator has " +
                                          std::to_string(op.op().outputs.size()));
  }
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const Tensor& tensor = block.tensors[block.outputs[i]];
    if (tensor.type == op.output(i).type) continue;
    op.bad_type(op.output_name(i) + " is " + std::string(name(op.output(i).type)) + ", but " + in_quotes(tensor.name) +
                " of block " + in_quotes(block.name) + " is " + std::string(name(tensor.type)));
  }
}

// The shapes of these results.
std::vector<Dims> results(const OperatorView& op, const Block& block) {
  require_results(op, block);
  std::vector<Dims> shapes;
  for (const TensorId id : block.outputs) shapes.push_back(op.dims(block, id));
  return shapes;
}

void require_variable(const OperatorView& op, const Tensor& tensor) {
  if (!tensor.variable) {
    op.bad_argument(in_quotes(tensor.name) + " is not a variable");
  }
}

}  // namespace

std::vector<Dims> rule_const(const OperatorView& op) {
  if (!is_constant(op.output(0))) {
    op.fail(ErrorCode::kBadData, op.output_name(0) + " has no data");
  }
  return {op.output_dims(0)};
}

std::vector<Dims> rule_custom(const OperatorView& op) {
  std::vector<Dims> shapes;
  for (size_t i = 0; i < op.op().outputs.size(); ++i) {
    shapes.push_back(op.output_dims(i));
  }
  return shapes;
}

std::vector<Dims> rule_cond_if(const OperatorView& op) {
  const Block& then_block = region_block(op, "then_graph", op.attributes().then_graph);
  const Block& else_block = region_block(op, "else_graph", op.attributes().else_graph);
  if (!op.one_element(op.dims(0))) {
    op.bad_shape(op.input_name(0) + " must have one element");
  }
  const auto inputs = inputs_from(op, 1);
  require_same(op, "inputs", inputs, then_block, then_block.inputs);
  require_same(op, "inputs", inputs, else_block, else_block.inputs);
  auto shapes = results(op, then_block);
  const auto others = results(op, else_block);
  if (!std::equal(shapes.begin(), shapes.end(), others.begin(), others.end(),
                  [&](const Dims& a, const Dims& b) { return op.equal(a, b); })) {
    op.bad_shape("the two branches give results of different shapes");
  }
  return shapes;
}

std::vector<Dims> rule_while_loop(const OperatorView& op) {
  const Block& condition = region_block(op, "cond_graph", op.attributes().cond_graph);
  const Block& body = region_block(op, "body_graph", op.attributes().body_graph);
  const auto inputs = inputs_from(op, 0);
  require_same(op, "inputs", inputs, condition, condition.inputs);
  require_same(op, "inputs", inputs, body, body.inputs);
  require_same(op, "outputs", inputs, body, body.outputs);
  const bool one_flag = condition.outputs.size() == 1 && condition.tensors[condition.outputs[0]].type == DType::kBool &&
                        op.one_element(op.dims(condition, condition.outputs[0]));
  if (!one_flag) {
    op.bad_argument("block " + in_quotes(condition.name) + " must give one BOOL of one element");
  }
  return results(op, body);
}

void check_control_without_sizes(const OperatorView& op) {
  const Attributes& a = op.attributes();
  const auto agree = [&](const char* attribute, const std::string& name, size_t first, bool gives_results) {
    const Block& block = region_block(op, attribute, name);
    require_same(op, "inputs", inputs_from(op, first), block, block.inputs, Shapes::kOpen);
    if (gives_results) require_results(op, block);
  };
  if (op.op().op == Op::kCondIf) {
    agree("then_graph", a.then_graph, 1, true);
    agree("else_graph", a.else_graph, 1, true);
  } else if (op.op().op == Op::kWhileLoop) {
    agree("cond_graph", a.cond_graph, 0, false);
    agree("body_graph", a.body_graph, 0, true);
  }
}

std::vector<Dims> rule_variable(const OperatorView& op) {
  require_variable(op, op.output(0));
  return {op.output_dims(0)};
}

std::vector<Dims> rule_variable_access(const OperatorView& op) {
  require_variable(op, op.op().op == Op::kVariableRead ? op.input(0) : op.output(0));
  return {op.dims(0)};
}

}  // namespace npu::graph
