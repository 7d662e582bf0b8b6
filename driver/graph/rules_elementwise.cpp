// SPDX-License-Identifier: Apache-2.0
// Rules of operators that work element by element, of reductions and of RESCALE.
#include <cmath>
#include <cstring>
#include <string>

#include "driver/graph/float_format.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/operators.h"
#include "driver/graph/rules.h"

namespace npu::graph {
namespace {

// The inputs do not broadcast: the first to one that has the sizes of `result` so far.
[[noreturn]] void fail_broadcast(const OperatorView& op, size_t input) {
  op.bad_shape(op.input_name(0) + " " + op.text(op.dims(0)) + " and " + op.input_name(input) + " " +
               op.text(op.dims(input)) + " do not broadcast: ranks must be equal, dimensions equal or 1");
}

// The file leaves one of both sizes open.
[[noreturn]] void fail_open(const OperatorView& op, size_t first, size_t input, size_t dimension) {
  op.bad_shape(op.input_name(first) + " " + op.text(op.dims(first)) + " and " + op.input_name(input) + " " +
               op.text(op.dims(input)) + " do not broadcast: dimension " + std::to_string(dimension) +
               " must be equal, because a size that is unknown in the file never broadcasts");
}

[[noreturn]] void fail_to_stretch(const OperatorView& op, size_t input, const Dim& size, size_t dimension) {
  op.bad_shape(op.input_name(input) + " " + op.text(op.dims(input)) + " would have to stretch to " + op.text(size) +
               " in dimension " + std::to_string(dimension) +
               ", whose size is unknown in the file: only a size that the file gives as 1 broadcasts");
}

// The shape that all tensor inputs broadcast to. Ranks must be equal; a dimension of 1 stretches. A size that the file
// leaves open does not, even where it turns out to be 1.
Dims broadcast(const OperatorView& op, size_t inputs) {
  std::vector<Dims> all;
  for (size_t i = 0; i < inputs; ++i) {
    all.push_back(op.dims(i));
    if (all[i].size() != all[0].size()) fail_broadcast(op, i);
  }
  Dims result = all[0];
  for (size_t d = 0; d < result.size(); ++d) {
    const auto stretches = [&](size_t i) { return all[i][d] == Dim(1) && !op.is_symbol(i, d); };
    size_t first = 0;
    while (first + 1 < inputs && stretches(first)) ++first;
    result[d] = all[first][d];
    for (size_t i = first + 1; i < inputs; ++i) {
      if (stretches(i) || op.equal(result[d], all[i][d])) continue;
      if (all[i][d] == Dim(1)) fail_to_stretch(op, i, result[d], d);
      if (result[d] == Dim(1)) fail_to_stretch(op, first, all[i][d], d);
      if (op.is_symbol(first, d) || op.is_symbol(i, d)) fail_open(op, first, i, d);
      fail_broadcast(op, i);
    }
  }
  return result;
}

// The value of a CLAMP limit in a type that holds all of them exactly.
double limit_value(const std::vector<uint8_t>& bytes, DType type) {
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bits |= uint64_t{bytes[i]} << (8 * i);
  }
  if (const auto format = float_format(type)) {
    return decode(*format, static_cast<uint32_t>(bits));
  }
  NPU_CHECK(type == DType::kInt8 || type == DType::kInt16);
  return type == DType::kInt8 ? static_cast<int8_t>(bits) : static_cast<int16_t>(bits);
}

// Zero points of RESCALE: INT8 any, unsigned INT16 0 or 32768, all others 0.
void require_rescale_zero_point(const OperatorView& op, size_t operand, bool is_unsigned) {
  const Tensor& tensor = op.input(operand);
  const auto value = op.constant(operand, 1);
  if (!value || (*value)[0] == 0 || tensor.type == DType::kInt8) {
    return;
  }
  if (tensor.type == DType::kInt16 && is_unsigned) {
    if ((*value)[0] != INT16_MIN) {
      op.bad_argument(op.input_name(operand) + " of unsigned INT16 must be 0 or 32768");
    }
    return;
  }
  op.bad_argument(op.input_name(operand) + " must be 0 for " + (is_unsigned ? "" : "signed ") +
                  std::string(name(tensor.type)));
}

void require_rescale_attributes(const OperatorView& op) {
  const Attributes& a = op.attributes();
  const DType in = op.input(0).type;
  const DType out = op.output(0).type;
  if (a.scale32 && in == DType::kInt48) {
    op.bad_argument("scale32 is not allowed for INT48");
  }
  if (!a.scale32 && a.rounding_mode == RoundingMode::kDoubleRound) {
    op.bad_argument("rounding_mode DOUBLE_ROUND needs scale32");
  }
  if (a.input_unsigned && a.output_unsigned) {
    op.bad_argument("input_unsigned and output_unsigned exclude each other");
  }
  if (a.input_unsigned && (in == DType::kInt32 || in == DType::kInt48 || out == DType::kInt32)) {
    op.bad_argument("input_unsigned is not allowed from " + std::string(name(in)) + " to " + std::string(name(out)));
  }
  if (a.output_unsigned && (in == DType::kInt32 || in == DType::kInt48 || out == DType::kInt32)) {
    op.bad_argument("output_unsigned is not allowed from " + std::string(name(in)) + " to " + std::string(name(out)));
  }
  if (a.per_channel && op.shape(0).empty()) {
    op.bad_argument("per_channel needs an input of rank 1 or more");
  }
}

void require_shape(const OperatorView& op, size_t operand, const Dims& shape) {
  if (!op.equal(op.dims(operand), shape)) {
    op.bad_shape(op.input_name(operand) + " has shape " + op.text(op.dims(operand)) + ", but must have " +
                 op.text(shape));
  }
}

}  // namespace

std::vector<Dims> rule_same_shape(const OperatorView& op) { return {op.dims(0)}; }

std::vector<Dims> rule_broadcast(const OperatorView& op) { return {broadcast(op, op.op().inputs.size())}; }

std::vector<Dims> rule_mul(const OperatorView& op) {
  require_shape(op, 2, {Dim(1)});
  return {broadcast(op, 2)};
}

std::vector<Dims> rule_clamp(const OperatorView& op) {
  const DType type = op.input(0).type;
  const auto width = static_cast<size_t>(byte_size(type, 1));
  const Attributes& a = op.attributes();
  if (a.min_val.size() != width || a.max_val.size() != width) {
    op.bad_argument("min_val and max_val must have " + std::to_string(width) + " bytes for " + std::string(name(type)));
  }
  const double low = limit_value(a.min_val, type);
  const double high = limit_value(a.max_val, type);
  if (std::isnan(low) || std::isnan(high)) {
    op.bad_argument("min_val and max_val must not be NaN");
  }
  if (high < low) {
    op.bad_argument("max_val is smaller than min_val");
  }
  return {op.dims(0)};
}

std::vector<Dims> rule_table(const OperatorView& op) {
  require_shape(op, 1, {Dim(op.input(0).type == DType::kInt8 ? 256 : 513)});
  return {op.dims(0)};
}

std::vector<Dims> rule_negate(const OperatorView& op) {
  op.require_zero_point_only_for(DType::kInt8, 1, op.input(0).type);
  op.require_zero_point_only_for(DType::kInt8, 2, op.input(0).type);
  return {op.dims(0)};
}

std::vector<Dims> rule_reduce(const OperatorView& op) {
  Dims output = op.dims(0);
  output[static_cast<size_t>(op.attributes().axis)] = 1;
  return {output};
}

std::vector<Dims> rule_rescale(const OperatorView& op) {
  const Attributes& a = op.attributes();
  require_rescale_attributes(op);
  const DType multiplier = a.scale32 ? DType::kInt32 : DType::kInt16;
  if (op.input(1).type != multiplier) {
    op.bad_type(op.input_name(1) + " is " + std::string(name(op.input(1).type)) +
                ", but scale32 = " + (a.scale32 ? "true" : "false") + " needs " + std::string(name(multiplier)));
  }
  const Dims parameters = {a.per_channel ? op.dims(0).back() : Dim(1)};
  require_shape(op, 1, parameters);
  require_shape(op, 2, parameters);
  require_rescale_zero_point(op, 3, a.input_unsigned);
  require_rescale_zero_point(op, 4, a.output_unsigned);
  return {op.dims(0)};
}

}  // namespace npu::graph
