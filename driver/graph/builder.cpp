// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/builder.h"

#include <algorithm>
#include <cstring>

#include "driver/graph/float_format.h"
#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/operators.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

uint64_t encode_element(DType type, double value) {
  const auto format = float_format(type);
  return format ? encode(*format, value) : static_cast<uint64_t>(static_cast<int64_t>(value));
}

// The type of result `i`, where the inputs and acc_type leave one; unknown where they leave a choice.
DType infer_type(const GraphBuilder& builder, const OperatorInfo& entry, const std::vector<TensorId>& inputs,
                 DType acc_type) {
  std::array<DType, 4> known{};
  for (size_t k = 0; k < inputs.size() && !entry.inputs.empty(); ++k) {
    const Operand& operand = operand_of(entry.inputs, k);
    if (operand.slot != Slot::kNone) {
      known[static_cast<size_t>(operand.slot)] = builder.tensor(inputs[k]).type;
    }
  }
  known[static_cast<size_t>(Slot::kAcc)] = acc_type;
  const auto slot = static_cast<size_t>(entry.outputs.front().slot);
  DType result = DType::kUnknown;
  for (const TypeRow& row : entry.types) {
    bool fits = true;
    for (size_t s = 0; s < known.size(); ++s) {
      fits = fits && (known[s] == DType::kUnknown || known[s] == row.types[s]);
    }
    if (fits) {
      if (result != DType::kUnknown && result != row.types[slot]) {
        return DType::kUnknown;
      }
      result = row.types[slot];
    }
  }
  // No row: the check that follows says so, with the operator's name.
  return result == DType::kUnknown ? known[static_cast<size_t>(Slot::kIn)] : result;
}

DType default_accumulator(Op op, DType input) {
  switch (input) {
    case DType::kInt8:
      return DType::kInt32;
    case DType::kInt16:
      return op == Op::kAvgPool2d ? DType::kInt32 : DType::kInt48;
    case DType::kFp8E4M3:
    case DType::kFp8E5M2:
      return DType::kFp16;
    default:
      return DType::kFp32;
  }
}

}  // namespace

std::vector<uint8_t> encode(DType type, int64_t elements, const std::vector<double>& values) {
  NPU_CHECK(values.size() == 1 || static_cast<int64_t>(values.size()) == elements);
  std::vector<uint8_t> bytes(static_cast<size_t>(byte_size(type, elements)));
  const int64_t width = byte_size(type, 2) / 2;
  for (int64_t i = 0; i < elements; ++i) {
    const uint64_t bits = encode_element(type, values.size() == 1 ? values[0] : values[static_cast<size_t>(i)]);
    if (type == DType::kInt4) {
      bytes[static_cast<size_t>(i / 2)] |= static_cast<uint8_t>((bits & 0xf) << (i % 2 * 4));
    } else {
      for (int64_t b = 0; b < width; ++b) {
        bytes[static_cast<size_t>(i * width + b)] = static_cast<uint8_t>(bits >> (8 * b));
      }
    }
  }
  return bytes;
}

GraphBuilder::GraphBuilder(const std::string& region) {
  graph_.regions.push_back({region, {Block{region, {}, {}, {}, {}}}});
}

TensorId GraphBuilder::add_tensor(std::string name, DType type, Shape shape) {
  Tensor tensor;
  tensor.name = name.empty() ? "layer_" + std::to_string(next_name_++) : std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  block().tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(block().tensors.size() - 1);
}

void GraphBuilder::set_data(TensorId id, std::vector<uint8_t> bytes) {
  graph_.storage.push_back(std::make_shared<const std::vector<uint8_t>>(std::move(bytes)));
  block().tensors[id].data = *graph_.storage.back();
  block().tensors[id].has_data = true;
}

TensorId GraphBuilder::input(std::string name, DType type, Shape shape) {
  const TensorId id = add_tensor(std::move(name), type, std::move(shape));
  block().inputs.push_back(id);
  return id;
}

TensorId GraphBuilder::constant(DType type, Shape shape, const std::vector<double>& values) {
  const auto elements = element_count(shape);
  NPU_CHECK(elements.has_value());
  return constant_bytes(type, std::move(shape), encode(type, *elements, values));
}

TensorId GraphBuilder::constant_bytes(DType type, Shape shape, std::vector<uint8_t> bytes) {
  const TensorId id = add_tensor({}, type, std::move(shape));
  set_data(id, std::move(bytes));
  block().operators.push_back({Op::kConst, {}, {}, {id}, {}});
  return id;
}

TensorId GraphBuilder::shape(const std::vector<int64_t>& values) {
  const TensorId id = add_tensor({}, DType::kShape, {static_cast<int64_t>(values.size())});
  std::vector<uint8_t> bytes(values.size() * sizeof(int64_t));
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  set_data(id, std::move(bytes));
  block().operators.push_back({Op::kConstShape, {}, {}, {id}, {}});
  return id;
}

TensorId GraphBuilder::variable(std::string identity, DType type, const Shape& shape,
                                const std::optional<std::vector<double>>& initial) {
  const TensorId id = add_tensor("Variable_" + std::to_string(next_name_++), type, shape);
  block().tensors[id].variable = true;
  block().tensors[id].variable_name = std::move(identity);
  if (initial) {
    set_data(id, encode(type, element_count(shape).value(), *initial));
  }
  return id;
}

void GraphBuilder::declare(TensorId variable) { block().operators.push_back({Op::kVariable, {}, {}, {variable}, {}}); }

TensorId GraphBuilder::read(TensorId variable) { return op(Op::kVariableRead, {variable}); }

void GraphBuilder::write(TensorId variable, TensorId value) {
  block().operators.push_back({Op::kVariableWrite, {}, {value}, {variable}, {}});
}

TensorId GraphBuilder::op(Op op, std::vector<TensorId> inputs, const Attributes& attributes, DType type) {
  if (type == DType::kUnknown) {
    const bool has_acc = (info(op).attributes & kHasAccType) != 0;
    type = infer_type(*this, info(op), inputs, has_acc ? attributes.acc_type : DType::kUnknown);
  }
  return ops(op, std::move(inputs), attributes, {type})[0];
}

std::vector<TensorId> GraphBuilder::ops(Op op, std::vector<TensorId> inputs, const Attributes& attributes,
                                        const std::vector<DType>& types) {
  Operator node{op, attributes, std::move(inputs), {}, {}};
  if ((info(op).attributes & kHasNanMode) != 0 && node.attributes.nan_mode == NanMode::kUnknown) {
    node.attributes.nan_mode = NanMode::kPropagate;  // the specification's default
  }
  for (const DType type : types) {
    node.outputs.push_back(add_tensor({}, type, {}));
  }
  const RegionIndex regions(graph_);
  const OperatorView view(regions, block(), node, block().operators.size());
  const auto shapes = check_operator(view);
  NPU_CHECK(shapes.size() == types.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    block().tensors[node.outputs[i]].shape = shapes[i];
  }
  check_results(view, shapes);
  block().operators.push_back(node);
  return node.outputs;
}

TensorId GraphBuilder::raw(Op op, std::vector<TensorId> inputs, const Attributes& attributes, DType type, Shape shape) {
  const TensorId id = add_tensor({}, type, std::move(shape));
  block().operators.push_back({op, attributes, std::move(inputs), {id}, {}});
  return id;
}

TensorId GraphBuilder::argmax(TensorId x, int32_t axis) {
  Attributes a;
  a.axis = axis;
  return op(Op::kArgMax, {x}, a);
}

TensorId GraphBuilder::avg_pool2d(TensorId x, std::vector<int32_t> kernel, std::vector<int32_t> stride,
                                  std::vector<int32_t> pad, double input_zp, double output_zp) {
  Attributes a;
  a.kernel = std::move(kernel);
  a.stride = std::move(stride);
  a.pad = std::move(pad);
  a.acc_type = default_accumulator(Op::kAvgPool2d, tensor(x).type);
  const TensorId in = zero_point(x, input_zp);
  const TensorId out = zero_point(x, output_zp);
  return op(Op::kAvgPool2d, {x, in, out}, a);
}

TensorId GraphBuilder::max_pool2d(TensorId x, std::vector<int32_t> kernel, std::vector<int32_t> stride,
                                  std::vector<int32_t> pad) {
  Attributes a;
  a.kernel = std::move(kernel);
  a.stride = std::move(stride);
  a.pad = std::move(pad);
  return op(Op::kMaxPool2d, {x}, a);
}

TensorId GraphBuilder::convolution(Op number, TensorId x, TensorId weight, TensorId bias, const Convolution& options) {
  Attributes a;
  (number == Op::kTransposeConv2d ? a.out_pad : a.pad) = options.pad;
  a.stride = options.stride;
  if (number != Op::kTransposeConv2d) {
    a.dilation = options.dilation;
  }
  a.acc_type = options.acc_type == DType::kUnknown ? default_accumulator(number, tensor(x).type) : options.acc_type;
  const TensorId input_zp = zero_point(x, options.input_zp);
  const TensorId weight_zp = zero_point(weight, options.weight_zp);
  return op(number, {x, weight, bias, input_zp, weight_zp}, a);
}

TensorId GraphBuilder::conv2d(TensorId x, TensorId weight, TensorId bias, const Convolution& options) {
  return convolution(Op::kConv2d, x, weight, bias, options);
}

TensorId GraphBuilder::conv3d(TensorId x, TensorId weight, TensorId bias, const Convolution& options) {
  return convolution(Op::kConv3d, x, weight, bias, options);
}

TensorId GraphBuilder::depthwise_conv2d(TensorId x, TensorId weight, TensorId bias, const Convolution& options) {
  return convolution(Op::kDepthwiseConv2d, x, weight, bias, options);
}

TensorId GraphBuilder::transpose_conv2d(TensorId x, TensorId weight, TensorId bias, const Convolution& options) {
  return convolution(Op::kTransposeConv2d, x, weight, bias, options);
}

TensorId GraphBuilder::matmul(TensorId a, TensorId b, double a_zp, double b_zp, DType type) {
  const TensorId a_point = zero_point(a, a_zp);
  const TensorId b_point = zero_point(b, b_zp);
  return op(Op::kMatMul, {a, b, a_point, b_point}, {}, type);
}

std::vector<TensorId> GraphBuilder::fft2d(TensorId real, TensorId imaginary, bool inverse) {
  Attributes a;
  a.inverse = inverse;
  return ops(Op::kFft2d, {real, imaginary}, a, {tensor(real).type, tensor(real).type});
}

std::vector<TensorId> GraphBuilder::rfft2d(TensorId real) {
  return ops(Op::kRfft2d, {real}, {}, {tensor(real).type, tensor(real).type});
}

TensorId GraphBuilder::clamp(TensorId x, double low, double high) {
  Attributes a;
  a.min_val = encode(tensor(x).type, 1, {low});
  a.max_val = encode(tensor(x).type, 1, {high});
  return op(Op::kClamp, {x}, a);
}

TensorId GraphBuilder::mul(TensorId a, TensorId b, double shift) {
  const TensorId amount = constant(DType::kInt8, {1}, {shift});
  return op(Op::kMul, {a, b, amount});
}

TensorId GraphBuilder::arithmetic_right_shift(TensorId a, TensorId b, bool round) {
  Attributes attributes;
  attributes.round = round;
  return op(Op::kArithmeticRightShift, {a, b}, attributes);
}

TensorId GraphBuilder::table(TensorId x, const std::vector<double>& values) {
  const TensorId entries = constant(tensor(x).type, {static_cast<int64_t>(values.size())}, values);
  return op(Op::kTable, {x, entries});
}

TensorId GraphBuilder::negate(TensorId x, double input_zp, double output_zp) {
  const TensorId in = zero_point(x, input_zp);
  const TensorId out = zero_point(x, output_zp);
  return op(Op::kNegate, {x, in, out});
}

TensorId GraphBuilder::reduce(Op number, TensorId x, int32_t axis) {
  Attributes a;
  a.axis = axis;
  return op(number, {x}, a);
}

TensorId GraphBuilder::rescale(TensorId x, DType type, const Rescaling& options) {
  Attributes a;
  a.scale32 = options.scale32;
  a.rounding_mode = options.rounding;
  a.per_channel = options.per_channel;
  a.input_unsigned = options.input_unsigned;
  a.output_unsigned = options.output_unsigned;
  const Shape parameters = {static_cast<int64_t>(options.multiplier.size())};
  const TensorId multiplier = constant(options.scale32 ? DType::kInt32 : DType::kInt16, parameters, options.multiplier);
  const TensorId shift = constant(DType::kInt8, parameters, options.shift);
  const TensorId input_zp = zero_point(x, options.input_zp);
  const TensorId output_zp = constant(type, {1}, {options.output_zp});
  return op(Op::kRescale, {x, multiplier, shift, input_zp, output_zp}, a, type);
}

TensorId GraphBuilder::concat(const std::vector<TensorId>& parts, int32_t axis) {
  Attributes a;
  a.axis = axis;
  return op(Op::kConcat, parts, a);
}

TensorId GraphBuilder::pad(TensorId x, const std::vector<int64_t>& padding, double value) {
  const TensorId amounts = shape(padding);
  const TensorId fill = zero_point(x, value);
  return op(Op::kPad, {x, amounts, fill});
}

TensorId GraphBuilder::reverse(TensorId x, int32_t axis) {
  Attributes a;
  a.axis = axis;
  return op(Op::kReverse, {x}, a);
}

TensorId GraphBuilder::slice(TensorId x, const std::vector<int64_t>& start, const std::vector<int64_t>& size) {
  const TensorId first = shape(start);
  const TensorId count = shape(size);
  return op(Op::kSlice, {x, first, count});
}

TensorId GraphBuilder::transpose(TensorId x, std::vector<int32_t> perms) {
  Attributes a;
  a.perms = std::move(perms);
  return op(Op::kTranspose, {x}, a);
}

TensorId GraphBuilder::resize(TensorId x, ResizeMode mode, const std::vector<int64_t>& scale,
                              const std::vector<int64_t>& offset, const std::vector<int64_t>& border, DType type) {
  Attributes a;
  a.resize_mode = mode;
  const TensorId scale_shape = shape(scale);
  const TensorId offset_shape = shape(offset);
  const TensorId border_shape = shape(border);
  return op(Op::kResize, {x, scale_shape, offset_shape, border_shape}, a, type);
}

void GraphBuilder::add_region(GraphBuilder region) {
  for (auto& owner : region.graph_.storage) {
    graph_.storage.push_back(std::move(owner));
  }
  for (auto& inner : region.graph_.regions) {
    graph_.regions.push_back(std::move(inner));
  }
}

std::vector<TensorId> GraphBuilder::cond_if(TensorId condition, const std::vector<TensorId>& inputs,
                                            const std::string& then_graph, const std::string& else_graph) {
  Attributes a;
  a.then_graph = then_graph;
  a.else_graph = else_graph;
  std::vector<TensorId> operands = {condition};
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  std::vector<DType> types;
  for (const Region& region : graph_.regions) {
    if (region.name == then_graph) {
      for (const TensorId id : region.blocks.front().outputs) {
        types.push_back(region.blocks.front().tensors[id].type);
      }
    }
  }
  return ops(Op::kCondIf, std::move(operands), a, types);
}

std::vector<TensorId> GraphBuilder::while_loop(const std::vector<TensorId>& inputs, const std::string& cond_graph,
                                               const std::string& body_graph) {
  Attributes a;
  a.cond_graph = cond_graph;
  a.body_graph = body_graph;
  std::vector<DType> types;
  types.reserve(inputs.size());
  for (const TensorId id : inputs) {
    types.push_back(tensor(id).type);
  }
  return ops(Op::kWhileLoop, inputs, a, types);
}

void GraphBuilder::output(TensorId id, const std::string& name) {
  if (!name.empty()) {
    rename(id, name);
  }
  block().outputs.push_back(id);
}

}  // namespace npu::graph
