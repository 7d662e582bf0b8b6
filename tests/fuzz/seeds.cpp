// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/seeds.h"

#include "driver/graph/builder.h"
#include "driver/graph/operand_check.h"
#include "driver/graph/operators.h"
#include "tests/unit/graph/samples.h"

namespace npu::fuzz {
namespace {

using graph::DType;
using graph::Graph;
using graph::Op;
using graph::Operator;
using graph::Slot;
using graph::Tensor;
using graph::TypeRow;

constexpr double kOne = 1;

// Gives a tensor another type, and a constant as many ones; a zero point has to be 0 but for INT8.
void retype(Graph& graph, Tensor& tensor, DType type) {
  if (type == DType::kUnknown || tensor.type == type) {
    return;
  }
  tensor.type = type;
  if (tensor.has_data) {
    graph::samples::set_constant(graph, tensor, {tensor.shape == graph::Shape{1} ? 0 : kOne});
  }
}

void retype_list(Graph& graph, std::span<const graph::Operand> operands, const std::vector<graph::TensorId>& ids,
                 const TypeRow& row) {
  for (size_t i = 0; i < ids.size(); ++i) {
    const graph::Operand& operand = graph::operand_of(operands, i);
    if (operand.slot != Slot::kNone) {
      retype(graph, graph.main().tensors[ids[i]], row.types[static_cast<size_t>(operand.slot)]);
    }
  }
}

// What other attributes and operands follow from the types of an operator.
void adapt(Graph& graph, Operator& op, const TypeRow& row) {
  graph::Attributes& a = op.attributes;
  const auto type = [&row](Slot slot) { return row.types[static_cast<size_t>(slot)]; };
  const DType in = type(Slot::kIn);
  if (op.op == Op::kClamp) {
    a.min_val = graph::encode(in, 1, {-kOne});
    a.max_val = graph::encode(in, 1, {kOne});
  } else if (op.op == Op::kResize) {
    a.resize_mode = in == type(Slot::kOut) ? graph::ResizeMode::kNearest : graph::ResizeMode::kBilinear;
  } else if (op.op == Op::kTable && in == DType::kInt16) {
    Tensor& table = graph.main().tensors[op.inputs[1]];
    table.shape = {513};
    graph::samples::set_constant(graph, table, {kOne});
  } else if (op.op == Op::kMul && in != DType::kInt32) {
    graph::samples::set_constant(graph, graph.main().tensors[op.inputs[2]], {0});
  } else if (op.op == Op::kRescale) {
    a.scale32 = in != DType::kInt48;
    a.rounding_mode = a.scale32 ? graph::RoundingMode::kDoubleRound : graph::RoundingMode::kSingleRound;
    retype(graph, graph.main().tensors[op.inputs[1]], a.scale32 ? DType::kInt32 : DType::kInt16);
  }
}

Graph with_types(Op subject, const TypeRow& row) {
  Graph graph = graph::samples::of(subject);
  // Not only the subject: a VARIABLE comes with its VARIABLE_READ, and what CONST makes is used.
  for (Operator& op : graph.main().operators) {
    const bool same_kind = op.op == subject || (subject == Op::kVariable && op.op == Op::kVariableRead);
    if (same_kind) {
      const graph::OperatorInfo& entry = graph::info(op.op);
      if ((entry.attributes & graph::kHasAccType) != 0) {
        op.attributes.acc_type = row.types[static_cast<size_t>(Slot::kAcc)];
      }
      retype_list(graph, entry.inputs, op.inputs, row);
      retype_list(graph, entry.outputs, op.outputs, row);
      adapt(graph, op, row);
    }
  }
  return graph;
}

std::string name_of(Op op, const TypeRow& row) {
  std::string text{graph::name(op)};
  for (const DType type : row.types) {
    if (type != DType::kUnknown) {
      text.append("-").append(graph::name(type));
    }
  }
  return text;
}

// Operands that are constants elsewhere.
Graph dynamic() {
  graph::GraphBuilder b;
  const auto x = b.input("x", DType::kInt8, {1, 4, 4, 2});
  const auto w = b.input("w", DType::kInt8, {2, 2, 2, 2});
  const auto bias = b.input("bias", DType::kInt32, {2});
  const auto x_zp = b.input("x_zp", DType::kInt8, {1});
  const auto w_zp = b.input("w_zp", DType::kInt8, {1});
  graph::Attributes convolution;
  convolution.pad = {0, 0, 1, 1};
  convolution.stride = convolution.dilation = {1, 1};
  convolution.acc_type = DType::kInt32;
  const auto sum = b.op(Op::kConv2d, {x, w, bias, x_zp, w_zp}, convolution);
  graph::Attributes scaling;
  scaling.scale32 = true;
  scaling.per_channel = true;
  scaling.rounding_mode = graph::RoundingMode::kSingleRound;
  const auto multiplier = b.input("multiplier", DType::kInt32, {2});
  const auto shift = b.input("shift", DType::kInt8, {2});
  const auto zero = b.input("zero", DType::kInt32, {1});
  b.output(b.op(Op::kRescale, {sum, multiplier, shift, zero, x_zp}, scaling, DType::kInt8));
  return b.build();
}

}  // namespace

std::vector<Seed> make_seeds() {
  std::vector<Seed> seeds;
  for (const Op op : graph::samples::all_operators()) {
    const auto& rows = graph::info(op).types;
    if (rows.empty()) {
      seeds.push_back({std::string(graph::name(op)), graph::samples::of(op)});
    }
    for (const TypeRow& row : rows) {
      seeds.push_back({name_of(op, row), with_types(op, row)});
    }
  }
  for (const Op op : graph::samples::shape_operators()) {
    seeds.push_back({std::string(graph::name(op)), graph::samples::of(op)});
  }
  seeds.push_back({"network", graph::samples::network()});
  seeds.push_back({"nested_control_flow", graph::samples::nested_control_flow()});
  seeds.push_back({"dynamic", dynamic()});
  return seeds;
}

}  // namespace npu::fuzz
