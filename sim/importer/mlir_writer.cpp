// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "hw/contract/error.h"

namespace npu::importer {
namespace {

std::string mlir_tensor_type(const std::vector<int64_t>& shape, const std::string& element) {
  std::string text = "tensor<";
  for (const int64_t size : shape) text += std::to_string(size) + "x";
  return text + element + ">";
}

bool is_float_element(const std::string& element) { return element.starts_with('f') || element.starts_with("bf"); }

std::string mlir_number(const std::string& element, int64_t value) {
  return is_float_element(element) ? fmt::format("{}.0", value) : std::to_string(value);
}

}  // namespace

std::string MlirValue::type() const {
  return element == "shape" ? fmt::format("!tosa.shape<{}>", shape[0]) : mlir_tensor_type(shape, element);
}

MlirScale mlir_scale(double factor) {
  constexpr int kBits = 31;
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  auto multiplier = std::llround(std::ldexp(fraction, kBits));
  if (multiplier == int64_t{1} << kBits) {
    multiplier /= 2;
    ++exponent;
  }
  // What is too small to matter is nothing.
  if (factor <= 0 || kBits - exponent > 62) return {0, 2};
  return {static_cast<int32_t>(multiplier), kBits - exponent};
}

std::string_view MlirWriter::keep(std::string text) { return text_.emplace_back(std::move(text)); }

MlirValue MlirWriter::add(std::string_view name, const std::vector<MlirValue>& operands, const std::string& properties,
                          std::vector<int64_t> shape, const std::string& element) {
  MlirValue result{new_value_(), std::move(shape), element};
  MlirOperation op;
  op.result = result.name;
  op.name = name;
  for (const MlirValue& operand : operands) {
    op.operands.push_back(operand.name);
    op.operand_types.push_back(operand.type());
  }
  if (!properties.empty()) op.properties = keep("<{" + properties + "}>");
  op.result_types = {result.type()};
  op.location = location_;
  to_.push_back(std::move(op));
  return result;
}

MlirValue MlirWriter::constant_of(std::vector<int64_t> shape, const std::string& element,
                                  const std::string& attribute) {
  return add("tosa.const", {}, "values = " + attribute, std::move(shape), element);
}

MlirValue MlirWriter::constant(std::vector<int64_t> shape, const std::string& element, const std::string& values) {
  const std::string type = mlir_tensor_type(shape, element);
  return constant_of(std::move(shape), element, fmt::format("dense<{}> : {}", values, type));
}

MlirValue MlirWriter::shape_constant(const std::vector<int64_t>& values) {
  const auto count = static_cast<int64_t>(values.size());
  return add("tosa.const_shape", {},
             fmt::format("values = dense<[{}]> : tensor<{}xindex>", fmt::join(values, ", "), count), {count}, "shape");
}

MlirValue MlirWriter::reshape(const MlirValue& value, std::vector<int64_t> shape) {
  if (value.shape == shape) return value;
  const MlirValue sizes = shape_constant(shape);
  return add("tosa.reshape", {value, sizes}, "", std::move(shape), value.element);
}

MlirValue MlirWriter::slice(const MlirValue& value, const std::vector<int64_t>& start, std::vector<int64_t> size) {
  if (value.shape == size) return value;
  const MlirValue from = shape_constant(start), sizes = shape_constant(size);
  return add("tosa.slice", {value, from, sizes}, "", std::move(size), value.element);
}

MlirValue MlirWriter::concat(const std::vector<MlirValue>& values, size_t axis) {
  std::vector<int64_t> shape = values.at(0).shape;
  shape.at(axis) = 0;
  for (const MlirValue& value : values) shape[axis] += value.shape.at(axis);
  return add("tosa.concat", values, fmt::format("axis = {} : i32", axis), std::move(shape), values[0].element);
}

MlirValue MlirWriter::unary(std::string_view name, const MlirValue& value) {
  return add(name, {value}, "", value.shape, value.element);
}

MlirValue MlirWriter::binary(std::string_view name, const MlirValue& left, const MlirValue& right) {
  NPU_CHECK(left.shape == right.shape && left.element == right.element);
  return add(name, {left, right}, "", left.shape, left.element);
}

MlirValue MlirWriter::multiply(const MlirValue& left, const MlirValue& right) {
  NPU_CHECK(left.shape == right.shape && left.element == right.element);
  const MlirValue shift = constant({1}, "i8", "0");
  return add("tosa.mul", {left, right, shift}, "", left.shape, is_float_element(left.element) ? left.element : "i32");
}

MlirValue MlirWriter::clamp(const MlirValue& value, const std::string& least, const std::string& most) {
  return add("tosa.clamp", {value},
             fmt::format("max_val = {} : {}, min_val = {} : {}", most, value.element, least, value.element),
             value.shape, value.element);
}

MlirValue MlirWriter::table(const MlirValue& value, const MlirValue& table) {
  return add("tosa.table", {value, table}, "", value.shape, value.element == "i16" ? "i32" : value.element);
}

MlirValue MlirWriter::convolve(const MlirValue& value, const MlirValue& weights, const MlirValue& bias,
                               int64_t input_zero) {
  const std::string out = is_float_element(value.element) ? value.element : "i32";
  const MlirValue input_zp = constant({1}, value.element, mlir_number(value.element, input_zero));
  const MlirValue weight_zp = constant({1}, weights.element, mlir_number(weights.element, 0));
  std::vector<int64_t> shape = value.shape;
  shape.at(3) = weights.shape.at(0);
  return add(
      "tosa.conv2d", {value, weights, bias, input_zp, weight_zp},
      fmt::format("acc_type = {}, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>",
                  out),
      std::move(shape), out);
}

MlirValue MlirWriter::rescale(const MlirValue& value, const std::string& element, MlirScale scale, bool round_twice,
                              int64_t output_zero) {
  const MlirValue multiplier = constant({1}, "i32", std::to_string(scale.multiplier));
  const MlirValue shift = constant({1}, "i8", std::to_string(scale.shift));
  const MlirValue input_zp = constant({1}, value.element, "0");
  const MlirValue output_zp = constant({1}, element, std::to_string(output_zero));
  // Rounding twice is for shifts above 31 only.
  const std::string_view rounding = round_twice && scale.shift > 31 ? "DOUBLE_ROUND" : "SINGLE_ROUND";
  return add("tosa.rescale", {value, multiplier, shift, input_zp, output_zp},
             fmt::format("input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = "
                         "#tosa.rounding_mode<{}>, scale32 = true",
                         rounding),
             value.shape, element);
}

MlirValue MlirWriter::read(const std::string& variable, std::vector<int64_t> shape, const std::string& element) {
  return add("tosa.variable_read", {}, fmt::format("name = \"{}\"", variable), std::move(shape), element);
}

void MlirWriter::write(const std::string& variable, const MlirValue& value) {
  MlirOperation op;
  op.name = "tosa.variable_write";
  op.operands = {value.name};
  op.operand_types = {value.type()};
  op.properties = keep(fmt::format("<{{name = \"{}\"}}>", variable));
  op.location = location_;
  to_.push_back(std::move(op));
}

MlirOperation MlirWriter::declaration(const std::string& variable, const std::vector<int64_t>& shape,
                                      const std::string& element, const std::string& initial) {
  MlirOperation op;
  op.name = "tosa.variable";
  op.properties = keep(
      fmt::format("<{{initial_value = dense<{}> : {}, sym_name = \"{}\", type = {}, var_shape = dense<[{}]> : "
                  "tensor<{}xindex>}}>",
                  initial, mlir_tensor_type(shape, element), variable, element, fmt::join(shape, ", "), shape.size()));
  op.location = location_;
  return op;
}

}  // namespace npu::importer
