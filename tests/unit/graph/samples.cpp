// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/graph/samples.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "driver/graph/operators.h"
#include "hw/contract/error.h"

namespace npu::graph::samples {
namespace {

constexpr DType kI8 = DType::kInt8;
constexpr DType kI32 = DType::kInt32;
constexpr DType kF32 = DType::kFp32;
constexpr DType kBool = DType::kBool;

// y = body(x), the flag is x < 4.
void add_loop_regions(GraphBuilder& builder) {
  GraphBuilder condition("condition");
  const TensorId counter = condition.input("condition_in", kI32, {});
  const TensorId limit = condition.constant(kI32, {}, {4});
  condition.output(condition.op(Op::kGreater, {limit, counter}), "condition_out");
  builder.add_region(condition);
  GraphBuilder body("body");
  const TensorId before = body.input("body_in", kI32, {});
  const TensorId one = body.constant(kI32, {}, {1});
  body.output(body.add(before, one), "body_out");
  builder.add_region(body);
}

void add_branch(GraphBuilder& builder, const std::string& name, Op op) {
  GraphBuilder branch(name);
  const TensorId x = branch.input(name + "_in", kI32, {1, 4});
  branch.output(branch.op(op, {x}), name + "_out");
  builder.add_region(branch);
}

TensorId unary_float(GraphBuilder& b, Op op) { return b.op(op, {b.input("x", kF32, {2, 3})}); }
TensorId binary(GraphBuilder& b, Op op, DType type) {
  const TensorId x = b.input("x", type, {2, 3});
  const TensorId y = b.input("y", type, {2, 1});
  return b.op(op, {x, y});
}

TensorId convolution(GraphBuilder& b, Op op) {
  Convolution options;
  options.input_zp = -3;
  if (op == Op::kConv3d) {
    options.pad = {0, 0, 1, 1, 0, 1};
    options.stride = {1, 2, 1};
    options.dilation = {1, 1, 2};
    const TensorId x = b.input("x", kI8, {1, 2, 5, 6, 3});
    const TensorId w = b.constant(kI8, {4, 1, 3, 2, 3}, {1});
    return b.conv3d(x, w, b.constant(kI32, {4}, {5}), options);
  }
  const TensorId x = b.input("x", kI8, {1, 5, 6, 3});
  if (op == Op::kDepthwiseConv2d) {
    options.pad = {1, 1, 0, 1};
    const TensorId w = b.constant(kI8, {3, 2, 3, 2}, {2});
    return b.depthwise_conv2d(x, w, b.constant(kI32, {1}, {5}), options);
  }
  const TensorId w = b.constant(kI8, {4, 3, 2, 3}, {1});
  const TensorId bias = b.constant(kI32, {4}, {5});
  if (op == Op::kTransposeConv2d) {
    options.pad = {0, -1, 1, 0};
    options.stride = {2, 2};
    return b.transpose_conv2d(x, w, bias, options);
  }
  options.pad = {1, 1, 0, 1};
  options.stride = {2, 1};
  options.dilation = {1, 2};
  return b.conv2d(x, w, bias, options);
}

TensorId reduction(GraphBuilder& b, Op op) {
  const bool logical = op == Op::kReduceAll || op == Op::kReduceAny;
  return b.reduce(op, b.input("x", logical ? kBool : op == Op::kReduceProduct ? kF32 : kI32, {2, 3, 4}), 1);
}

// A RESHAPE to what an operator computes, which is `sizes`.
std::vector<TensorId> shaped(GraphBuilder& b, TensorId shape, const Shape& sizes) {
  const TensorId x = b.input("x", kI8, {element_count(sizes).value()});
  return {b.raw(Op::kReshape, {x, shape}, {}, kI8, sizes)};
}

std::vector<TensorId> make(GraphBuilder& b, Op op) {
  switch (op) {
    case Op::kArgMax:
      return {b.argmax(b.input("x", kI8, {2, 3, 4}), 1)};
    case Op::kAvgPool2d:
      return {b.avg_pool2d(b.input("x", kI8, {1, 4, 6, 3}), {2, 3}, {2, 3}, {0, 0, 0, 0}, 4, -7)};
    case Op::kMaxPool2d:
      return {b.max_pool2d(b.input("x", kI8, {1, 4, 5, 3}), {2, 3}, {2, 3}, {0, 0, 0, 1})};
    case Op::kConv2d:
    case Op::kConv3d:
    case Op::kDepthwiseConv2d:
    case Op::kTransposeConv2d:
      return {convolution(b, op)};
    case Op::kFft2d: {
      const TensorId x = b.input("x", kF32, {1, 4, 8});
      return b.fft2d(x, b.input("y", kF32, {1, 4, 8}), true);
    }
    case Op::kRfft2d:
      return b.rfft2d(b.input("x", kF32, {1, 4, 8}));
    case Op::kMatMul: {
      const TensorId x = b.input("x", kI8, {2, 3, 4});
      return {b.matmul(x, b.input("y", kI8, {2, 4, 5}), 1, -2)};
    }
    case Op::kClamp:
      return {b.clamp(b.input("x", kI8, {2, 3}), -5, 100)};
    case Op::kMul: {
      const TensorId x = b.input("x", kI32, {2, 3});
      return {b.mul(x, b.input("y", kI32, {1, 3}), 30)};
    }
    case Op::kTable:
      return {b.table(b.input("x", kI8, {2, 3}), std::vector<double>(256, 3))};
    case Op::kNegate:
      return {b.negate(b.input("x", kI8, {2, 3}), 1, 2)};
    case Op::kSelect: {
      const TensorId flag = b.input("flag", kBool, {2, 1});
      const TensorId x = b.input("x", kI32, {2, 3});
      return {b.select(flag, x, b.input("y", kI32, {1, 1}))};
    }
    case Op::kEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
      return {binary(b, op, kI32)};
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
    case Op::kLogicalXor:
      return {binary(b, op, kBool)};
    case Op::kPow:
      return {binary(b, op, kF32)};
    case Op::kLogicalNot:
      return {b.op(op, {b.input("x", kBool, {2, 3})})};
    case Op::kAbs:
    case Op::kBitwiseNot:
    case Op::kClz:
      return {b.op(op, {b.input("x", kI32, {2, 3})})};
    case Op::kReduceAll:
    case Op::kReduceAny:
    case Op::kReduceMax:
    case Op::kReduceMin:
    case Op::kReduceProduct:
    case Op::kReduceSum:
      return {reduction(b, op)};
    case Op::kConcat: {
      const TensorId x = b.input("x", kI8, {2, 3});
      return {b.concat({x, b.input("y", kI8, {2, 4}), x}, 1)};
    }
    case Op::kPad:
      return {b.pad(b.input("x", kI8, {2, 3}), {1, 0, 2, 3}, -128)};
    case Op::kReshape:
      return {b.reshape(b.input("x", kI8, {2, 3}), {3, 1, 2})};
    case Op::kReverse:
      return {b.reverse(b.input("x", kI8, {2, 3}), 1)};
    case Op::kSlice:
      return {b.slice(b.input("x", kI8, {4, 5}), {1, 0}, {2, 5})};
    case Op::kTile:
      return {b.tile(b.input("x", kI8, {2, 3}), {3, 2})};
    case Op::kTranspose:
      return {b.transpose(b.input("x", kI8, {2, 3, 4}), {2, 0, 1})};
    case Op::kGather: {
      const TensorId x = b.input("x", kI8, {2, 5, 3});
      return {b.gather(x, b.input("i", kI32, {2, 4}))};
    }
    case Op::kScatter: {
      const TensorId x = b.input("x", kI8, {2, 5, 3});
      const TensorId i = b.input("i", kI32, {2, 4});
      return {b.scatter(x, i, b.input("y", kI8, {2, 4, 3}))};
    }
    case Op::kResize:
      return {b.resize(b.input("x", kI8, {1, 4, 4, 2}), ResizeMode::kBilinear, {4, 2, 4, 2}, {-1, -1}, {1, 1}, kI32)};
    case Op::kCast:
      return {b.cast(b.input("x", kI8, {2, 3}), kI32)};
    case Op::kRescale: {
      Rescaling options;
      options.multiplier = {1 << 30, 1 << 29, 1 << 28};
      options.shift = {30, 31, 32};
      options.per_channel = true;
      options.rounding = RoundingMode::kDoubleRound;
      options.output_zp = -4;
      return {b.rescale(b.input("x", kI32, {2, 3}), kI8, options)};
    }
    case Op::kConst:
      return {b.constant(kI8, {3}, {1, 2, 3})};
    case Op::kConstShape:
      return {b.op(Op::kReshape, {b.input("x", kI8, {2, 3}), b.shape({6})})};
    case Op::kIdentity:
      return {b.op(op, {b.input("x", kI8, {2, 3})})};
    case Op::kCustom: {
      Attributes a;
      a.custom_operator = "nothing";
      a.custom_domain = "tests";
      a.custom_attributes = {1, 2, 3};
      return {b.raw(op, {b.input("x", kI8, {2, 3})}, a, kF32, {7})};
    }
    case Op::kCondIf: {
      add_branch(b, "then", Op::kAbs);
      add_branch(b, "else", Op::kBitwiseNot);
      const TensorId flag = b.input("flag", kBool, {1});
      return b.cond_if(flag, {b.input("x", kI32, {1, 4})}, "then", "else");
    }
    case Op::kWhileLoop:
      add_loop_regions(b);
      return b.while_loop({b.input("x", kI32, {})}, "condition", "body");
    case Op::kVariable: {
      const TensorId state = b.variable("state", kI8, {1, 3}, std::vector<double>{-128, 0, 127});
      b.declare(state);
      return {b.read(state)};
    }
    case Op::kVariableRead:
      return {b.read(b.variable("state", kI8, {1, 3}, std::vector<double>{-128}))};
    case Op::kVariableWrite: {
      const TensorId state = b.variable("state", kI8, {1, 3});
      const TensorId x = b.input("x", kI8, {1, 3});
      b.write(state, x);
      return {x};
    }
    case Op::kDim: {
      const TensorId x = b.input("x", kI8, {2, 3});
      Attributes a;
      a.axis = 1;
      return {b.raw(Op::kTile, {b.input("y", kI8, {2}), on_shapes(b, op, {x}, a)}, {}, kI8, {6})};
    }
    case Op::kConcatShape: {
      const TensorId half = b.shape({2, 3});
      return shaped(b, on_shapes(b, op, {half, b.shape({4}), half}), {2, 3, 4, 2, 3});
    }
    case Op::kSliceShape: {
      const TensorId start = b.constant(kI32, {1}, {1}), size = b.constant(kI32, {1}, {2});
      return shaped(b, on_shapes(b, op, {b.shape({5, 6, 7}), start, size}), {6, 7});
    }
    case Op::kExp2Shape:
      return shaped(b, on_shapes(b, op, {b.shape({3, 0, 2})}), {8, 1, 4});
    case Op::kLog2CeilShape:
      return shaped(b, on_shapes(b, op, {b.shape({9, 8, 2})}), {4, 3, 1});
    case Op::kLog2FloorShape:
      return shaped(b, on_shapes(b, op, {b.shape({9, 8, 7})}), {3, 3, 2});
    case Op::kAddShape:
      return shaped(b, on_shapes(b, op, {b.shape({9, -4}), b.shape({-4, 7})}), {5, 3});
    case Op::kSubShape:
      return shaped(b, on_shapes(b, op, {b.shape({9, -4}), b.shape({4, -7})}), {5, 3});
    case Op::kMulShape:
      return shaped(b, on_shapes(b, op, {b.shape({3, -4}), b.shape({2, -1})}), {6, 4});
    case Op::kMaxShape:
      return shaped(b, on_shapes(b, op, {b.shape({3, 4}), b.shape({2, 7})}), {3, 7});
    case Op::kMinShape:
      return shaped(b, on_shapes(b, op, {b.shape({3, 4}), b.shape({2, 7})}), {2, 4});
    case Op::kModShape:
      return shaped(b, on_shapes(b, op, {b.shape({13, 4}), b.shape({5, 7})}), {3, 4});
    case Op::kDivCeilShape:
      return shaped(b, on_shapes(b, op, {b.shape({13, 14}), b.shape({5, 7})}), {3, 2});
    case Op::kDivFloorShape:
      return shaped(b, on_shapes(b, op, {b.shape({13, 14}), b.shape({5, 7})}), {2, 2});
    case Op::kAssertEqualShape: {
      Attributes a;
      a.allow_broadcast = true;
      return shaped(b, on_shapes(b, op, {b.shape({3, 4}), b.shape({3, 1})}, a), {3, 4});
    }
    case Op::kAdd:
    case Op::kSub:
    case Op::kIntDiv:
    case Op::kArithmeticRightShift:
    case Op::kLogicalLeftShift:
    case Op::kLogicalRightShift:
    case Op::kBitwiseAnd:
    case Op::kBitwiseOr:
    case Op::kBitwiseXor:
    case Op::kMaximum:
    case Op::kMinimum:
      return {binary(b, op, kI32)};
    default:
      return {unary_float(b, op)};
  }
}

// Everything that counts of an operator, with names for operands.
std::string text_of(const Block& block, const Operator& op) {
  std::string text = std::string(name(op.op)) + " at " + op.location + " (";
  for (const TensorId id : op.inputs) {
    text += block.tensors[id].name + " ";
  }
  text += "->";
  for (const TensorId id : op.outputs) {
    text += " " + block.tensors[id].name;
  }
  text += ")";
  const Attributes& a = op.attributes;
  const auto list = [&text](const auto& values) {
    text += " [";
    for (const auto value : values) {
      text += std::to_string(static_cast<int64_t>(value)) + " ";
    }
    text += "]";
  };
  for (const auto* values : {&a.kernel, &a.stride, &a.pad, &a.dilation, &a.out_pad, &a.perms}) {
    list(*values);
  }
  for (const auto* values : {&a.min_val, &a.max_val, &a.custom_attributes}) {
    list(*values);
  }
  list(std::vector<int64_t>{a.axis, static_cast<int64_t>(a.acc_type), a.local_bound, static_cast<int64_t>(a.nan_mode),
                            a.round, static_cast<int64_t>(a.resize_mode), a.scale32,
                            static_cast<int64_t>(a.rounding_mode), a.per_channel, a.input_unsigned, a.output_unsigned,
                            a.inverse, a.allow_broadcast});
  for (const auto* string :
       {&a.then_graph, &a.else_graph, &a.cond_graph, &a.body_graph, &a.custom_operator, &a.custom_domain}) {
    text += " '" + *string + "'";
  }
  return text;
}

std::string difference(const Block& a, const Block& b) {
  if (a.name != b.name || a.tensors.size() != b.tensors.size() || a.operators.size() != b.operators.size()) {
    return "blocks " + a.name + " and " + b.name;
  }
  const auto names = [](const Block& block, const std::vector<TensorId>& ids) {
    std::vector<std::string> result;
    for (const TensorId id : ids) {
      result.push_back(block.tensors[id].name);
    }
    return result;
  };
  if (names(a, a.inputs) != names(b, b.inputs) || names(a, a.outputs) != names(b, b.outputs)) {
    return "inputs or outputs of " + a.name;
  }
  std::map<std::string, const Tensor*> tensors;
  for (const Tensor& tensor : b.tensors) {
    tensors[tensor.name] = &tensor;
  }
  for (const Tensor& x : a.tensors) {
    const Tensor* y = tensors[x.name];
    if (y == nullptr || x.type != y->type || x.shape != y->shape || x.has_data != y->has_data ||
        !std::equal(x.data.begin(), x.data.end(), y->data.begin(), y->data.end()) || x.variable != y->variable ||
        x.variable_name != y->variable_name) {
      return "tensor " + x.name;
    }
  }
  for (size_t i = 0; i < a.operators.size(); ++i) {
    if (text_of(a, a.operators[i]) != text_of(b, b.operators[i])) {
      return text_of(a, a.operators[i]) + " and " + text_of(b, b.operators[i]);
    }
  }
  return {};
}

}  // namespace

Graph of(Op op) {
  GraphBuilder builder;
  for (const TensorId id : make(builder, op)) {
    builder.output(id);
  }
  return builder.build();
}

std::vector<Op> all_operators() {
  std::vector<Op> operators;
  for (uint32_t i = 1; i < kTensorOpCount; ++i) {
    operators.push_back(static_cast<Op>(i));
  }
  return operators;
}

std::vector<Op> shape_operators() {
  std::vector<Op> operators;
  for (uint32_t i = kTensorOpCount; i < kOpCount; ++i) operators.push_back(static_cast<Op>(i));
  return operators;
}

TensorId on_shapes(GraphBuilder& builder, Op op, const std::vector<TensorId>& operands, const Attributes& attributes) {
  const std::vector<DType> types(info(op).outputs.size(), DType::kShape);
  const std::vector<TensorId> results = builder.ops(op, operands, attributes, types);
  return results.empty() ? operands[0] : results[0];
}

Graph network() {
  GraphBuilder b;
  const TensorId frame = b.input("frame", kI8, {1, 1, 8});
  const TensorId history = b.variable("stream 1/state:0", kI8, {1, 3, 1, 8}, std::vector<double>{-128});
  const TensorId column = b.reshape(frame, {1, 1, 1, 8});
  const TensorId window = b.concat({b.read(history), column}, 1);
  b.write(history, b.slice(window, {0, 1, 0, 0}, {1, 3, 1, 8}));
  Convolution first;
  first.input_zp = -128;
  const TensorId features = b.conv2d(window, b.constant(kI8, {16, 4, 1, 8}, {3}), b.constant(kI32, {1}, {10}), first);
  Rescaling requantise;
  requantise.multiplier = std::vector<double>(16, 1 << 30);
  requantise.shift = std::vector<double>(16, 36);
  requantise.per_channel = true;
  requantise.rounding = RoundingMode::kDoubleRound;
  requantise.output_zp = -5;
  const TensorId hidden = b.clamp(b.rescale(features, kI8, requantise), -5, 127);
  const TensorId counter = b.variable("counter", kI32, {1}, std::vector<double>{0});
  b.write(counter, b.add(b.read(counter), b.constant(kI32, {1}, {1})));
  std::vector<double> entries(256);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] = std::floor(static_cast<double>(i) / 2) - 64;
  }
  const TensorId curve = b.table(b.reshape(hidden, {1, 16}), entries);
  Rescaling to_unsigned;
  to_unsigned.output_unsigned = true;
  to_unsigned.output_zp = 0;
  b.output(b.rescale(curve, kI8, to_unsigned), "probability");
  b.output(b.argmax(curve, 1), "best");
  b.locate("loc(\"network.mlir\":12:3)");
  return b.build();
}

Graph nested_control_flow() {
  GraphBuilder b;
  GraphBuilder condition("go_on");
  const TensorId x = condition.input("x0", kI32, {1, 4});
  const TensorId sum = condition.reduce(Op::kReduceMax, x, 1);
  condition.output(condition.op(Op::kGreater, {condition.constant(kI32, {1, 1}, {100}), sum}), "more");
  b.add_region(condition);
  GraphBuilder body("step");
  add_branch(body, "then", Op::kAbs);
  add_branch(body, "else", Op::kBitwiseNot);
  const TensorId value = body.input("x1", kI32, {1, 4});
  const TensorId flag = body.op(Op::kEqual, {body.constant(kI32, {1}, {1}), body.constant(kI32, {1}, {2})});
  body.output(body.cond_if(flag, {value}, "then", "else")[0], "x2");
  b.add_region(body);
  b.output(b.while_loop({b.input("x", kI32, {1, 4})}, "go_on", "step")[0], "y");
  return b.build();
}

Operator& find(Graph& graph, Op op) {
  auto& operators = graph.main().operators;
  const auto found = std::find_if(operators.begin(), operators.end(), [op](const Operator& o) { return o.op == op; });
  NPU_CHECK(found != operators.end());
  return *found;
}

Tensor& input(Graph& graph, Op op, size_t i) { return graph.main().tensors[find(graph, op).inputs.at(i)]; }
Tensor& output(Graph& graph, Op op, size_t i) { return graph.main().tensors[find(graph, op).outputs.at(i)]; }

void set_constant(Graph& graph, Tensor& tensor, const std::vector<double>& values) {
  auto bytes = encode(tensor.type, element_count(tensor.shape).value(), values);
  graph.storage.push_back(std::make_shared<const std::vector<uint8_t>>(std::move(bytes)));
  tensor.data = *graph.storage.back();
}

std::string difference(const Graph& a, const Graph& b) {
  if (a.version.major != b.version.major || a.version.minor != b.version.minor || a.version.patch != b.version.patch ||
      a.version.draft != b.version.draft || a.regions.size() != b.regions.size()) {
    return "versions or number of regions";
  }
  for (size_t i = 0; i < a.regions.size(); ++i) {
    if (a.regions[i].name != b.regions[i].name || a.regions[i].blocks.size() != b.regions[i].blocks.size()) {
      return "region " + a.regions[i].name;
    }
    for (size_t k = 0; k < a.regions[i].blocks.size(); ++k) {
      if (auto text = difference(a.regions[i].blocks[k], b.regions[i].blocks[k]); !text.empty()) {
        return text;
      }
    }
  }
  return {};
}

}  // namespace npu::graph::samples
