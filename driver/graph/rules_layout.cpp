// SPDX-License-Identifier: Apache-2.0
// Rules of operators that move data: layout, gather and scatter, RESIZE.
#include <algorithm>
#include <string>

#include "driver/graph/operator_view.h"
#include "driver/graph/rules.h"

namespace npu::graph {
namespace {

// Sizes in a file are 32-bit; larger ones are refused before anything is multiplied.
constexpr int64_t kLargestSize = INT32_MAX;

std::string at(size_t dimension) { return " in dimension " + std::to_string(dimension); }

int64_t rank(const OperatorView& op) { return static_cast<int64_t>(op.shape(0).size()); }

// Values of RESIZE along one dimension: scale as a fraction n / d, offset and border in units of 1 / n.
Dim resized(const OperatorView& op, const char* dimension, const Dim& size, int64_t n, int64_t d, int64_t offset,
            int64_t border) {
  const auto bad = [&](const std::string& why) { op.bad_argument(std::string(dimension) + ": " + why); };
  if (n < 1 || d < 1) {
    bad("scale " + std::to_string(n) + "/" + std::to_string(d) + " must be positive");
  }
  if (n > 2048) {
    bad("the numerator of the scale, " + std::to_string(n) + ", must be at most 2048");
  }
  if (d >= 16 * n) {
    bad("scale " + std::to_string(n) + "/" + std::to_string(d) + " must be larger than 1/16");
  }
  if (offset < -n || offset >= 16 * n) {
    bad("offset " + std::to_string(offset) + " must be from " + std::to_string(-n) + " to " +
        std::to_string(16 * n - 1));
  }
  if (border < -16 * n || border >= n) {
    bad("border " + std::to_string(border) + " must be from " + std::to_string(-16 * n) + " to " +
        std::to_string(n - 1));
  }
  const Dim room = (size - 1) * n - offset + border;
  if (!op.at_least(room, 0) || !op.multiple(room, d, "denominator of the scale")) {
    op.bad_shape(std::string(dimension) + ": (" + op.text(size) + " - 1) * " + std::to_string(n) + " - " +
                 std::to_string(offset) + " + " + std::to_string(border) + " must be a multiple of " +
                 std::to_string(d) + ", not negative");
  }
  return room.quotient(d) + 1;
}

// Numbers that are too large count as different.
bool same_elements(const OperatorView& op, const Dims& input, const Dims& output) {
  const auto before = numbers_of(input), after = numbers_of(output);
  if (!before || !after) return op.equal(product_of(input), product_of(output), "number of elements");
  const auto elements = element_count(*before);
  return elements.has_value() && elements == element_count(*after);
}

}  // namespace

std::vector<Dims> rule_concat(const OperatorView& op) {
  const size_t inputs = op.op().inputs.size();
  const auto axis = static_cast<size_t>(op.attributes().axis);
  const Dims first = op.dims(0);
  Dims output = first;
  for (size_t i = 1; i < inputs; ++i) {
    const Dims dims = op.dims(i);
    bool fits = dims.size() == first.size();
    for (size_t d = 0; fits && d < dims.size(); ++d) {
      if (d == axis) {
        output[d] = output[d] + dims[d];
      } else {
        fits = op.equal(first[d], dims[d]);
      }
    }
    if (!fits) {
      op.bad_shape(op.input_name(i) + " " + op.text(dims) + " differs from " + op.input_name(0) + " " + op.text(first) +
                   " not only along axis " + std::to_string(axis));
    }
  }
  return {output};
}

std::vector<Dims> rule_pad(const OperatorView& op) {
  const Dims padding = op.value(1, 2 * rank(op));
  if (!op.equal(op.dims(2), {Dim(1)})) {
    op.bad_shape(op.input_name(2) + " must have one element");
  }
  Dims output = op.dims(0);
  for (size_t d = 0; d < output.size(); ++d) {
    for (const Dim& pad : {padding[2 * d], padding[2 * d + 1]}) {
      if (!op.at_least(pad, 0, "padding") || !op.at_least(kLargestSize, pad, "padding")) {
        op.bad_argument("padding " + op.text(pad) + at(d) + " is out of range");
      }
      output[d] = output[d] + pad;
    }
  }
  return {output};
}

std::vector<Dims> rule_reshape(const OperatorView& op) {
  if (op.shape(1).size() != 1 || op.shape(1)[0] > 32) {
    op.bad_shape(op.input_name(1) + " must be a list of at most 32 sizes");
  }
  const Dims input = op.dims(0);
  const Dims output = op.value(1, op.shape(1)[0]);
  const bool positive =
      std::all_of(output.begin(), output.end(), [&](const Dim& size) { return op.at_least(size, 1); });
  if (!positive || !same_elements(op, input, output)) {
    op.bad_shape(op.input_name(0) + " " + op.text(input) + " cannot take the shape " + op.text(output));
  }
  return {output};
}

std::vector<Dims> rule_reverse(const OperatorView& op) { return {op.dims(0)}; }

std::vector<Dims> rule_slice(const OperatorView& op) {
  const Dims start = op.value(1, rank(op));
  const Dims size = op.value(2, rank(op));
  const Dims input = op.dims(0);
  for (size_t d = 0; d < size.size(); ++d) {
    // In this order, no difference of numbers overflows.
    if (!op.at_least(start[d], 0, "start") || !op.at_least(size[d], 1, "size") || !op.at_least(input[d], start[d]) ||
        !op.at_least(input[d] - start[d], size[d])) {
      op.bad_argument("start " + op.text(start[d]) + " and size " + op.text(size[d]) + " leave the " +
                      op.text(input[d]) + " elements" + at(d));
    }
  }
  return {size};
}

std::vector<Dims> rule_tile(const OperatorView& op) {
  const Dims multiples = op.value(1, rank(op));
  Dims output = op.dims(0);
  for (size_t d = 0; d < output.size(); ++d) {
    // In this order, no product of numbers overflows.
    if (!op.at_least(multiples[d], 1, "multiple") || !op.at_least(kLargestSize, multiples[d], "multiple") ||
        !op.at_least(kLargestSize, output[d] * multiples[d])) {
      op.bad_argument("multiple " + op.text(multiples[d]) + at(d) + " is out of range");
    }
    output[d] = output[d] * multiples[d];
  }
  return {output};
}

std::vector<Dims> rule_transpose(const OperatorView& op) {
  const Dims input = op.dims(0);
  std::vector<bool> used(input.size(), false);
  Dims output;
  for (const int32_t from : op.attributes().perms) {
    if (from < 0 || static_cast<size_t>(from) >= input.size() || used[static_cast<size_t>(from)]) {
      op.bad_argument("perms must name each dimension once; " + std::to_string(from) + " does not fit");
    }
    used[static_cast<size_t>(from)] = true;
    output.push_back(input[static_cast<size_t>(from)]);
  }
  return {output};
}

std::vector<Dims> rule_gather(const OperatorView& op) {
  const Dims values = op.dims(0);   // N, K, C
  const Dims indices = op.dims(1);  // N, W
  if (!op.equal(values[0], indices[0])) {
    op.bad_shape(op.input_name(0) + " " + op.text(values) + " and " + op.input_name(1) + " " + op.text(indices) +
                 " differ in the first dimension");
  }
  return {{values[0], indices[1], values[2]}};
}

std::vector<Dims> rule_scatter(const OperatorView& op) {
  const Dims values = op.dims(0);   // N, K, C
  const Dims indices = op.dims(1);  // N, W
  const Dims wanted = {values[0], indices[1], values[2]};
  if (!op.equal(values[0], indices[0]) || !op.equal(op.dims(2), wanted)) {
    op.bad_shape(op.input_name(0) + " " + op.text(values) + ", " + op.input_name(1) + " " + op.text(indices) + " and " +
                 op.input_name(2) + " " + op.text(op.dims(2)) +
                 " do not fit: [N, K, C], [N, W], [N, W, C] are expected");
  }
  // Each place is written at most once, so there are at least as many places as indices.
  if (!op.at_least(values[1], indices[1])) {
    op.bad_shape(op.input_name(1) + " has more indices than " + op.input_name(0) + " has places");
  }
  return {values};
}

std::vector<Dims> rule_resize(const OperatorView& op) {
  constexpr int64_t kMostPixels = 16384;
  const Dims input = op.dims(0);
  const DType in = op.input(0).type;
  const DType out = op.output(0).type;
  if (in == DType::kInt8 || in == DType::kInt16) {
    const bool nearest = op.attributes().resize_mode == ResizeMode::kNearest;
    if (nearest != (in == out)) {
      op.bad_type(std::string("mode ") + (nearest ? "NEAREST" : "BILINEAR") + " does not give " +
                  std::string(name(out)) + " from " + std::string(name(in)));
    }
  }
  const auto scale = op.required_constant(1, 4);
  const auto offset = op.required_constant(2, 2);
  const auto border = op.required_constant(3, 2);
  const Dims output = {input[0], resized(op, "height", input[1], scale[0], scale[1], offset[0], border[0]),
                       resized(op, "width", input[2], scale[2], scale[3], offset[1], border[1]), input[3]};
  for (const Dim& size : {input[1], input[2], output[1], output[2]}) {
    if (op.at_least(kMostPixels - 1, size)) continue;
    op.bad_shape("heights and widths must be below " + std::to_string(kMostPixels));
  }
  return {output};
}

}  // namespace npu::graph
