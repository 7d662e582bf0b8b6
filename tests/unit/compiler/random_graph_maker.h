// SPDX-License-Identifier: Apache-2.0
// Grows one random graph, operator by operator. Sizes of 1 are frequent: the compiler drops, merges and repeats them.
#pragma once

#include <random>
#include <vector>

#include "driver/graph/builder.h"

namespace npu::compiler::testing {

class RandomGraph {
 public:
  RandomGraph(uint32_t seed, int max_dim) : random_(seed), max_dim_(max_dim) {}

  graph::Graph make();

 private:
  using DType = graph::DType;
  using Shape = graph::Shape;
  using TensorId = graph::TensorId;

  // How windows move over an image; what the last step leaves over is padding.
  struct Windows {
    std::vector<int32_t> kernel, stride, dilation, pad;  // pad: before and behind, of each dimension
  };

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::vector<double> numbers(int64_t count, int low, int high);
  DType any_type();
  int any_size(int limit) { return chance(10) ? 1 : pick(1, limit); }
  Shape any_shape(int limit);

  TensorId add(TensorId id);
  TensorId any();
  [[nodiscard]] Shape shape(TensorId id) const { return b_.tensor(id).shape; }
  [[nodiscard]] DType type(TensorId id) const { return b_.tensor(id).type; }
  [[nodiscard]] int rank(TensorId id) const { return static_cast<int>(shape(id).size()); }
  static int64_t product(const Shape& dims);

  // A tensor as another type and shape, by RESCALE or CAST, SLICE, TILE and RESHAPE.
  TensorId as_type(TensorId id, DType to);
  TensorId as_shape(TensorId id, const Shape& to);
  TensorId any_as(DType to, const Shape& dims) { return as_shape(as_type(any(), to), dims); }
  // Some tensor of the type and shape, or one that broadcasts to it.
  TensorId partner(DType to, Shape dims);

  void make_variable(int index);
  void grow();
  void grow_binary();
  void grow_logical();
  void grow_shift_or_division();
  void grow_unary();
  void grow_narrow();
  void grow_rescale();
  void grow_view();
  void grow_transpose(TensorId a);
  void grow_slice(TensorId a);
  void grow_layout();
  void grow_concat(TensorId a);
  void grow_rows(TensorId a);
  void grow_reduction();
  Shape image();
  // Over all dimensions but the first and the last.
  Windows windows(const Shape& image, bool pools);
  void grow_pool();
  // Weights [OC, ...], constant or not, and biases, with zero points in `how`.
  struct Weights {
    TensorId weight = 0, bias = 0;
  };
  Weights weights(const Shape& dims, bool bytes, graph::Convolution& how);
  void grow_convolution();
  void grow_resize();
  void grow_transpose_conv();
  void grow_conv3d();
  void finish(TensorId sum);
  void grow_matmul();
  void grow_variable();

  std::mt19937 random_;
  int max_dim_;
  graph::GraphBuilder b_;
  std::vector<TensorId> tensors_, variables_;
};

}  // namespace npu::compiler::testing
