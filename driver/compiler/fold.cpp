// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/fold.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "driver/compiler/lower/operands.h"
#include "driver/compiler/lower/views.h"
#include "driver/graph/float_format.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using graph::DType;
using graph::Op;
using Constants = std::vector<std::optional<Constant>>;

bool is_integer(DType type) {
  return type == DType::kInt8 || type == DType::kInt16 || type == DType::kInt32 || type == DType::kInt48;
}

int64_t bits_of(DType type) { return type == DType::kInt48 ? 48 : graph::machine_width(type) * 8; }

int64_t sign_extend(int64_t value, int64_t bits) {
  const int64_t shift = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}

int64_t zero_extend(int64_t value, int64_t bits) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1));
}

class Folder {
 public:
  Folder(const graph::Block& block, const Folding& folding)
      : block_(block), shared_(folding.shared), left_(folding.budget), constants_(block.tensors.size()) {
    for (size_t i = 0; i < folding.inputs.size(); ++i) constants_[block.inputs[i]] = folding.inputs[i];
  }

  Constants run() {
    for (const graph::Operator& op : block_.operators) fold(op);
    return std::move(constants_);
  }

 private:
  void fold(const graph::Operator& op) {
    if (op.op == Op::kConst || op.op == Op::kConstShape) return take_data(op.outputs[0]);
    if (op.inputs.empty() || op.outputs.size() != 1) return;
    for (graph::TensorId id : op.inputs) {
      if (!constants_[id]) return;
    }
    switch (op.op) {
      case Op::kReshape:
      case Op::kIdentity:
        return share(op);
      case Op::kTranspose:
        return move(op, permute(source(op), op.attributes.perms));
      case Op::kSlice:
        return move(op, slice(source(op), shape_operand(op, 0), shape_operand(op, 1)));
      case Op::kConcat:
        return concat(op);
      case Op::kCast:
        return cast(op);
      case Op::kRescale:
        return rescale(op);
      default:  // the device computes it
        return;
    }
  }

  const graph::Tensor& result_tensor(const graph::Operator& op) const { return block_.tensors[op.outputs[0]]; }
  const Constant& operand(const graph::Operator& op, size_t index) const { return *constants_[op.inputs[index]]; }

  Dims shape_operand(const graph::Operator& op, size_t index) const {
    const Constant& values = *constants_[*shape_operand_id(block_, op, index)];
    Dims dims;
    for (int64_t i = 0; i < values.elements(); ++i) dims.push_back(values.at(i));
    return dims;
  }

  void take_data(graph::TensorId id) {
    const graph::Tensor& tensor = block_.tensors[id];
    if (!tensor.has_data) return;
    std::shared_ptr<const std::vector<uint8_t>> own;
    std::shared_ptr<const std::vector<uint8_t>>& bytes = shared_ == nullptr ? own : (*shared_)[&tensor];
    if (!bytes) bytes = std::make_shared<std::vector<uint8_t>>(graph::value_of_constant(tensor).bytes);
    constants_[id] = Constant{tensor.type, tensor.shape, bytes};
  }

  void share(const graph::Operator& op) {
    const graph::Tensor& result = result_tensor(op);
    constants_[op.outputs[0]] = Constant{result.type, result.shape, operand(op, 0).bytes};
  }

  // Room for the result, or null when the budget is spent.
  std::shared_ptr<std::vector<uint8_t>> allocate(const graph::Tensor& tensor) {
    const int64_t width = graph::machine_width(tensor.type);
    const int64_t count = product(tensor.shape);
    if (width <= 0 || count > left_ / width) return nullptr;
    left_ -= count * width;
    return std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(count * width));
  }

  // The first operand as a view whose element type has the constant's width. Only widths count here.
  View source(const graph::Operator& op) const { return view_of(operand(op, 0)); }

  View view_of(const Constant& constant) const {
    const int64_t width = graph::machine_width(constant.type);
    const auto type = width == 8   ? contract::Element::kI48
                      : width == 4 ? contract::Element::kI32
                      : width == 2 ? contract::Element::kI16
                                   : contract::Element::kI8;
    return dense_view(0, type, constant.shape);
  }

  void move(const graph::Operator& op, const View& view) {
    const graph::Tensor& result = result_tensor(op);
    auto bytes = allocate(result);
    if (!bytes) return;
    const View out = dense_view(0, view.type, view.dims);
    copy_elements(view, operand(op, 0).bytes->data(), bytes->data(), out.strides);
    constants_[op.outputs[0]] = Constant{result.type, result.shape, std::move(bytes)};
  }

  void concat(const graph::Operator& op) {
    const graph::Tensor& result = result_tensor(op);
    auto bytes = allocate(result);
    if (!bytes) return;
    View whole = source(op);
    whole = dense_view(0, whole.type, result.shape);
    const auto axis = static_cast<size_t>(op.attributes.axis);
    int64_t start = 0;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const Constant& part = operand(op, i);
      copy_elements(view_of(part), part.bytes->data(), bytes->data() + start * whole.strides[axis], whole.strides);
      start += part.shape[axis];
    }
    constants_[op.outputs[0]] = Constant{result.type, result.shape, std::move(bytes)};
  }

  template <typename Function>
  void map(const graph::Operator& op, Function function) {
    const graph::Tensor& result = result_tensor(op);
    const Constant& in = operand(op, 0);
    auto bytes = allocate(result);
    if (!bytes) return;
    const auto width = static_cast<size_t>(graph::machine_width(result.type));
    for (int64_t i = 0; i < in.elements(); ++i) {
      const int64_t value = function(in.at(i), i);
      std::memcpy(bytes->data() + static_cast<size_t>(i) * width, &value, width);
    }
    constants_[op.outputs[0]] = Constant{result.type, result.shape, std::move(bytes)};
  }

  void cast(const graph::Operator& op) {
    const DType from = operand(op, 0).type, to = result_tensor(op).type;
    if (const auto format = graph::float_format(from); format && to == DType::kFp32) {
      map(op, [&](int64_t bits, int64_t) { return float_pattern(*format, static_cast<uint32_t>(bits)); });
      return;
    }
    if (!(is_integer(from) || from == DType::kBool) || !(is_integer(to) || to == DType::kBool)) return;
    map(op, [&](int64_t value, int64_t) {
      return to == DType::kBool ? int64_t{value != 0} : sign_extend(value, bits_of(to));
    });
  }

  void rescale(const graph::Operator& op) {
    const graph::Attributes& how = op.attributes;
    const DType from = operand(op, 0).type, to = result_tensor(op).type;
    if (!is_integer(from) || !is_integer(to)) return;
    const int64_t in_bits = bits_of(from), out_bits = bits_of(to);
    const Constant &multiplier = operand(op, 1), &shift = operand(op, 2);
    for (int64_t i = 0; i < shift.elements(); ++i) {
      if (shift.at(i) < 2 || shift.at(i) > 62) return;
    }
    const int64_t in_zp = how.input_unsigned ? zero_extend(operand(op, 3).at(0), in_bits) : operand(op, 3).at(0);
    const int64_t out_zp = how.output_unsigned ? zero_extend(operand(op, 4).at(0), out_bits) : operand(op, 4).at(0);
    const int64_t low = how.output_unsigned ? 0 : -(int64_t{1} << (out_bits - 1));
    const int64_t high = low + (int64_t{1} << out_bits) - 1;
    const int64_t channels = how.per_channel ? multiplier.elements() : 1;
    map(op, [&](int64_t value, int64_t index) {
      if (how.input_unsigned) value = zero_extend(value, in_bits);
      const int64_t c = index % channels;
      const int64_t scaled = rescale_value(value - in_zp, multiplier.at(c), shift.at(c), how.scale32,
                                           how.rounding_mode == graph::RoundingMode::kDoubleRound);
      return std::clamp(scaled + out_zp, low, high);
    });
  }

  const graph::Block& block_;
  ConstantData* const shared_;
  int64_t left_;  // bytes
  Constants constants_;
};

}  // namespace

int64_t Constant::elements() const { return product(shape); }

int64_t Constant::at(int64_t index) const {
  const int64_t width = type == DType::kShape ? 8 : graph::machine_width(type);
  uint64_t raw = 0;
  std::memcpy(&raw, bytes->data() + index * width, static_cast<size_t>(width));
  return sign_extend(static_cast<int64_t>(raw), width * 8);
}

int64_t Constant::in_register(int64_t index) const {
  const std::optional<graph::FloatFormat> format = graph::float_format(type);
  return format ? float_pattern(*format, static_cast<uint32_t>(at(index))) : at(index);
}

bool Constant::uniform() const {
  const int64_t count = elements();
  const auto width = static_cast<size_t>(graph::machine_width(type));
  if (count < 1 || bytes->size() != static_cast<size_t>(count) * width) return false;
  for (int64_t i = 1; i < count; ++i) {
    if (std::memcmp(bytes->data(), bytes->data() + static_cast<size_t>(i) * width, width) != 0) return false;
  }
  return true;
}

int32_t float_pattern(const graph::FloatFormat& format, uint32_t pattern) {
  // FP32 keeps its NaNs as they are; those of other formats become one.
  if (format.bits() == graph::kFp32Format.bits()) return static_cast<int32_t>(pattern);
  return static_cast<int32_t>(encode(graph::kFp32Format, decode(format, pattern)));
}

int64_t rescale_value(int64_t value, int64_t multiplier, int64_t shift, bool scale32, bool double_round) {
  int64_t round = int64_t{1} << (shift - 1);
  if (scale32 && double_round && shift > 31) round += value >= 0 ? int64_t{1} << 30 : -(int64_t{1} << 30);
  // Wraps like the hardware where the specification calls the product unpredictable.
  const uint64_t product = static_cast<uint64_t>(value) * static_cast<uint64_t>(multiplier);
  const int64_t scaled = static_cast<int64_t>(product + static_cast<uint64_t>(round)) >> shift;
  return static_cast<int32_t>(scaled);
}

std::vector<std::optional<Constant>> fold_constants(const graph::Block& block, const Folding& folding) {
  return Folder(block, folding).run();
}

}  // namespace npu::compiler
