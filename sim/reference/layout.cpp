// SPDX-License-Identifier: Apache-2.0
// Operators that move elements and do not look at them: any type, by its width. All but GATHER and SCATTER copy boxes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/reference/element.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

// The elements start + sum(index[d] * stride[d]) of a value.
struct Walk {
  int64_t start = 0;
  Shape stride;
};

// Copies the box of `counts` elements that two walks visit in step.
void copy_box(const Shape& counts, const Value& from, const Walk& source, Value& to, const Walk& target) {
  const auto width = static_cast<int64_t>(graph::machine_width(to.type));
  const bool scalar = counts.empty();
  const int64_t inner = scalar ? 1 : counts.back();
  const int64_t from_step = scalar ? 0 : source.stride.back();
  const int64_t to_step = scalar ? 0 : target.stride.back();
  const Shape outer(counts.begin(), scalar ? counts.end() : counts.end() - 1);
  for_each_element<2>(outer, {source.stride, target.stride}, [&](int64_t, const std::array<int64_t, 2>& at) {
    const uint8_t* in = from.bytes.data() + (source.start + at[0]) * width;
    uint8_t* out = to.bytes.data() + (target.start + at[1]) * width;
    if (from_step == 1 && to_step == 1) {
      std::memcpy(out, in, static_cast<size_t>(inner * width));
      return;
    }
    for (int64_t i = 0; i < inner; ++i) {
      std::memcpy(out + i * to_step * width, in + i * from_step * width, static_cast<size_t>(width));
    }
  });
}

// Operand and result of an operator that only moves elements.
struct Move {
  const Value& in;
  Value& out;
  Walk source, target;

  explicit Move(const Call& call, size_t input = 0)
      : in(call.input(input)), out(call.output()), source{0, strides_of(in.shape)}, target{0, strides_of(out.shape)} {
    if (in.type != out.type) {
      call.unsupported_types();
    }
  }
  void same_rank(const Call& call) const {
    call.error_if(in.shape.size() != out.shape.size(), ErrorCode::kBadShape,
                  fmt::format("operand {} and result {} differ in rank", graph::to_string(in.shape),
                              graph::to_string(out.shape)));
  }
  void copy(const Shape& counts) const { copy_box(counts, in, source, out, target); }
};

size_t axis_of(const Call& call, const Shape& shape) {
  const int32_t axis = call.attributes().axis;
  call.error_if(axis < 0 || static_cast<size_t>(axis) >= shape.size(), ErrorCode::kBadArgument,
                fmt::format("axis {} is not one of {}", axis, graph::to_string(shape)));
  return static_cast<size_t>(axis);
}

std::span<const int64_t> list(const Call& call, size_t input, size_t length, const char* what) {
  const auto values = shape_operand(call, input);
  call.error_if(values.size() != length, ErrorCode::kBadShape, fmt::format("{} must have {} values", what, length));
  return values;
}

void wrong_result(const Call& call, bool wrong) {
  call.error_if(
      wrong, ErrorCode::kBadShape,
      fmt::format("the result's shape {} does not follow from the operands", graph::to_string(call.output().shape)));
}

}  // namespace

void concat(Call& call) {
  Value& out = call.output();
  const size_t axis = axis_of(call, out.shape);
  int64_t position = 0;
  for (size_t i = 0; i < call.input_count(); ++i) {
    Move move(call, i);
    move.same_rank(call);
    Shape expected = out.shape;
    expected[axis] = move.in.shape[axis];
    wrong_result(call, move.in.shape != expected || position + expected[axis] > out.shape[axis]);
    move.target.start = position * move.target.stride[axis];
    move.copy(move.in.shape);
    position += expected[axis];
  }
  wrong_result(call, position != out.shape[axis]);
}

void pad(Call& call) {
  Move move(call);
  move.same_rank(call);
  const Value& constant = call.input(2);
  const size_t rank = move.in.shape.size();
  const auto padding = list(call, 1, 2 * rank, "padding");
  if (constant.type != move.out.type) {
    call.unsupported_types();
  }
  for (size_t d = 0; d < rank; ++d) {
    call.error_if(padding[2 * d] < 0 || padding[2 * d + 1] < 0, ErrorCode::kBadArgument, "padding is negative");
    wrong_result(call, move.out.shape[d] != padding[2 * d] + move.in.shape[d] + padding[2 * d + 1]);
    move.target.start += padding[2 * d] * move.target.stride[d];
  }
  copy_box(move.out.shape, constant, {0, Shape(rank, 0)}, move.out, {0, move.target.stride});
  move.copy(move.in.shape);
}

void reshape(Call& call) {
  Move move(call);
  wrong_result(call, move.in.bytes.size() != move.out.bytes.size());
  move.out.bytes = move.in.bytes;
}

void identity(Call& call) { reshape(call); }

void reverse(Call& call) {
  Move move(call);
  wrong_result(call, move.in.shape != move.out.shape);
  const size_t axis = axis_of(call, move.in.shape);
  move.source.start = (move.in.shape[axis] - 1) * move.source.stride[axis];
  move.source.stride[axis] = -move.source.stride[axis];
  move.copy(move.in.shape);
}

void slice(Call& call) {
  Move move(call);
  move.same_rank(call);
  const size_t rank = move.in.shape.size();
  const auto start = list(call, 1, rank, "start");
  const auto size = list(call, 2, rank, "size");
  for (size_t d = 0; d < rank; ++d) {
    call.error_if(start[d] < 0 || size[d] <= 0 || start[d] > move.in.shape[d] - size[d], ErrorCode::kBadArgument,
                  fmt::format("start {} and size {} leave dimension {} of {}", start[d], size[d], d,
                              graph::to_string(move.in.shape)));
    wrong_result(call, move.out.shape[d] != size[d]);
    move.source.start += start[d] * move.source.stride[d];
  }
  move.copy(move.out.shape);
}

void tile(Call& call) {
  Move move(call);
  move.same_rank(call);
  const size_t rank = move.in.shape.size();
  const auto multiples = list(call, 1, rank, "multiples");
  // Each dimension becomes two: which tile, and the position in it.
  Shape counts;
  Walk source, target;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t length = move.in.shape[d];
    wrong_result(call, multiples[d] <= 0 || move.out.shape[d] != length * multiples[d]);
    counts.insert(counts.end(), {multiples[d], length});
    source.stride.insert(source.stride.end(), {0, move.source.stride[d]});
    target.stride.insert(target.stride.end(), {length * move.target.stride[d], move.target.stride[d]});
  }
  copy_box(counts, move.in, source, move.out, target);
}

void transpose(Call& call) {
  Move move(call);
  move.same_rank(call);
  const std::vector<int32_t>& perms = call.attributes().perms;
  const size_t rank = move.in.shape.size();
  std::vector<bool> used(rank, false);
  call.error_if(perms.size() != rank, ErrorCode::kBadArgument, "perms must have one value a dimension");
  Walk source;
  for (size_t d = 0; d < rank; ++d) {
    const auto from = static_cast<size_t>(perms[d]);
    call.error_if(perms[d] < 0 || from >= rank || used[from], ErrorCode::kBadArgument, "perms is not a permutation");
    used[from] = true;
    wrong_result(call, move.out.shape[d] != move.in.shape[from]);
    source.stride.push_back(move.source.stride[from]);
  }
  copy_box(move.out.shape, move.in, source, move.out, move.target);
}

namespace {

// Shapes of GATHER and SCATTER: values [n, k, c], indices [n, w], the moved elements [n, w, c].
struct Indexed {
  int64_t n, k, c, w;
  std::span<const int32_t> indices;
  size_t row;  // bytes of c elements

  Indexed(const Call& call, const Value& values, const Value& moved) {
    const Value& index = call.input(1);
    if (index.type != DType::kInt32 || values.type != moved.type) {
      call.unsupported_types();
    }
    call.error_if(values.shape.size() != 3 || index.shape.size() != 2 || moved.shape.size() != 3, ErrorCode::kBadShape,
                  "values must have rank 3 and indices rank 2");
    n = values.shape[0];
    k = values.shape[1];
    c = values.shape[2];
    w = index.shape[1];
    call.error_if(index.shape[0] != n || moved.shape != Shape{n, w, c}, ErrorCode::kBadShape,
                  "values, indices and result do not fit together");
    indices = elements<int32_t>(index);
    row = static_cast<size_t>(c * graph::machine_width(values.type));
  }
  // The row of `values` that index i of all n * w names.
  [[nodiscard]] size_t row_of(const Call& call, int64_t i) const {
    const int64_t value = indices[i];
    if (value < 0 || value >= k) {
      call.fail(ErrorCode::kRequireFailed,
                fmt::format("index {} at [{}, {}] is outside 0..{}", value, i / w, i % w, k - 1));
    }
    return static_cast<size_t>(i / w * k + value);
  }
};

}  // namespace

void gather(Call& call) {
  const Value& values = call.input(0);
  Value& out = call.output();
  const Indexed shape(call, values, out);
  for (int64_t i = 0; i < shape.n * shape.w; ++i) {
    std::memcpy(out.bytes.data() + static_cast<size_t>(i) * shape.row,
                values.bytes.data() + shape.row_of(call, i) * shape.row, shape.row);
  }
}

void scatter(Call& call) {
  const Value& values = call.input(0);
  const Value& moved = call.input(2);
  Value& out = call.output();
  const Indexed shape(call, values, moved);
  wrong_result(call, out.type != values.type || out.shape != values.shape);
  out.bytes = values.bytes;
  std::vector<bool> written(static_cast<size_t>(shape.n * shape.k), false);
  for (int64_t i = 0; i < shape.n * shape.w; ++i) {
    const size_t row = shape.row_of(call, i);
    call.require(!written[row], "an element of the result is written twice");
    written[row] = true;
    std::memcpy(out.bytes.data() + row * shape.row, moved.bytes.data() + static_cast<size_t>(i) * shape.row, shape.row);
  }
}

}  // namespace npu::reference
