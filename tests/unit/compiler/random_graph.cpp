// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/random_graph.h"

#include <algorithm>
#include <random>
#include <string>

#include "driver/graph/builder.h"

namespace npu::compiler::testing {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Rescaling;
using graph::RoundingMode;
using graph::Shape;
using graph::TensorId;

class RandomGraph {
 public:
  RandomGraph(uint32_t seed, int max_dim) : random_(seed), max_dim_(max_dim) {}

  graph::Graph make() {
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

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  DType any_type() {
    static constexpr DType kTypes[] = {DType::kInt8, DType::kInt8, DType::kInt32, DType::kInt16, DType::kBool};
    return kTypes[pick(0, 4)];
  }
  Shape any_shape(int limit) {
    Shape shape;
    for (int rank = pick(0, 4); rank > 0; --rank) shape.push_back(pick(1, limit));
    return shape;
  }

  TensorId add(TensorId id) {
    tensors_.push_back(id);
    return id;
  }
  // Later tensors are likelier, so that chains grow long.
  TensorId any() {
    const auto last = static_cast<int>(tensors_.size()) - 1;
    return tensors_[static_cast<size_t>(chance(60) ? std::max(0, last - pick(0, 2)) : pick(0, last))];
  }
  Shape shape(TensorId id) const { return b_.tensor(id).shape; }
  DType type(TensorId id) const { return b_.tensor(id).type; }
  int rank(TensorId id) const { return static_cast<int>(shape(id).size()); }

  void make_variable(int index) {
    const DType type = chance(70) ? DType::kInt8 : DType::kInt32;
    const Shape dims = any_shape(4);  // persistent SRAM is small
    variables_.push_back(b_.variable("state" + std::to_string(index), type, dims, std::vector<double>{1}));
  }

  // A tensor as another type and shape, by RESCALE or CAST, SLICE, TILE and RESHAPE.
  TensorId as_type(TensorId id, DType to) {
    if (type(id) == to) return id;
    if (to == DType::kBool || type(id) == DType::kBool) return b_.cast(id, to);
    Rescaling how;
    how.multiplier = {static_cast<double>(pick(1 << 29, 1 << 30))};
    how.shift = {static_cast<double>(pick(30, 40))};
    how.rounding = chance(50) ? RoundingMode::kDoubleRound : RoundingMode::kSingleRound;
    if (type(id) == DType::kInt8) how.input_zp = pick(-20, 20);
    if (to == DType::kInt8) how.output_zp = pick(-20, 20);
    return b_.rescale(id, to, how);
  }
  TensorId as_shape(TensorId id, const Shape& to) {
    const int64_t want = product(to), have = product(shape(id));
    TensorId flat = b_.reshape(id, {have});
    if (have < want) flat = b_.tile(flat, {(want + have - 1) / have});
    if (product(shape(flat)) > want)
      flat = b_.slice(flat, {pick(0, static_cast<int>(product(shape(flat)) - want))}, {want});
    return shape(flat) == to ? flat : b_.reshape(flat, to);
  }
  static int64_t product(const Shape& dims) {
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    return count;
  }
  // Some tensor of the type and shape, or one that broadcasts to it.
  TensorId partner(DType to, Shape dims) {
    for (int64_t& d : dims) {
      if (chance(15)) d = 1;
    }
    if (chance(25)) {
      std::vector<double> values;
      for (int64_t i = product(dims); i > 0; --i) values.push_back(to == DType::kBool ? pick(0, 1) : pick(-100, 100));
      if (chance(50)) values.assign(values.size(), values[0]);
      return b_.constant(to, dims, values);
    }
    return as_shape(as_type(any(), to), dims);
  }

  void grow() {
    switch (pick(0, 11)) {
      case 0:
      case 1:
      case 2:
        return grow_elementwise();
      case 3:
        return grow_narrow();
      case 4:
      case 5:
        return grow_view();
      case 6:
        return grow_layout();
      case 7:
        return grow_reduction();
      case 8:
        return grow_image();
      case 9:
        return grow_matmul();
      default:
        return grow_variable();
    }
  }

  void grow_elementwise() {
    static constexpr Op kOps[] = {Op::kAdd,        Op::kSub,     Op::kMaximum, Op::kMinimum,
                                  Op::kBitwiseXor, Op::kGreater, Op::kEqual};
    const TensorId a = as_type(any(), DType::kInt32);
    const int which = pick(0, 8);
    if (which == 7) {
      add(b_.mul(as_type(a, DType::kInt8), partner(DType::kInt8, shape(a))));
    } else if (which == 8) {
      add(b_.select(partner(DType::kBool, shape(a)), a, partner(DType::kInt32, shape(a))));
    } else if (which < 2 || which > 4) {
      add(b_.op(kOps[which], {a, partner(DType::kInt32, shape(a))}));
    } else {
      const Op op = kOps[which];
      const TensorId other = partner(DType::kInt32, shape(a));
      add(op == Op::kMaximum   ? b_.maximum(a, other)
          : op == Op::kMinimum ? b_.minimum(a, other)
                               : b_.op(op, {other, a}));
    }
  }

  void grow_narrow() {
    const TensorId a = as_type(any(), DType::kInt8);
    switch (pick(0, 3)) {
      case 0: {
        const int low = pick(-120, 100);
        add(b_.clamp(a, low, pick(low, 127)));
        break;
      }
      case 1: {
        std::vector<double> values;
        for (int i = 0; i < 256; ++i) values.push_back(pick(-128, 127));
        add(b_.table(a, values));
        break;
      }
      case 2:
        add(b_.negate(a, pick(-9, 9), pick(-9, 9)));
        break;
      default: {
        Rescaling how;
        how.output_unsigned = chance(50);
        how.input_unsigned = !how.output_unsigned;
        add(b_.rescale(a, DType::kInt8, how));
      }
    }
  }

  void grow_view() {
    const TensorId a = any();
    if (rank(a) == 0) return;
    const int axis = pick(0, rank(a) - 1);
    switch (pick(0, 4)) {
      case 0: {
        std::vector<int32_t> perms(shape(a).size());
        for (size_t i = 0; i < perms.size(); ++i) perms[i] = static_cast<int32_t>(i);
        std::shuffle(perms.begin(), perms.end(), random_);
        add(b_.transpose(a, perms));
        break;
      }
      case 1:
        add(b_.reverse(a, axis));
        break;
      case 2: {
        std::vector<int64_t> start(shape(a).size()), size = shape(a);
        for (size_t i = 0; i < size.size(); ++i) {
          start[i] = pick(0, static_cast<int>(size[i]) - 1);
          size[i] = pick(1, static_cast<int>(size[i] - start[i]));
        }
        add(b_.slice(a, start, size));
        break;
      }
      case 3: {
        Shape dims = shape(a);
        dims.insert(dims.begin() + pick(0, rank(a)), 1);
        if (dims.size() < 5) add(b_.reshape(a, dims));
        break;
      }
      default:
        add(b_.reshape(a, {product(shape(a))}));
    }
  }

  void grow_layout() {
    const TensorId a = any();
    if (rank(a) == 0 || product(shape(a)) > 600) return;
    const int axis = pick(0, rank(a) - 1);
    switch (pick(0, 3)) {
      case 0: {
        std::vector<int64_t> padding;
        for (int i = 0; i < 2 * rank(a); ++i) padding.push_back(pick(0, 2));
        add(b_.pad(a, padding, type(a) == DType::kBool ? 1 : pick(-5, 5)));
        break;
      }
      case 1: {
        std::vector<int64_t> multiples(shape(a).size(), 1);
        multiples[static_cast<size_t>(axis)] = pick(1, 3);
        add(b_.tile(a, multiples));
        break;
      }
      default: {
        std::vector<TensorId> parts = {a};
        for (int i = pick(0, 2); i > 0; --i) {
          Shape dims = shape(a);
          dims[static_cast<size_t>(axis)] = pick(1, 3);
          parts.push_back(chance(20) ? a : as_shape(as_type(any(), type(a)), dims));
        }
        std::shuffle(parts.begin(), parts.end(), random_);
        add(b_.concat(parts, axis));
      }
    }
  }

  void grow_reduction() {
    const TensorId a = any();
    if (rank(a) == 0) return;
    const int axis = pick(0, rank(a) - 1);
    if (type(a) == DType::kBool) {
      add(b_.reduce(chance(50) ? Op::kReduceAll : Op::kReduceAny, a, axis));
    } else if (type(a) == DType::kInt32) {
      add(b_.reduce(chance(50) ? Op::kReduceSum : Op::kReduceMin, a, axis));
    } else if (chance(50) || rank(a) < 2) {
      add(b_.reduce(Op::kReduceMax, a, axis));
    } else {
      add(b_.argmax(a, axis));
    }
  }

  std::vector<double> numbers(int64_t count, int low, int high) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(pick(low, high));
    return values;
  }

  void grow_image() {
    const int64_t channels = pick(1, 3);
    const TensorId a = as_shape(as_type(any(), DType::kInt8), {pick(1, 2), pick(1, 4), pick(1, 4), channels});
    if (chance(25)) return void(add(b_.max_pool2d(a, {1, 1}, {1, 1}, {0, 0, 0, 0})));
    graph::Convolution how;
    how.input_zp = pick(-9, 9);
    const int kernel = chance(50) ? 1 : 2;
    how.pad = {kernel - 1, 0, 0, kernel - 1};
    TensorId sum = 0;
    if (chance(60)) {
      const int64_t out = pick(1, 3);
      sum = b_.conv2d(a,
                      b_.constant(DType::kInt8, {out, kernel, kernel, channels},
                                  numbers(out * kernel * kernel * channels, -50, 50)),
                      b_.constant(DType::kInt32, {out}, numbers(out, -999, 999)), how);
    } else {
      sum = b_.depthwise_conv2d(
          a, b_.constant(DType::kInt8, {kernel, kernel, channels, 2}, numbers(kernel * kernel * channels * 2, -50, 50)),
          b_.constant(DType::kInt32, {1}, numbers(1, -999, 999)), how);
    }
    finish(sum);
  }

  // The output stage of a sum, in several shapes.
  void finish(TensorId sum) {
    if (chance(10)) return void(add(sum));
    if (chance(10)) add(sum);
    if (chance(30)) sum = b_.reshape(sum, {product(shape(sum)) / shape(sum).back(), shape(sum).back()});
    Rescaling how;
    how.per_channel = chance(60);
    const int64_t entries = how.per_channel ? shape(sum).back() : 1;
    how.multiplier = numbers(entries, 1 << 29, 1 << 30);
    how.shift = numbers(entries, 34, 38);
    how.output_zp = pick(-20, 20);
    how.rounding = RoundingMode::kDoubleRound;
    TensorId result = b_.rescale(sum, DType::kInt8, how);
    if (chance(50)) result = b_.clamp(result, pick(-100, 0), pick(1, 100));
    add(result);
  }

  void grow_matmul() {
    const int64_t n = pick(1, 2), h = pick(1, 3), c = pick(1, 4), w = pick(1, 3);
    TensorId right = as_shape(as_type(any(), DType::kInt8), chance(50) ? Shape{n, c, w} : Shape{n, w, c});
    if (shape(right)[1] != c || shape(right)[2] != w) right = b_.transpose(right, {0, 2, 1});
    finish(b_.matmul(as_shape(as_type(any(), DType::kInt8), {n, h, c}), right, pick(-5, 5), pick(-5, 5)));
  }

  void grow_variable() {
    if (variables_.empty()) return;
    const TensorId variable = variables_[static_cast<size_t>(pick(0, static_cast<int>(variables_.size()) - 1))];
    if (chance(55)) {
      add(b_.read(variable));
    } else {
      b_.write(variable, as_shape(as_type(any(), type(variable)), shape(variable)));
    }
  }

  std::mt19937 random_;
  int max_dim_;
  GraphBuilder b_;
  std::vector<TensorId> tensors_, variables_;
};

}  // namespace

graph::Graph random_graph(uint32_t seed, int max_dim) { return RandomGraph(seed, max_dim).make(); }

}  // namespace npu::compiler::testing
