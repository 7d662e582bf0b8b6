// SPDX-License-Identifier: Apache-2.0
// What only moves elements, reductions and variables.
#include <algorithm>
#include <numeric>
#include <string>

#include "tests/unit/compiler/random_graph_maker.h"

namespace npu::compiler::testing {

using graph::Op;

void RandomGraph::make_variable(int index) {
  DType type = chance(70) ? DType::kInt8 : DType::kInt32;
  if (mixed_ && chance(70)) type = any_real();
  const Shape dims = any_shape(4);  // persistent SRAM is small
  variables_.push_back(b_.variable("state" + std::to_string(index), type, dims, std::vector<double>{1}));
  if (mixed_ && chance(50)) b_.declare(variables_.back());
}

void RandomGraph::grow_variable() {
  if (variables_.empty()) return;
  const TensorId variable = variables_[static_cast<size_t>(pick(0, static_cast<int>(variables_.size()) - 1))];
  if (chance(55)) {
    add(b_.read(variable));
  } else {
    b_.write(variable, any_as(type(variable), shape(variable)));
  }
}

// Few operators have results of FP8, which moves like everything else.
RandomGraph::TensorId RandomGraph::any_to_move() {
  const TensorId a = any();
  return mixed_ && chance(30) ? as_type(a, any_float()) : a;
}

void RandomGraph::grow_view() {
  const TensorId a = any_to_move();
  if (rank(a) == 0) return void(add(b_.reshape(a, Shape(static_cast<size_t>(pick(1, 3)), 1))));
  switch (pick(0, 4)) {
    case 0:
      return grow_transpose(a);
    case 1:
      return void(add(b_.reverse(a, pick(0, rank(a) - 1))));
    case 2:
      return grow_slice(a);
    case 3: {
      Shape dims = shape(a);
      dims.insert(dims.begin() + pick(0, rank(a)), 1);
      if (dims.size() < 5) add(b_.reshape(a, dims));
      return;
    }
    default: {
      const int64_t count = product(shape(a));
      add(b_.reshape(a, count == 1 ? Shape{} : Shape{count}));
    }
  }
}

void RandomGraph::grow_transpose(TensorId a) {
  std::vector<int32_t> perms(shape(a).size());
  std::iota(perms.begin(), perms.end(), 0);
  std::shuffle(perms.begin(), perms.end(), random_);
  add(b_.transpose(a, perms));
}

void RandomGraph::grow_slice(TensorId a) {
  std::vector<int64_t> start(shape(a).size()), size = shape(a);
  const bool one = chance(15);
  for (size_t i = 0; i < size.size(); ++i) {
    start[i] = pick(0, static_cast<int>(size[i]) - 1);
    size[i] = one ? 1 : pick(1, static_cast<int>(size[i] - start[i]));
  }
  add(b_.slice(a, start, size));
}

void RandomGraph::grow_layout() {
  const TensorId a = any_to_move();
  if (rank(a) == 0 || product(shape(a)) > 600) return;
  switch (pick(0, 4)) {
    case 4:
      return grow_rows(a);
    case 0: {
      const bool nothing = chance(10);
      std::vector<int64_t> padding;
      for (int i = 0; i < 2 * rank(a); ++i) padding.push_back(nothing ? 0 : pick(0, 2));
      return void(add(b_.pad(a, padding, type(a) == DType::kBool ? 1 : pick(-5, 5))));
    }
    case 1: {
      std::vector<int64_t> multiples(shape(a).size(), 1);
      for (int64_t& multiple : multiples) multiple = chance(60) ? pick(1, 3) : 1;
      return void(add(b_.tile(a, multiples)));
    }
    default:
      grow_concat(a);
  }
}

void RandomGraph::grow_concat(TensorId a) {
  const int axis = pick(0, rank(a) - 1);
  std::vector<TensorId> parts = {a};
  for (int i = pick(0, 2); i > 0; --i) {
    Shape dims = shape(a);
    dims[static_cast<size_t>(axis)] = pick(1, 3);
    parts.push_back(chance(20) ? a : any_as(type(a), dims));
  }
  std::shuffle(parts.begin(), parts.end(), random_);
  add(b_.concat(parts, axis));
}

// Rows of [N, K, C] by indices that constants, or computed numbers within bounds, are.
void RandomGraph::grow_rows(TensorId a) {
  if (type(a) == DType::kBool) return;
  const auto inner = static_cast<size_t>(pick(0, rank(a) - 1));
  const int64_t c = shape(a)[inner], all = product(shape(a)) / c;
  const int64_t n = all % 2 == 0 && chance(50) ? 2 : 1, k = all / n;
  const TensorId values = b_.reshape(a, {n, k, c});
  const int64_t w = pick(1, static_cast<int>(std::min<int64_t>(k, 20)));
  std::vector<double> rows;
  for (int64_t i = 0; i < n * w; ++i) rows.push_back(static_cast<double>((i % w * 7 + i / w) % k));
  if (chance(50)) {  // may repeat
    TensorId index = b_.constant(DType::kInt32, {n, w}, rows);
    if (chance(50)) {
      const auto bound = [&](double value) { return b_.constant(DType::kInt32, {1, 1}, {value}); };
      index = b_.maximum(b_.minimum(any_as(DType::kInt32, {n, w}), bound(static_cast<double>(k - 1))), bound(0));
    }
    return void(add(b_.gather(values, index)));
  }
  const auto first = pick(0, static_cast<int>(k - w));
  for (int64_t i = 0; i < n * w; ++i) rows[static_cast<size_t>(i)] = static_cast<double>(first + w - 1 - i % w);
  add(b_.scatter(values, b_.constant(DType::kInt32, {n, w}, rows), any_as(type(a), {n, w, c})));
}

void RandomGraph::grow_reduction() {
  const TensorId a = any();
  if (rank(a) == 0) return;
  if (is_float(a)) return grow_real_reduction(a);
  const int axis = pick(0, rank(a) - 1);
  if (type(a) == DType::kBool) {
    add(b_.reduce(chance(50) ? Op::kReduceAll : Op::kReduceAny, a, axis));
  } else if (type(a) == DType::kInt32) {
    add(b_.reduce(chance(50) ? Op::kReduceSum : Op::kReduceMin, a, axis));
  } else if (chance(50)) {
    add(b_.reduce(Op::kReduceMax, a, axis));
  } else {
    add(b_.argmax(a, axis));
  }
}

}  // namespace npu::compiler::testing
