// SPDX-License-Identifier: Apache-2.0
#include "tests/system/sized/random_images.h"

#include <algorithm>
#include <string>
#include <vector>

#include "driver/graph/builder.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::Op;
using graph::Shape;
using graph::TensorId;

// INT8 values, grown layer by layer.
class Layers {
 public:
  explicit Layers(uint64_t seed) : random_(seed) {}

  graph::Graph run() {
    if (random_.chance(25)) {
      sequences();
    } else {
      images();
    }
    for (size_t i = 0; i < 3 && i < values_.size(); ++i) b_.output(values_[values_.size() - 1 - i]);
    return b_.build();
  }

 private:
  void images() {
    static constexpr int64_t kChannels[] = {3, 4, 8, 16, 32};
    const Shape shape = {random_.between(1, 2), random_.between(6, 24), random_.between(6, 24),
                         kChannels[random_.between(0, 4)]};
    for (int64_t i = random_.between(1, 2); i > 0; --i) {
      values_.push_back(b_.input("x" + std::to_string(i), DType::kInt8, shape));
    }
    for (int64_t i = random_.between(2, 9); i > 0; --i) grow();
    if (random_.chance(40)) remember();
  }

  void grow() {
    const TensorId x = any();
    switch (random_.between(0, 11)) {
      case 0:
      case 1:
      case 2:
        return window(x);
      case 3:
        return pool(x);
      case 4:
      case 5:
        return both(x);
      case 6:
        return rows(x);
      case 7:
        return values_.push_back(b_.reverse(x, axis()));
      case 8:
        return values_.push_back(
            b_.transpose(x, random_.chance(70) ? std::vector{0, 2, 1, 3} : std::vector{2, 0, 1, 3}));
      case 9: {
        std::vector<int64_t> padding(8);
        for (size_t i = 2; i < 6; ++i) padding[i] = random_.between(0, 2);
        return values_.push_back(b_.pad(x, padding, 3));
      }
      case 10:
        return values_.push_back(b_.table(x, numbers(256, -128, 127)));
      default:
        return values_.push_back(b_.concat({x, like(x)}, axis()));
    }
  }

  // [1, T, C]: the product of all rows with each other, as attention has it.
  void sequences() {
    const int64_t rows = random_.between(6, 40), channels = random_.between(1, 4) * 8;
    TensorId x = b_.input("x", DType::kInt8, {random_.between(1, 2), rows, channels});
    for (int64_t i = random_.between(1, 2); i > 0; --i) {
      const TensorId scores = b_.rescale(b_.matmul(x, b_.transpose(x, {0, 2, 1})), DType::kInt8, scale(38));
      const TensorId weights = b_.table(scores, numbers(256, 0, 127));
      const TensorId largest = b_.reduce(Op::kReduceMax, weights, 2);
      const TensorId mixed =
          b_.rescale(b_.matmul(b_.op(Op::kBitwiseXor, {weights, largest}), x), DType::kInt8, scale(37));
      x = b_.op(random_.chance(50) ? Op::kBitwiseOr : Op::kBitwiseAnd, {mixed, x});
      values_.push_back(x);
    }
    if (random_.chance(40)) values_.push_back(b_.reverse(x, 1));
    if (random_.chance(40)) values_.push_back(b_.reduce(Op::kReduceMin, x, 1));
  }

  void window(TensorId x) {
    const Shape shape = shape_of(x);
    graph::Convolution how;
    const int64_t kernel_y = kernel(shape[1], how, 0), kernel_x = kernel(shape[2], how, 1);
    how.input_zp = static_cast<double>(random_.between(-3, 3));
    if (random_.chance(35)) {
      const TensorId weights = b_.constant(DType::kInt8, {kernel_y, kernel_x, shape[3], 1},
                                           numbers(kernel_y * kernel_x * shape[3], -20, 20));
      const TensorId bias = b_.constant(DType::kInt32, {shape[3]}, numbers(shape[3], -500, 500));
      values_.push_back(b_.rescale(b_.depthwise_conv2d(x, weights, bias, how), DType::kInt8, scale(35)));
      return;
    }
    const int64_t channels = random_.between(1, 4) * 8;
    const TensorId weights = b_.constant(DType::kInt8, {channels, kernel_y, kernel_x, shape[3]},
                                         numbers(channels * kernel_y * kernel_x * shape[3], -9, 9));
    const TensorId bias = b_.constant(DType::kInt32, {channels}, numbers(channels, -500, 500));
    values_.push_back(b_.rescale(b_.conv2d(x, weights, bias, how), DType::kInt8, scale(36)));
  }

  // Of a window that leaves no rest. Padding is as even as it can be.
  int64_t kernel(int64_t size, graph::Convolution& how, size_t dim) {
    const int64_t kernel = random_.chance(30) ? 1 : random_.chance(70) ? 3 : std::min<int64_t>(size, 5);
    int64_t padding = kernel - 1;
    int32_t stride = 1;
    if (size > 8 && random_.chance(30)) {
      stride = 2;
      if ((size + padding - kernel) % stride != 0) ++padding;
    }
    how.stride[dim] = stride;
    how.pad[2 * dim] = static_cast<int32_t>(padding / 2);
    how.pad[2 * dim + 1] = static_cast<int32_t>(padding - padding / 2);
    return kernel;
  }

  void pool(TensorId x) {
    const bool halves = shape_of(x)[1] % 2 == 0 && shape_of(x)[2] % 2 == 0 && shape_of(x)[1] > 4 && shape_of(x)[2] > 4;
    const int32_t size = halves ? 2 : 3, stride = halves ? 2 : 1, pad = halves ? 0 : 1;
    if (random_.chance(50)) {
      values_.push_back(b_.max_pool2d(x, {size, size}, {stride, stride}, {pad, pad, pad, pad}));
    } else {
      values_.push_back(b_.avg_pool2d(x, {size, size}, {stride, stride}, {pad, pad, pad, pad}));
    }
  }

  void both(TensorId x) {
    static constexpr Op kOps[] = {Op::kBitwiseOr, Op::kBitwiseXor, Op::kBitwiseAnd};
    if (random_.chance(60)) return values_.push_back(b_.op(kOps[random_.between(0, 2)], {x, like(x)}));
    // As quantised networks add.
    const TensorId sum = b_.add(b_.rescale(x, DType::kInt32, scale(18)), b_.rescale(like(x), DType::kInt32, scale(19)));
    values_.push_back(b_.rescale(sum, DType::kInt8, scale(43)));
  }

  // A reduction, and what it is with all again.
  void rows(TensorId x) {
    static constexpr Op kOps[] = {Op::kReduceMax, Op::kReduceMin};
    const TensorId reduced = b_.reduce(kOps[random_.between(0, 1)], x, axis());
    values_.push_back(b_.op(Op::kBitwiseXor, {x, reduced}));
  }

  // A state that the largest values of the newest image change.
  void remember() {
    const TensorId x = values_.back();
    const int64_t channels = shape_of(x)[3];
    const TensorId state = b_.variable("largest", DType::kInt8, {1, 1, 1, channels}, numbers(channels, -9, 9));
    const TensorId y = b_.op(Op::kBitwiseXor, {x, b_.read(state)});
    TensorId largest = y;
    for (const int32_t axis : {0, 1, 2}) largest = b_.reduce(Op::kReduceMax, largest, axis);
    b_.write(state, largest);
    values_.push_back(y);
  }

  // The newest is the likeliest.
  TensorId any() {
    if (random_.chance(60)) return values_.back();
    return values_[static_cast<size_t>(random_.between(0, static_cast<int64_t>(values_.size()) - 1))];
  }
  // Of the same shape; the same where there is no other.
  TensorId like(TensorId x) {
    for (const TensorId id : values_) {
      if (id != x && shape_of(id) == shape_of(x)) return id;
    }
    return b_.clamp(x, -50, 50);
  }
  int32_t axis() { return static_cast<int32_t>(random_.between(1, 3)); }
  [[nodiscard]] Shape shape_of(TensorId id) const { return b_.tensor(id).shape; }
  static graph::Rescaling scale(double shift) { return {.multiplier = {1 << 30}, .shift = {shift}}; }
  std::vector<double> numbers(int64_t count, int64_t low, int64_t high) {
    std::vector<double> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(random_.between(low, high)));
    return all;
  }

  cosim::Random random_;
  graph::GraphBuilder b_;
  std::vector<TensorId> values_;
};

}  // namespace

graph::Graph random_images(uint64_t seed) { return Layers(seed).run(); }

void open_images(graph::Graph& graph, cosim::Random& random) {
  graph::Block& block = graph.main();
  std::vector<bool> open(4);
  for (size_t d = 0; d < open.size(); ++d) open[d] = random.chance(70);
  const auto is_input = [&](TensorId id) {
    return std::find(block.inputs.begin(), block.inputs.end(), id) != block.inputs.end();
  };
  for (TensorId id = 0; id < block.tensors.size(); ++id) {
    graph::Tensor& tensor = block.tensors[id];
    if (tensor.has_data || tensor.variable || tensor.type == DType::kShape) continue;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      const bool leaves = !is_input(id) || (d + 1 < tensor.shape.size() && open[d]);
      if (leaves && tensor.shape[d] > 1) tensor.shape[d] = -1;
    }
  }
}

}  // namespace npu::test
