// SPDX-License-Identifier: Apache-2.0
#include "tests/system/official/float_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "driver/graph/builder.h"
#include "driver/graph/float_format.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Shape;
using graph::TensorId;

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {
    static constexpr DType kTypes[] = {DType::kFp32, DType::kFp32, DType::kFp16, DType::kBf16};
    type_ = kTypes[pick(0, 3)];
  }

  FloatGraph make() {
    for (int i = 0; i < 2; ++i) {
      tensors_.push_back(b_.input("in" + std::to_string(i), type_, {pick(1, 2), pick(1, 5), pick(1, 5), pick(1, 4)}));
    }
    for (int i = pick(4, 14); i > 0; --i) grow();
    exact(tensors_.back());
    for (int i = pick(1, 3); i > 0; --i) exact(any());
    for (int i = pick(1, 4); i > 0; --i) add_function(any());
    for (int i = pick(1, 3); i > 0; --i) add_sum(any());
    return {b_.build(), tolerances_};
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  double number() { return std::uniform_real_distribution<double>(-4, 4)(random_); }
  TensorId any() { return tensors_[static_cast<size_t>(pick(0, static_cast<int>(tensors_.size()) - 1))]; }
  [[nodiscard]] const Shape& shape(TensorId id) const { return b_.tensor(id).shape; }
  TensorId add(TensorId id) {
    tensors_.push_back(id);
    return id;
  }

  std::vector<double> numbers(int64_t count) {
    std::vector<double> values(static_cast<size_t>(count));
    std::generate(values.begin(), values.end(), [&] { return number(); });
    return values;
  }
  static int64_t product(const Shape& dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  }
  TensorId constant(Shape dims) {
    const std::vector<double> values = numbers(product(dims));
    return b_.constant(type_, std::move(dims), values);
  }
  TensorId filled(const Shape& dims, double value) { return b_.constant(type_, dims, std::vector<double>{value}); }
  // Broadcasts to the shape of `id`.
  TensorId partner(TensorId id) {
    Shape dims = shape(id);
    for (const TensorId other : tensors_) {
      if (other != id && shape(other) == dims && chance(50)) return other;
    }
    for (int64_t& d : dims) {
      if (chance(25)) d = 1;
    }
    return constant(dims);
  }
  graph::Attributes nan_mode() {
    graph::Attributes a;
    a.nan_mode = chance(50) ? graph::NanMode::kPropagate : graph::NanMode::kIgnore;
    return a;
  }

  void exact(TensorId id) { output(id, {}, 0); }
  void output(TensorId id, const std::string& bound, double factor) {
    const std::string name = b_.tensor(id).name;
    const auto known =
        std::find_if(tolerances_.begin(), tolerances_.end(), [&](const auto& t) { return t.output == name; });
    if (known != tolerances_.end()) return;
    b_.output(id);
    tolerances_.push_back({name, bound, factor});
  }
  // One unit in the last place of 1.
  [[nodiscard]] static double unit(DType type) { return std::ldexp(1, -graph::float_format(type)->mantissa_bits); }

  void grow() {
    const TensorId a = any();
    switch (pick(0, 13)) {
      case 0:
        return void(add(b_.add(a, partner(a))));
      case 1:
        return void(add(b_.sub(partner(a), a)));
      case 2:
        return void(add(b_.mul(a, partner(a))));
      case 3:
        return void(add(b_.op(chance(50) ? Op::kMaximum : Op::kMinimum, {a, partner(a)}, nan_mode())));
      case 4: {
        static constexpr Op kOps[] = {Op::kAbs, Op::kCeil, Op::kFloor, Op::kIdentity};
        return void(add(b_.op(kOps[pick(0, 3)], {a})));
      }
      case 5:
        return void(add(b_.negate(a)));
      case 6: {
        graph::Attributes limits = nan_mode();
        limits.min_val = graph::encode(type_, 1, {number() - 4});
        limits.max_val = graph::encode(type_, 1, {number() + 4});
        return void(add(b_.op(Op::kClamp, {a}, limits)));
      }
      case 7: {
        static constexpr Op kOps[] = {Op::kGreater, Op::kGreaterEqual, Op::kEqual};
        const TensorId condition = b_.op(kOps[pick(0, 2)], {a, partner(a)});
        exact(condition);
        return void(add(b_.select(condition, a, partner(a))));
      }
      case 8:
        return add_casts(a);
      case 9: {
        const auto axis = static_cast<int32_t>(pick(0, 3));
        if (chance(30)) return exact(b_.op(Op::kArgMax, {a}, with_axis(nan_mode(), axis)));
        return void(add(b_.op(chance(50) ? Op::kReduceMax : Op::kReduceMin, {a}, with_axis(nan_mode(), axis))));
      }
      case 10: {
        graph::Attributes pooling = nan_mode();
        pooling.kernel = {pick(1, std::min(3, static_cast<int>(shape(a)[1]))),
                          pick(1, std::min(3, static_cast<int>(shape(a)[2])))};
        pooling.stride = {1, 1};
        pooling.pad = {0, 0, 0, 0};
        return void(add(b_.op(Op::kMaxPool2d, {a}, pooling)));
      }
      default:
        return add_move(a);
    }
  }

  static graph::Attributes with_axis(graph::Attributes a, int32_t axis) {
    a.axis = axis;
    return a;
  }

  // To other types and back; integers only where no NaN and nothing too large comes.
  void add_casts(TensorId a) {
    const DType other = type_ == DType::kFp32 ? (chance(50) ? DType::kFp16 : DType::kBf16) : DType::kFp32;
    const TensorId there = b_.cast(a, other);
    exact(there);
    add(b_.cast(there, type_));
    exact(b_.cast(a, chance(50) ? DType::kFp8E4M3 : DType::kFp8E5M2));
    const TensorId finite = bounded(a, -1000, 1000);
    const TensorId whole = b_.cast(finite, chance(50) ? DType::kInt32 : DType::kInt8);
    exact(whole);
    add(b_.cast(whole, type_));
  }
  TensorId bounded(TensorId a, double low, double high) {
    graph::Attributes limits;
    limits.nan_mode = graph::NanMode::kIgnore;
    limits.min_val = graph::encode(type_, 1, {low});
    limits.max_val = graph::encode(type_, 1, {high});
    return b_.op(Op::kClamp, {a}, limits);
  }

  void add_move(TensorId a) {
    const auto axis = static_cast<int32_t>(pick(0, 3));
    switch (pick(0, 5)) {
      case 0: {
        std::vector<int32_t> order = {0, 1, 2, 3};
        std::shuffle(order.begin(), order.end(), random_);
        return void(add(b_.transpose(a, order)));
      }
      case 1:
        return void(add(b_.reverse(a, axis)));
      case 2:
        if (product(shape(a)) > 300) return;
        return void(add(b_.concat({a, a}, axis)));
      case 3:
        if (product(shape(a)) > 300) return;
        return void(add(b_.pad(a, {0, 0, pick(0, 1), pick(0, 2), 0, 1, 0, 0}, number())));
      case 4: {
        const Shape dims = shape(a);
        return void(add(b_.reshape(a, {dims[0], dims[2], dims[1], dims[3]})));
      }
      default: {
        Shape size = shape(a);
        size[static_cast<size_t>(axis)] = pick(1, static_cast<int>(size[static_cast<size_t>(axis)]));
        return void(add(b_.slice(a, {0, 0, 0, 0}, size)));
      }
    }
  }

  // A few units of the last place, by which libraries differ. POW may be exp(y * log(x)), whose error grows with the
  // exponent, here up to 17: the specification allows more than 3 + 2 * 17 units.
  void add_function(TensorId a) {
    static constexpr Op kOps[] = {Op::kExp, Op::kLog, Op::kTanh,       Op::kSigmoid, Op::kErf,
                                  Op::kSin, Op::kCos, Op::kReciprocal, Op::kRsqrt,   Op::kPow};
    const Op op = kOps[pick(0, 9)];
    TensorId x = bounded(a, -60, 60);
    if (op == Op::kLog || op == Op::kRsqrt) x = b_.op(Op::kAbs, {x});
    TensorId y = 0;
    if (op == Op::kPow) {
      x = b_.maximum(b_.op(Op::kAbs, {x}), filled({1, 1, 1, 1}, 0.25));
      y = b_.op(op, {x, filled({1, 1, 1, 1}, number())});
    } else {
      y = b_.op(op, {x});
    }
    TensorId bound = y;
    if (op == Op::kTanh || op == Op::kLog) {
      // The specification allows half a unit of 1 at results near 0, where terms near 1 cancel out.
      bound = b_.maximum(b_.op(Op::kAbs, {y}), filled({1, 1, 1, 1}, 0.125));
    }
    output_both(y, bound, (op == Op::kPow ? 32 : 4) * unit(type_));
  }

  // Together with the same sum over magnitudes.
  void add_sum(TensorId a) {
    const TensorId x = bounded(a, -1000, 1000), size = b_.op(Op::kAbs, {x});
    const Shape dims = shape(a);
    TensorId y = 0, bound = 0;
    int64_t terms = 0;
    const auto both = [&](auto sum) {
      y = sum(x, false);
      bound = sum(size, true);
    };
    switch (pick(0, 4)) {
      case 0: {
        const auto axis = static_cast<int32_t>(pick(0, 3));
        terms = dims[static_cast<size_t>(axis)];
        both([&](TensorId in, bool) { return b_.reduce(Op::kReduceSum, in, axis); });
        break;
      }
      case 1: {
        const int64_t outputs = pick(1, 3), kh = std::min<int64_t>(2, dims[1]), kw = std::min<int64_t>(2, dims[2]);
        terms = kh * kw * dims[3] + 1;
        const std::vector<double> weights = numbers(outputs * kh * kw * dims[3]), biases = numbers(outputs);
        both([&](TensorId in, bool magnitude) {
          return b_.conv2d(in, b_.constant(type_, {outputs, kh, kw, dims[3]}, made(weights, magnitude)),
                           b_.constant(type_, {outputs}, made(biases, magnitude)));
        });
        break;
      }
      case 2: {
        const int64_t kh = std::min<int64_t>(2, dims[1]);
        terms = kh + 1;
        const std::vector<double> weights = numbers(kh * dims[3] * 2), biases = numbers(dims[3] * 2);
        both([&](TensorId in, bool magnitude) {
          return b_.depthwise_conv2d(in, b_.constant(type_, {kh, 1, dims[3], 2}, made(weights, magnitude)),
                                     b_.constant(type_, {dims[3] * 2}, made(biases, magnitude)));
        });
        break;
      }
      case 3: {
        terms = dims[3];
        const int64_t columns = pick(1, 4);
        const std::vector<double> right = numbers(dims[0] * dims[3] * columns);
        const DType result = type_ == DType::kFp16 && chance(50) ? DType::kFp16 : DType::kFp32;
        both([&](TensorId in, bool magnitude) {
          return b_.matmul(b_.reshape(in, {dims[0], dims[1] * dims[2], dims[3]}),
                           b_.constant(type_, {dims[0], dims[3], columns}, made(right, magnitude)), 0, 0, result);
        });
        break;
      }
      default: {
        const auto kernel = static_cast<int32_t>(std::min<int64_t>(2, dims[1]));
        terms = kernel + 1;
        both([&](TensorId in, bool) { return b_.avg_pool2d(in, {kernel, 1}, {1, 1}, {0, 0, 0, 0}); });
        break;
      }
    }
    // No order of additions in the result's type or a wider one is farther off.
    output_both(y, bound, static_cast<double>(terms + 2) * unit(b_.tensor(y).type));
  }
  void output_both(TensorId y, TensorId bound, double factor) {
    output(bound, b_.tensor(bound).name, factor);
    output(y, b_.tensor(bound).name, factor);
  }
  static std::vector<double> made(std::vector<double> values, bool magnitude) {
    if (magnitude) std::transform(values.begin(), values.end(), values.begin(), [](double v) { return std::fabs(v); });
    return values;
  }

  std::mt19937 random_;
  DType type_ = DType::kFp32;
  GraphBuilder b_;
  std::vector<TensorId> tensors_;
  std::vector<Tolerance> tolerances_;
};

}  // namespace

FloatGraph float_graph(uint32_t seed) { return Maker(seed).make(); }

}  // namespace npu::test
