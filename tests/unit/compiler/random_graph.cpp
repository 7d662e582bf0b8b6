// SPDX-License-Identifier: Apache-2.0
// What every random graph is made of, and its element-wise operators.
#include "tests/unit/compiler/random_graph.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "tests/unit/compiler/random_graph_maker.h"

namespace npu::compiler::testing {

using graph::Op;
using graph::Rescaling;
using graph::RoundingMode;

graph::Graph random_graph(uint32_t seed, int max_dim, Numbers numbers) {
  return RandomGraph(seed, max_dim, numbers).make();
}

graph::Graph RandomGraph::make() {
  const int inputs = pick(1, 3);
  for (int i = 0; i < inputs; ++i) add(b_.input("in" + std::to_string(i), any_type(), any_shape(max_dim_)));
  const int variables = pick(0, 2);
  for (int i = 0; i < variables; ++i) make_variable(i);
  const int operators = pick(3, 25);
  for (int i = 0; i < operators; ++i) grow();
  const int outputs = pick(1, 4);
  for (int i = 0; i < outputs; ++i) b_.output(any());
  b_.output(tensors_.back());
  return b_.build();
}

void RandomGraph::grow() {
  if (mixed_ && chance(6)) return grow_control();
  if (mixed_ && chance(60)) return depth_ > 0 ? grow_exact_float() : grow_float();
  using Grow = void (RandomGraph::*)();
  static constexpr Grow kGrow[] = {
      &RandomGraph::grow_binary,      &RandomGraph::grow_binary,
      &RandomGraph::grow_logical,     &RandomGraph::grow_unary,
      &RandomGraph::grow_narrow,      &RandomGraph::grow_rescale,
      &RandomGraph::grow_view,        &RandomGraph::grow_view,
      &RandomGraph::grow_layout,      &RandomGraph::grow_layout,
      &RandomGraph::grow_reduction,   &RandomGraph::grow_pool,
      &RandomGraph::grow_pool,        &RandomGraph::grow_convolution,
      &RandomGraph::grow_convolution, &RandomGraph::grow_matmul,
      &RandomGraph::grow_resize,      &RandomGraph::grow_transpose_conv,
      &RandomGraph::grow_conv3d,      &RandomGraph::grow_variable,
      &RandomGraph::grow_variable,    &RandomGraph::grow_shift_or_division,
  };
  grow_any(kGrow);
}

void RandomGraph::grow_any(std::span<void (RandomGraph::*const)()> choices) {
  (this->*choices[static_cast<size_t>(pick(0, static_cast<int>(choices.size()) - 1))])();
}

std::vector<double> RandomGraph::numbers(int64_t count, int low, int high) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(pick(low, high));
  return values;
}

RandomGraph::DType RandomGraph::any_type() {
  if (mixed_ && chance(60)) return any_float();
  static constexpr DType kTypes[] = {DType::kInt8, DType::kInt8, DType::kInt32, DType::kInt16, DType::kBool};
  return kTypes[pick(0, 4)];
}

RandomGraph::Shape RandomGraph::any_shape(int limit) {
  Shape shape;
  for (int rank = pick(0, 4); rank > 0; --rank) shape.push_back(any_size(limit));
  return shape;
}

RandomGraph::TensorId RandomGraph::add(TensorId id) {
  tensors_.push_back(id);
  return id;
}

// Later tensors are likelier, so that chains grow long.
RandomGraph::TensorId RandomGraph::any() {
  const auto last = static_cast<int>(tensors_.size()) - 1;
  return tensors_[static_cast<size_t>(chance(60) ? std::max(0, last - pick(0, 2)) : pick(0, last))];
}

int64_t RandomGraph::product(const Shape& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

RandomGraph::TensorId RandomGraph::as_type(TensorId id, DType to) {
  if (type(id) == to) return id;
  if (is_float(id) || is_float(to)) return cast_to(id, to);
  if (to == DType::kBool || type(id) == DType::kBool) return b_.cast(id, to);
  Rescaling how;
  how.multiplier = {static_cast<double>(pick(1 << 29, 1 << 30))};
  how.shift = {static_cast<double>(pick(30, 40))};
  how.rounding = chance(50) ? RoundingMode::kDoubleRound : RoundingMode::kSingleRound;
  if (type(id) == DType::kInt8) how.input_zp = pick(-20, 20);
  if (to == DType::kInt8) how.output_zp = pick(-20, 20);
  return b_.rescale(id, to, how);
}

RandomGraph::TensorId RandomGraph::as_shape(TensorId id, const Shape& to) {
  const int64_t want = product(to), have = product(shape(id));
  TensorId flat = b_.reshape(id, {have});
  if (have < want) flat = b_.tile(flat, {(want + have - 1) / have});
  if (product(shape(flat)) > want)
    flat = b_.slice(flat, {pick(0, static_cast<int>(product(shape(flat)) - want))}, {want});
  return shape(flat) == to ? flat : b_.reshape(flat, to);
}

RandomGraph::TensorId RandomGraph::partner(DType to, Shape dims) {
  const bool one = chance(10);
  for (int64_t& d : dims) {
    if (one || chance(20)) d = 1;
  }
  if (chance(25)) {
    if (is_float(to)) return constant_reals(to, dims);
    std::vector<double> values = to == DType::kBool ? numbers(product(dims), 0, 1) : numbers(product(dims), -100, 100);
    if (chance(50)) values.assign(values.size(), values[0]);
    return b_.constant(to, dims, values);
  }
  return any_as(to, dims);
}

// Either operand may broadcast, or both.
void RandomGraph::grow_binary() {
  static constexpr Op kOps[] = {Op::kAdd,   Op::kSub,        Op::kMaximum,   Op::kMinimum,    Op::kGreater,
                                Op::kEqual, Op::kBitwiseXor, Op::kBitwiseOr, Op::kBitwiseAnd, Op::kGreaterEqual};
  const TensorId like = as_type(any(), DType::kInt32);
  const Shape dims = shape(like);
  const TensorId a = chance(60) ? like : partner(DType::kInt32, dims);
  const int which = pick(0, 11);
  if (which == 10) return void(add(b_.mul(as_type(a, DType::kInt8), partner(DType::kInt8, dims))));
  if (which == 11) {
    return void(add(b_.select(partner(DType::kBool, dims), a, partner(DType::kInt32, dims))));
  }
  const TensorId other = chance(5) ? a : partner(DType::kInt32, dims);
  const TensorId first = chance(50) ? a : other, second = first == a ? other : a;
  switch (kOps[which]) {
    case Op::kMaximum:
      return void(add(b_.maximum(first, second)));
    case Op::kMinimum:
      return void(add(b_.minimum(first, second)));
    default:
      add(b_.op(kOps[which], {first, second}));
  }
}

void RandomGraph::grow_logical() {
  static constexpr Op kOps[] = {Op::kLogicalAnd, Op::kLogicalOr, Op::kLogicalXor};
  const TensorId a = as_type(any(), DType::kBool);
  if (chance(25)) return void(add(b_.op(Op::kLogicalNot, {a})));
  add(b_.op(kOps[pick(0, 2)], {a, partner(DType::kBool, shape(a))}));
}

// The second operand is a constant, so that it is in range.
void RandomGraph::grow_shift_or_division() {
  const TensorId a = as_type(any(), DType::kInt32);
  Shape dims = shape(a);
  for (int64_t& d : dims) {
    if (chance(30)) d = 1;
  }
  const auto by = [&](int low, int high) {
    return b_.constant(DType::kInt32, dims, numbers(product(dims), low, high));
  };
  switch (pick(0, 3)) {
    case 0:
      return void(add(b_.op(Op::kIntDiv, {a, chance(50) ? by(1, 300) : by(-300, -1)})));
    case 1:
      return void(add(b_.op(Op::kLogicalLeftShift, {a, by(0, 31)})));
    case 2:
      return void(add(b_.op(Op::kLogicalRightShift, {a, by(0, 31)})));
    default:
      add(b_.arithmetic_right_shift(a, by(1, 31), chance(50)));
  }
}

void RandomGraph::grow_unary() {
  static constexpr Op kOps[] = {Op::kAbs, Op::kBitwiseNot, Op::kClz};
  if (chance(20)) return void(add(b_.op(Op::kIdentity, {any()})));
  const TensorId a = as_type(any(), DType::kInt32);
  if (chance(20)) return void(add(b_.negate(a)));
  add(b_.op(kOps[pick(0, 2)], {a}));
}

void RandomGraph::grow_narrow() {
  const TensorId a = as_type(any(), chance(25) ? DType::kInt16 : DType::kInt8);
  const bool bytes = type(a) == DType::kInt8;
  switch (pick(0, 2)) {
    case 0: {
      const int low = pick(-120, 100);
      return void(add(b_.clamp(a, low, pick(low, 127))));
    }
    case 1:
      // Neighbours in an INT16 table may differ by as much as INT16 holds.
      return void(add(b_.table(a, bytes ? numbers(256, -128, 127) : numbers(513, -16'000, 16'000))));
    default:
      add(b_.negate(a, bytes ? pick(-9, 9) : 0, bytes ? pick(-9, 9) : 0));
  }
}

void RandomGraph::grow_rescale() {
  const TensorId a = as_type(any(), DType::kInt8);
  Rescaling how;
  if (chance(40)) {
    how.output_unsigned = chance(50);
    how.input_unsigned = !how.output_unsigned;
    return void(add(b_.rescale(a, DType::kInt8, how)));
  }
  how.scale32 = chance(70);
  how.per_channel = chance(70) && rank(a) > 0;
  const int64_t entries = how.per_channel ? shape(a).back() : 1;
  const int one = how.scale32 ? 30 : 14;
  how.multiplier = numbers(entries, 1 << (one - 1), 1 << one);
  how.shift = numbers(entries, one - 3, one + 2);
  how.rounding = how.scale32 && chance(50) ? RoundingMode::kDoubleRound : RoundingMode::kSingleRound;
  how.input_zp = pick(-20, 20);
  static constexpr DType kTo[] = {DType::kInt8, DType::kInt16, DType::kInt32};
  const DType to = kTo[pick(0, 2)];
  if (to == DType::kInt8) how.output_zp = pick(-20, 20);
  add(b_.rescale(a, to, how));
}

}  // namespace npu::compiler::testing
