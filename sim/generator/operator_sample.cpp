// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/operator_sample.h"

#include <algorithm>

#include "driver/graph/builder.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::generator {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Operand;
using graph::OperandKind;
using graph::OperatorInfo;
using graph::Shape;
using graph::Slot;
using graph::TensorId;
using graph::TypeRow;

DType type_in(const TypeRow& row, Slot slot) { return row.types[static_cast<size_t>(slot)]; }

// With one region: control flow and variables have builders of their own.
class Sample {
 public:
  Sample(const OperatorInfo& entry, const TypeRow& row) : entry_(entry), row_(row) {}

  graph::Graph build() {
    std::vector<TensorId> inputs;
    for (const Operand& operand : entry_.inputs) inputs.push_back(input(operand));
    std::vector<DType> types;
    for (const Operand& operand : entry_.outputs) types.push_back(type_of(operand));
    for (const TensorId id : builder_.ops(entry_.op, inputs, attributes(), types)) builder_.output(id);
    return builder_.build();
  }

 private:
  [[nodiscard]] DType type_of(const Operand& operand) const {
    if (operand.slot != Slot::kNone) return type_in(row_, operand.slot);
    return operand.name == "multiplier" ? multiplier_type() : operand.fixed;
  }

  [[nodiscard]] DType multiplier_type() const { return scale32() ? DType::kInt32 : DType::kInt16; }
  [[nodiscard]] bool scale32() const { return type_in(row_, Slot::kIn) != DType::kInt48; }

  TensorId input(const Operand& operand) {
    if (operand.kind == OperandKind::kShape) return builder_.shape(shape_values(operand.name));
    Shape shape(std::max<size_t>(operand.min_rank, 1), 1);
    const DType type = type_of(operand);
    if (operand.name == "table") shape[0] = type_in(row_, Slot::kIn) == DType::kInt8 ? 256 : 513;
    const bool constant = operand.constant || operand.name == "weight" || operand.name == "bias";
    return constant ? builder_.constant(type, shape, {value(operand.name)})
                    : builder_.input(std::string(operand.name), type, shape);
  }

  [[nodiscard]] double value(std::string_view name) const {
    if (name == "weight") return 1;
    if (name == "multiplier") return scale32() ? 1 << 30 : 1 << 14;
    if (name == "shift" && entry_.op == Op::kRescale) return scale32() ? 30 : 14;
    return 0;  // zero points, biases, tables, the shift of MUL
  }

  static std::vector<int64_t> shape_values(std::string_view name) {
    if (name == "padding" || name == "offset" || name == "border") return {0, 0};
    if (name == "start") return {0};
    if (name == "scale") return {1, 1, 1, 1};
    return {1};  // shape, size, multiples
  }

  [[nodiscard]] graph::Attributes attributes() const {
    graph::Attributes a;
    const size_t spatial = entry_.op == Op::kConv3d ? 3 : 2;
    a.kernel = a.stride = a.dilation = std::vector<int32_t>(spatial, 1);
    a.pad = a.out_pad = std::vector<int32_t>(2 * spatial, 0);
    a.perms = {0};
    a.acc_type = type_in(row_, Slot::kAcc);
    if ((entry_.attributes & graph::kHasLimits) != 0) {
      a.min_val = graph::encode(type_in(row_, Slot::kIn), 1, {0});
      a.max_val = graph::encode(type_in(row_, Slot::kIn), 1, {1});
    }
    // The mode that gives an integer its own type.
    const DType in = type_in(row_, Slot::kIn);
    a.resize_mode = in == type_in(row_, Slot::kOut) ? graph::ResizeMode::kNearest : graph::ResizeMode::kBilinear;
    a.scale32 = scale32();
    a.rounding_mode = graph::RoundingMode::kSingleRound;
    return a;
  }

  const OperatorInfo& entry_;
  const TypeRow& row_;
  GraphBuilder builder_;
};

graph::Graph constant_sample(const TypeRow& row) {
  GraphBuilder b;
  b.output(b.constant(type_in(row, Slot::kIn), {1}, std::vector<double>{1}));
  return b.build();
}

graph::Graph shape_sample() {
  GraphBuilder b;
  b.output(b.reshape(b.input("input", DType::kInt32, {1}), {1, 1}));
  return b.build();
}

// For which the result of an operator on shapes is 1.
int64_t shape_operand(Op op, size_t i) {
  switch (op) {
    case Op::kAddShape:
    case Op::kSubShape:
      return i == 0 ? 1 : 0;
    case Op::kModShape:
      return i == 0 ? 1 : 2;
    case Op::kExp2Shape:
      return 0;
    case Op::kLog2CeilShape:
    case Op::kLog2FloorShape:
      return 2;
    default:
      return 1;
  }
}

// The shape that the operator computes, or asserts, is that of a RESHAPE.
graph::Graph shape_operator_sample(const OperatorInfo& entry, const TypeRow* row) {
  GraphBuilder b;
  const TensorId x = b.input("input", DType::kInt32, {1});
  std::vector<TensorId> operands;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const Operand& operand = entry.inputs[i];
    if (operand.slot == Slot::kIn) {
      operands.push_back(b.input(std::string(operand.name), type_in(*row, Slot::kIn), {1}));
    } else if (operand.fixed == DType::kShape) {
      operands.push_back(b.shape({shape_operand(entry.op, i)}));
    } else {
      operands.push_back(b.constant(operand.fixed, {1}, {operand.name == "start" ? 0.0 : 1.0}));
    }
  }
  const std::vector<DType> types(entry.outputs.size(), DType::kShape);
  const std::vector<TensorId> results = b.ops(entry.op, operands, {}, types);
  b.output(b.raw(Op::kReshape, {x, results.empty() ? operands[0] : results[0]}, {}, DType::kInt32, {1}));
  return graph::static_form(b.build());
}

graph::Graph custom_sample() {
  GraphBuilder b;
  graph::Attributes a;
  a.custom_domain = "sample";
  a.custom_operator = "copy";
  const TensorId result = b.raw(Op::kCustom, {b.input("input", DType::kInt32, {1})}, a, DType::kInt32, {1});
  b.output(result);
  return b.build();
}

GraphBuilder region(const char* name, Op op) {
  GraphBuilder b(name);
  b.output(b.op(op, {b.input("x", DType::kBool, {1})}));
  return b;
}

graph::Graph branch_sample() {
  GraphBuilder b;
  b.add_region(region("then", Op::kIdentity));
  b.add_region(region("else", Op::kLogicalNot));
  const TensorId x = b.input("x", DType::kBool, {1});
  b.output(b.cond_if(x, {x}, "then", "else")[0]);
  return b.build();
}

graph::Graph loop_sample() {
  GraphBuilder b;
  b.add_region(region("cond", Op::kIdentity));
  b.add_region(region("body", Op::kLogicalNot));
  b.output(b.while_loop({b.input("x", DType::kBool, {1})}, "cond", "body")[0]);
  return b.build();
}

// The three operators need each other.
graph::Graph variable_sample(const TypeRow& row) {
  GraphBuilder b;
  const DType type = type_in(row, Slot::kIn);
  const TensorId variable = b.variable("state", type, {1});
  b.declare(variable);
  b.write(variable, b.input("input", type, {1}));
  b.output(b.read(variable));
  return b.build();
}

graph::Graph build(const OperatorInfo& entry, const TypeRow* row) {
  if (graph::is_shape_operator(entry.op)) return shape_operator_sample(entry, row);
  switch (entry.op) {
    case Op::kConst:
      return constant_sample(*row);
    case Op::kConstShape:
      return shape_sample();
    case Op::kCustom:
      return custom_sample();
    case Op::kCondIf:
      return branch_sample();
    case Op::kWhileLoop:
      return loop_sample();
    case Op::kVariable:
    case Op::kVariableWrite:
    case Op::kVariableRead:
      return variable_sample(*row);
    default:
      return Sample(entry, *row).build();
  }
}

}  // namespace

OperatorSample sample_of(const OperatorInfo& entry, const TypeRow* row) {
  NPU_CHECK((row == nullptr) == entry.types.empty());
  OperatorSample sample{build(entry, row), {}};
  graph::validate(sample.graph);
  for (const TensorId id : sample.graph.main().inputs) {
    graph::Tensor one = sample.graph.main().tensors[id];
    // The only index that one place leaves is 0; everything else is defined for 1.
    const std::vector<uint8_t> bytes =
        graph::encode(one.type, graph::element_count(one.shape).value(), {one.name == "indices" ? 0.0 : 1.0});
    one.data = bytes;
    one.has_data = true;
    sample.inputs.push_back(graph::value_of_constant(one));
  }
  return sample;
}

}  // namespace npu::generator
