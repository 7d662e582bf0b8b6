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
int64_t resized(const OperatorView& op, const char* dimension, int64_t size, int64_t n, int64_t d, int64_t offset,
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
  const int64_t room = (size - 1) * n - offset + border;
  if (room < 0 || room % d != 0) {
    op.bad_shape(std::string(dimension) + ": (" + std::to_string(size) + " - 1) * " + std::to_string(n) + " - " +
                 std::to_string(offset) + " + " + std::to_string(border) + " must be a multiple of " +
                 std::to_string(d) + ", not negative");
  }
  return room / d + 1;
}

}  // namespace

std::vector<Shape> rule_concat(const OperatorView& op) {
  const size_t inputs = op.op().inputs.size();
  const auto axis = static_cast<size_t>(op.attributes().axis);
  Shape output = op.shape(0);
  for (size_t i = 1; i < inputs; ++i) {
    Shape shape = op.shape(i);
    bool fits = shape.size() == output.size();
    if (fits) {
      output[axis] += shape[axis];
      shape[axis] = output[axis];
      fits = shape == output;
    }
    if (!fits) {
      op.bad_shape(op.input_name(i) + " " + to_string(op.shape(i)) + " differs from " + op.input_name(0) + " " +
                   to_string(op.shape(0)) + " not only along axis " + std::to_string(axis));
    }
  }
  return {output};
}

std::vector<Shape> rule_pad(const OperatorView& op) {
  const auto padding = op.required_constant(1, 2 * rank(op));
  if (op.shape(2) != Shape{1}) {
    op.bad_shape(op.input_name(2) + " must have one element");
  }
  Shape output = op.shape(0);
  for (size_t d = 0; d < output.size(); ++d) {
    for (const int64_t pad : {padding[2 * d], padding[2 * d + 1]}) {
      if (pad < 0 || pad > kLargestSize) {
        op.bad_argument("padding " + std::to_string(pad) + at(d) + " is out of range");
      }
      output[d] += pad;
    }
  }
  return {output};
}

std::vector<Shape> rule_reshape(const OperatorView& op) {
  if (op.shape(1).size() != 1 || op.shape(1)[0] > 32) {
    op.bad_shape(op.input_name(1) + " must be a list of at most 32 sizes");
  }
  const Shape output = op.required_constant(1, op.shape(1)[0]);
  const bool positive = std::all_of(output.begin(), output.end(), [](int64_t size) { return size >= 1; });
  if (!positive || element_count(output) != element_count(op.shape(0))) {
    op.bad_shape(op.input_name(0) + " " + to_string(op.shape(0)) + " cannot take the shape " + to_string(output));
  }
  return {output};
}

std::vector<Shape> rule_reverse(const OperatorView& op) { return {op.shape(0)}; }

std::vector<Shape> rule_slice(const OperatorView& op) {
  const auto start = op.required_constant(1, rank(op));
  const Shape size = op.required_constant(2, rank(op));
  for (size_t d = 0; d < size.size(); ++d) {
    const int64_t whole = op.shape(0)[d];
    if (start[d] < 0 || size[d] < 1 || start[d] > whole || size[d] > whole - start[d]) {
      op.bad_argument("start " + std::to_string(start[d]) + " and size " + std::to_string(size[d]) + " leave the " +
                      std::to_string(whole) + " elements" + at(d));
    }
  }
  return {size};
}

std::vector<Shape> rule_tile(const OperatorView& op) {
  const auto multiples = op.required_constant(1, rank(op));
  Shape output = op.shape(0);
  for (size_t d = 0; d < output.size(); ++d) {
    if (multiples[d] < 1 || multiples[d] > kLargestSize / output[d]) {
      op.bad_argument("multiple " + std::to_string(multiples[d]) + at(d) + " is out of range");
    }
    output[d] *= multiples[d];
  }
  return {output};
}

std::vector<Shape> rule_transpose(const OperatorView& op) {
  const Shape& input = op.shape(0);
  std::vector<bool> used(input.size(), false);
  Shape output;
  for (const int32_t from : op.attributes().perms) {
    if (from < 0 || static_cast<size_t>(from) >= input.size() || used[static_cast<size_t>(from)]) {
      op.bad_argument("perms must name each dimension once; " + std::to_string(from) + " does not fit");
    }
    used[static_cast<size_t>(from)] = true;
    output.push_back(input[static_cast<size_t>(from)]);
  }
  return {output};
}

std::vector<Shape> rule_gather(const OperatorView& op) {
  const Shape& values = op.shape(0);   // N, K, C
  const Shape& indices = op.shape(1);  // N, W
  if (values[0] != indices[0]) {
    op.bad_shape(op.input_name(0) + " " + to_string(values) + " and " + op.input_name(1) + " " + to_string(indices) +
                 " differ in the first dimension");
  }
  return {{values[0], indices[1], values[2]}};
}

std::vector<Shape> rule_scatter(const OperatorView& op) {
  const Shape& values = op.shape(0);   // N, K, C
  const Shape& indices = op.shape(1);  // N, W
  const Shape wanted = {values[0], indices[1], values[2]};
  if (values[0] != indices[0] || op.shape(2) != wanted) {
    op.bad_shape(op.input_name(0) + " " + to_string(values) + ", " + op.input_name(1) + " " + to_string(indices) +
                 " and " + op.input_name(2) + " " + to_string(op.shape(2)) +
                 " do not fit: [N, K, C], [N, W], [N, W, C] are expected");
  }
  // Each place is written at most once, so there are at least as many places as indices.
  if (values[1] < indices[1]) {
    op.bad_shape(op.input_name(1) + " has more indices than " + op.input_name(0) + " has places");
  }
  return {values};
}

std::vector<Shape> rule_resize(const OperatorView& op) {
  constexpr int64_t kMostPixels = 16384;
  const Shape& input = op.shape(0);
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
  const Shape output = {input[0], resized(op, "height", input[1], scale[0], scale[1], offset[0], border[0]),
                        resized(op, "width", input[2], scale[2], scale[3], offset[1], border[1]), input[3]};
  if (std::max({input[1], input[2], output[1], output[2]}) >= kMostPixels) {
    op.bad_shape("heights and widths must be below " + std::to_string(kMostPixels));
  }
  return {output};
}

}  // namespace npu::graph
