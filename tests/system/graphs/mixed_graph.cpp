// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/mixed_graph.h"

#include <limits>
#include <random>
#include <string>

#include "driver/graph/builder.h"
#include "driver/graph/float_format.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::test {
namespace {

using graph::Value;

Value random_floats(graph::DType type, const graph::Shape& shape, std::mt19937& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kCorners[] = {kInfinity, -kInfinity, kNan, -0.0, 1e-39, -1e-7, 65'504, -3e38};
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int kind = pick(0, 3);
  std::vector<double> numbers;
  const int64_t count = graph::element_count(shape).value();
  for (int64_t i = 0; i < count; ++i) {
    const double other = std::normal_distribution<double>(0, 4)(random);
    numbers.push_back(kind == 0 ? pick(-8, 8) : other);
    if (kind == 3 && pick(0, 5) == 0) numbers.back() = kCorners[pick(0, 7)];
  }
  return {type, shape, graph::encode(type, count, numbers)};
}

class ResidualGraph {
 public:
  explicit ResidualGraph(uint32_t seed) : random_(seed), large_(seed % 8 == 0) {}

  graph::Graph make() {
    using graph::DType;
    constexpr DType kTypes[] = {DType::kFp16, DType::kBf16, DType::kFp32, DType::kFp8E4M3, DType::kFp8E5M2};
    const int64_t side = large_ ? pick(30, 60) : pick(1, 9);
    channels_ = large_ ? pick(8, 40) : pick(1, 24);
    shape_ = {pick(1, 2), side, side + pick(0, 2), channels_};
    if (chance(25)) shape_ = {shape_[0], shape_[1] * shape_[2], channels_};
    graph::TensorId x = b_.input("x", kTypes[pick(0, 4)], shape_);
    for (int64_t left = pick(1, 3); left > 0; --left) x = layer(x);
    b_.output(x);
    return b_.build();
  }

 private:
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool chance(int64_t percent) { return pick(1, 100) <= percent; }
  [[nodiscard]] int64_t product() const { return graph::element_count(shape_).value(); }
  [[nodiscard]] graph::DType type(graph::TensorId id) const { return b_.tensor(id).type; }

  graph::TensorId numbers(graph::DType type, const graph::Shape& dims) {
    std::normal_distribution<double> number(0, 1);
    std::vector<double> values(static_cast<size_t>(graph::element_count(dims).value()));
    for (double& value : values) value = number(random_);
    return b_.constant(type, dims, values);
  }

  // Of the source's size; of matrices their product with another one.
  graph::TensorId convolution(graph::TensorId x) {
    const graph::DType from = type(x);
    const bool bytes = from == graph::DType::kFp8E4M3 || from == graph::DType::kFp8E5M2;
    const graph::DType to = bytes ? graph::DType::kFp16 : from;
    const int64_t kernel = chance(50) ? 1 : 3;
    graph::Convolution how;
    how.pad.assign(4, static_cast<int32_t>(kernel / 2));
    how.acc_type = to == graph::DType::kFp16 ? to : graph::DType::kFp32;
    if (shape_.size() == 3) {
      const graph::DType sum = from == graph::DType::kBf16 ? graph::DType::kFp32 : to;
      return b_.matmul(x, numbers(from, {shape_[0], channels_, channels_}), 0, 0, sum);
    }
    const graph::TensorId bias = numbers(to, {channels_});
    if (chance(40)) return b_.depthwise_conv2d(x, numbers(from, {kernel, kernel, channels_, 1}), bias, how);
    return b_.conv2d(x, numbers(from, {channels_, kernel, kernel, channels_}), bias, how);
  }

  graph::TensorId other(graph::TensorId x, graph::DType to) {
    const int64_t kind = type(x) == to ? pick(0, 3) : pick(0, 1);
    if (kind == 0) return b_.input("added" + std::to_string(inputs_++), to, shape_);
    if (kind == 1) return convolution(x);
    return kind == 2 ? x : b_.op(graph::Op::kAbs, {x});
  }

  graph::TensorId layer(graph::TensorId x) {
    const graph::TensorId value = convolution(x), added = other(x, type(value));
    const graph::Shape shape = chance(25) ? graph::Shape{product() / channels_, channels_} : shape_;
    const auto shaped = [&](graph::TensorId id) { return shape == shape_ ? id : b_.reshape(id, shape); };
    graph::TensorId sum = chance(50) ? b_.add(shaped(value), shaped(added)) : b_.add(shaped(added), shaped(value));
    if (shape != shape_) sum = b_.reshape(sum, shape_);
    return chance(60) ? b_.clamp(sum, chance(70) ? 0 : -3, 6) : sum;
  }

  std::mt19937 random_;
  const bool large_;
  graph::GraphBuilder b_;
  graph::Shape shape_;
  int64_t channels_ = 1;
  int inputs_ = 0;
};

}  // namespace

graph::Graph residual_graph(uint32_t seed) { return ResidualGraph(seed).make(); }

graph::Graph mixed_graph(uint32_t seed) {
  return compiler::testing::random_graph(seed, seed % 10 == 0 ? 12 : 4, compiler::testing::Numbers::kMixed);
}

std::vector<std::vector<Value>> mixed_inputs(const graph::Graph& graph, uint32_t seed, int invocations) {
  std::mt19937 random(seed);
  std::vector<std::vector<Value>> inputs(static_cast<size_t>(invocations));
  for (std::vector<Value>& values : inputs) {
    for (const graph::TensorId id : graph.main().inputs) {
      const graph::Tensor& tensor = graph.main().tensors[id];
      values.push_back(graph::float_format(tensor.type)
                           ? random_floats(tensor.type, tensor.shape, random)
                           : compiler::testing::random_value(tensor.type, tensor.shape, random));
    }
  }
  return inputs;
}

}  // namespace npu::test
