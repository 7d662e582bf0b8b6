// SPDX-License-Identifier: Apache-2.0
// Makes MLIR operations of the TOSA dialect, one call each.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/importer/mlir_text.h"

namespace npu::importer {

// A value of MLIR: "%5", its shape, and its element type as MLIR spells it ("i8", "f32").
struct MlirValue {
  std::string name;
  std::vector<int64_t> shape;
  std::string element;

  [[nodiscard]] std::string type() const;
};

// By what RESCALE multiplies: multiplier / 2^shift.
struct MlirScale {
  int32_t multiplier = 1 << 30;
  int32_t shift = 30;
};

// The nearest one of a factor, as TensorFlow Lite chooses it; the shift is 2 to 62 unless the factor is too large.
[[nodiscard]] MlirScale mlir_scale(double factor);

// Appends operations to a list. Shapes of results follow from those of operands, which the caller has checked.
class MlirWriter {
 public:
  // `text` keeps what the operations point to; `location` is that of each operation.
  MlirWriter(std::vector<MlirOperation>& to, std::deque<std::string>& text, std::function<std::string()> new_value,
             std::string_view location)
      : to_(to), text_(text), new_value_(std::move(new_value)), location_(location) {}

  // `values` is what stands in dense<...>.
  MlirValue constant(std::vector<int64_t> shape, const std::string& element, const std::string& values);
  // `attribute` is the whole value, with its type.
  MlirValue constant_of(std::vector<int64_t> shape, const std::string& element, const std::string& attribute);
  MlirValue reshape(const MlirValue& value, std::vector<int64_t> shape);
  MlirValue slice(const MlirValue& value, const std::vector<int64_t>& start, std::vector<int64_t> size);
  // Results of one type, in order.
  MlirValue concat(const std::vector<MlirValue>& values, size_t axis);
  MlirValue unary(std::string_view name, const MlirValue& value);
  MlirValue binary(std::string_view name, const MlirValue& left, const MlirValue& right);
  // Of two int16 or int32 the result is int32.
  MlirValue multiply(const MlirValue& left, const MlirValue& right);
  // `limits` are what min_val and max_val are, without type.
  MlirValue clamp(const MlirValue& value, const std::string& least, const std::string& most);
  MlirValue table(const MlirValue& value, const MlirValue& table);
  // A window of one element: the products of channels (the last dimension of 4) with weights[OC, 1, 1, IC].
  MlirValue convolve(const MlirValue& value, const MlirValue& weights, const MlirValue& bias, int64_t input_zero);
  MlirValue rescale(const MlirValue& value, const std::string& element, MlirScale scale, bool round_twice = false,
                    int64_t output_zero = 0);
  MlirValue read(const std::string& variable, std::vector<int64_t> shape, const std::string& element);
  void write(const std::string& variable, const MlirValue& value);
  // The declaration of a variable, for the module.
  MlirOperation declaration(const std::string& variable, const std::vector<int64_t>& shape, const std::string& element,
                            const std::string& initial);

 private:
  MlirValue add(std::string_view name, const std::vector<MlirValue>& operands, const std::string& properties,
                std::vector<int64_t> shape, const std::string& element);
  MlirValue shape_constant(const std::vector<int64_t>& values);
  std::string_view keep(std::string text);

  std::vector<MlirOperation>& to_;
  std::deque<std::string>& text_;
  std::function<std::string()> new_value_;
  std::string_view location_;
};

}  // namespace npu::importer
