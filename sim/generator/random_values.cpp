// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_values.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "hw/contract/error.h"

namespace npu::generator {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Shape;
using graph::TensorId;

namespace {

constexpr int64_t kMost = 1000;  // of an INT32 value
constexpr int64_t kMostTerms = 10'000;

// Of one element that broadcasts to the value.
TensorId small_constant(GraphBuilder& b, TensorId like, double value) {
  return b.constant(b.tensor(like).type, Shape(b.tensor(like).shape.size(), 1), {value});
}

}  // namespace

RandomValues::RandomValues(cosim::Random& random, Shape shape) : random_(random), shape_(std::move(shape)) {
  NPU_CHECK(!shape_.empty() && *std::max_element(shape_.begin(), shape_.end()) <= kMostTerms);
}

DType RandomValues::any_type() { return random_.pick({DType::kInt8, DType::kInt16, DType::kInt32}); }

TensorId RandomValues::any(const std::vector<TensorId>& values) {
  const auto last = static_cast<int64_t>(values.size()) - 1;
  return values[static_cast<size_t>(random_.chance(50) ? std::max<int64_t>(0, last - pick(0, 2)) : pick(0, last))];
}

DataRange RandomValues::range_of(DType type) {
  return type == DType::kInt32 ? DataRange{-kMost, kMost} : usual_range(type);
}

TensorId RandomValues::bounded(GraphBuilder& b, TensorId x) { return limit(b, x, -kMost, kMost); }

TensorId RandomValues::limit(GraphBuilder& b, TensorId x, double low, double high) {
  const TensorId above = b.maximum(x, small_constant(b, x, low));
  return b.minimum(above, small_constant(b, x, high));
}

TensorId RandomValues::wide(GraphBuilder& b, TensorId x) {
  return b.tensor(x).type == DType::kInt32 ? x : b.cast(x, DType::kInt32);
}

TensorId RandomValues::as(GraphBuilder& b, TensorId x, DType type) {
  const DType from = b.tensor(x).type;
  if (from == type) return x;
  const TensorId result = b.cast(x, type);
  return from == DType::kInt16 && type == DType::kInt32 ? bounded(b, result) : result;
}

TensorId RandomValues::compute(GraphBuilder& b, const std::vector<TensorId>& values) {
  using Make = TensorId (RandomValues::*)(GraphBuilder&, TensorId, TensorId);
  static constexpr Make kMakes[] = {
      &RandomValues::arithmetic,
      &RandomValues::arithmetic,
      &RandomValues::multiply,
      &RandomValues::bitwise,
      &RandomValues::shift_or_divide,
      &RandomValues::unary,
      &RandomValues::narrow,
      &RandomValues::choose,
      &RandomValues::move,
      &RandomValues::split,
      &RandomValues::reduce,
      &RandomValues::convolve,
      &RandomValues::choose_rows,
      &RandomValues::multiply_matrices,
  };
  const TensorId x = any(values), y = any(values);
  const auto which = static_cast<size_t>(pick(0, static_cast<int64_t>(std::size(kMakes)) - 1));
  const TensorId result = (this->*kMakes[which])(b, x, y);
  if (b.tensor(result).type != DType::kInt32) return result;
  return random_.chance(30) ? b.cast(result, random_.pick({DType::kInt8, DType::kInt16})) : bounded(b, result);
}

TensorId RandomValues::element(GraphBuilder& b, TensorId x) {
  const int64_t count = elements_of(shape_);
  return wide(b, b.slice(b.reshape(x, {count}), {pick(0, count - 1)}, {1}));
}

TensorId RandomValues::condition(GraphBuilder& b, TensorId x) {
  const Op compare = random_.pick({Op::kGreater, Op::kGreater, Op::kGreaterEqual, Op::kEqual});
  return b.op(compare, {element(b, x), b.constant(DType::kInt32, {1}, {static_cast<double>(pick(-4, 4))})});
}

TensorId RandomValues::change_first(GraphBuilder& b, TensorId x, int64_t count,
                                    const std::function<TensorId(TensorId)>& change) {
  const int64_t all = elements_of(shape_);
  const TensorId flat = b.reshape(x, {all});
  TensorId result = change(count == all ? flat : b.slice(flat, {0}, {count}));
  if (count < all) {
    const DType type = b.tensor(result).type;
    TensorId others = b.slice(flat, {count}, {all - count});
    if (b.tensor(others).type != type) others = b.cast(others, type);
    result = b.concat({result, others}, 0);
  }
  return b.reshape(result, shape_);
}

TensorId RandomValues::arithmetic(GraphBuilder& b, TensorId x, TensorId y) {
  const Op op = random_.pick({Op::kAdd, Op::kSub, Op::kMaximum, Op::kMinimum});
  if (random_.chance(30))
    return b.op(op, {wide(b, x), small_constant(b, wide(b, x), static_cast<double>(pick(-9, 9)))});
  return b.op(op, {wide(b, x), wide(b, y)});
}

// Of at most 16 bits each.
TensorId RandomValues::multiply(GraphBuilder& b, TensorId x, TensorId y) {
  const DType type = any_type();
  return type == DType::kInt32 ? b.mul(wide(b, x), wide(b, y)) : b.mul(as(b, x, type), as(b, y, type));
}

TensorId RandomValues::bitwise(GraphBuilder& b, TensorId x, TensorId y) {
  if (random_.chance(20)) return b.op(Op::kBitwiseNot, {x});
  const Op op = random_.pick({Op::kBitwiseAnd, Op::kBitwiseOr, Op::kBitwiseXor});
  return b.op(op, {x, as(b, y, b.tensor(x).type)});
}

TensorId RandomValues::shift_or_divide(GraphBuilder& b, TensorId x, TensorId) {
  const TensorId in = wide(b, x);
  const auto by = [&](int64_t low, int64_t high) {
    return small_constant(b, in, static_cast<double>(pick(low, high)));
  };
  switch (pick(0, 3)) {
    case 0:
      return b.op(Op::kIntDiv, {in, random_.chance(50) ? by(1, 9) : by(-9, -1)});
    case 1:
      return b.op(Op::kLogicalLeftShift, {in, by(0, 31)});
    case 2:
      return b.op(Op::kLogicalRightShift, {in, by(0, 31)});
    default: {
      const bool round = random_.chance(50);
      return b.arithmetic_right_shift(in, by(1, 8), round);
    }
  }
}

TensorId RandomValues::unary(GraphBuilder& b, TensorId x, TensorId) {
  if (random_.chance(30)) return b.negate(x);
  return b.op(random_.pick({Op::kAbs, Op::kClz}), {wide(b, x)});
}

TensorId RandomValues::narrow(GraphBuilder& b, TensorId x, TensorId) {
  switch (pick(0, 2)) {
    case 0: {
      const TensorId in = as(b, x, random_.pick({DType::kInt8, DType::kInt16}));
      const auto low = static_cast<double>(pick(-100, 0)), high = static_cast<double>(pick(1, 100));
      return b.clamp(in, low, high);
    }
    case 1:
      return b.table(as(b, x, DType::kInt8), random_numbers(random_, 256, INT8_MIN, INT8_MAX));
    default: {
      graph::Rescaling how;
      how.multiplier = {static_cast<double>(pick(1 << 29, 1 << 30))};
      how.shift = {static_cast<double>(pick(30, 36))};
      if (b.tensor(x).type == DType::kInt8) how.input_zp = static_cast<double>(pick(-20, 20));
      const DType to = random_.pick({DType::kInt8, DType::kInt16});
      if (to == DType::kInt8) how.output_zp = static_cast<double>(pick(-20, 20));
      return b.rescale(x, to, how);
    }
  }
}

// By a comparison, or what it says as a number.
TensorId RandomValues::choose(GraphBuilder& b, TensorId x, TensorId y) {
  TensorId flags = b.op(random_.pick({Op::kGreater, Op::kGreaterEqual, Op::kEqual}), {wide(b, x), wide(b, y)});
  if (random_.chance(20)) flags = b.op(Op::kLogicalNot, {flags});
  return random_.chance(20) ? b.cast(flags, any_type()) : b.select(flags, x, as(b, y, b.tensor(x).type));
}

TensorId RandomValues::move(GraphBuilder& b, TensorId x, TensorId) {
  const int32_t along = axis();
  switch (pick(0, 2)) {
    case 0: {
      std::vector<int32_t> perms(shape_.size());
      std::iota(perms.begin(), perms.end(), 0);
      random_.shuffle(std::span(perms));
      return b.reshape(b.transpose(x, perms), shape_);
    }
    case 1: {  // by one place
      std::vector<int64_t> padding(2 * shape_.size()), start(shape_.size());
      const bool before = random_.chance(50);
      padding[2 * static_cast<size_t>(along) + (before ? 0 : 1)] = 1;
      if (!before) start[static_cast<size_t>(along)] = 1;
      return b.slice(b.pad(x, padding, static_cast<double>(pick(-9, 9))), start, shape_);
    }
    default:
      return b.reverse(x, along);
  }
}

// The first part of one value and the rest of another.
TensorId RandomValues::split(GraphBuilder& b, TensorId x, TensorId y) {
  const int32_t along = axis();
  const auto at = static_cast<size_t>(along);
  if (shape_[at] < 2) return b.op(Op::kIdentity, {x});
  Shape first = shape_, rest = shape_;
  std::vector<int64_t> none(shape_.size()), behind(shape_.size());
  first[at] = behind[at] = pick(1, shape_[at] - 1);
  rest[at] -= first[at];
  const TensorId other = as(b, y, b.tensor(x).type);
  return b.concat({b.slice(x, none, first), b.slice(other, behind, rest)}, along);
}

// Along an axis, along which it is added to another value then.
TensorId RandomValues::reduce(GraphBuilder& b, TensorId x, TensorId y) {
  const int32_t along = axis();
  if (random_.chance(30)) {
    Shape one = shape_;
    one[static_cast<size_t>(along)] = 1;
    const TensorId narrow = as(b, x, random_.pick({DType::kInt8, DType::kInt16}));
    return b.add(b.reshape(b.argmax(narrow, along), one), wide(b, y));
  }
  const Op op = random_.pick({Op::kReduceSum, Op::kReduceMax, Op::kReduceMin});
  return b.add(b.reduce(op, wide(b, x), along), wide(b, y));
}

// A pixel of a few channels.
TensorId RandomValues::convolve(GraphBuilder& b, TensorId x, TensorId) {
  const int64_t channels = std::min<int64_t>(6, elements_of(shape_));
  return change_first(b, x, channels, [&](TensorId first) {
    const TensorId weights =
        b.constant(DType::kInt8, {channels, 1, 1, channels}, random_numbers(random_, channels * channels, -3, 3));
    const TensorId bias = b.constant(DType::kInt32, {channels}, random_numbers(random_, channels, -9, 9));
    const TensorId pixel = b.reshape(as(b, first, DType::kInt8), {1, 1, 1, channels});
    return b.reshape(b.conv2d(pixel, weights, bias), {channels});
  });
}

// Of two rows and two columns.
TensorId RandomValues::multiply_matrices(GraphBuilder& b, TensorId x, TensorId y) {
  constexpr int64_t kElements = 4;
  const int64_t count = elements_of(shape_);
  if (count < kElements) return b.op(Op::kIdentity, {x});
  const auto square = [&](TensorId part) { return b.reshape(as(b, part, DType::kInt8), {1, 2, 2}); };
  return change_first(b, x, kElements, [&](TensorId first) {
    const TensorId right = b.slice(b.reshape(y, {count}), {pick(0, count - kElements)}, {kElements});
    return b.reshape(b.matmul(square(first), square(right)), {kElements});
  });
}

TensorId RandomValues::choose_rows(GraphBuilder& b, TensorId x, TensorId) {
  const int64_t rows = std::min<int64_t>(12, elements_of(shape_));
  return change_first(b, x, rows, [&](TensorId first) {
    const TensorId table = b.reshape(first, {1, rows, 1});
    std::vector<int64_t> places(static_cast<size_t>(rows));
    if (random_.chance(50)) {
      for (int64_t& place : places) place = pick(0, rows - 1);
      return b.reshape(b.gather(table, b.constant(DType::kInt32, {1, rows}, places)), {rows});
    }
    std::iota(places.begin(), places.end(), 0);
    random_.shuffle(std::span(places));
    return b.reshape(b.scatter(table, b.constant(DType::kInt32, {1, rows}, places), table), {rows});
  });
}

}  // namespace npu::generator
