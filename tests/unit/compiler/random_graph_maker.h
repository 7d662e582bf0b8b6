// SPDX-License-Identifier: Apache-2.0
// Grows one random graph, operator by operator. Sizes of 1 are frequent: the compiler drops, merges and repeats them.
#pragma once

#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driver/graph/builder.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::compiler::testing {

class RandomGraph {
 public:
  RandomGraph(uint32_t seed, int max_dim, Numbers numbers)
      : random_(seed), max_dim_(max_dim), mixed_(numbers == Numbers::kMixed) {}

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
  TensorId any_to_move();
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
  void grow_any(std::span<void (RandomGraph::*const)()> choices);
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
  struct Resizing {
    Shape dims;  // of the input
    std::vector<int64_t> scale, offset, border;
  };
  Resizing any_resizing();
  void grow_resize();
  void grow_transpose_conv();
  void grow_conv3d();
  void finish(TensorId sum);
  void grow_matmul();
  void grow_variable();

  // Floating point: random_graph_floats.cpp. Reals are the formats that operators compute with; FP8 is not.
  [[nodiscard]] static bool is_float(DType type);
  [[nodiscard]] bool is_float(TensorId id) const { return is_float(type(id)); }
  DType any_float();
  DType any_real();
  std::vector<double> reals(int64_t count);
  TensorId constant_reals(DType type, const Shape& dims) { return b_.constant(type, dims, reals(product(dims))); }
  // By CASTs that the specification has.
  TensorId cast_to(TensorId id, DType to);
  graph::Attributes any_nan_mode();
  void grow_float();
  void grow_exact_float();
  void grow_real_binary();
  void grow_real_choice();
  void grow_real_unary();
  void grow_real_function();
  void grow_real_cast();
  void grow_real_reduction(TensorId a);
  void grow_real_reduction();
  // random_graph_float_images.cpp
  void grow_real_pool();
  void grow_real_convolution();
  void grow_real_transpose_conv();
  void grow_real_conv3d();
  void finish_real(TensorId sum);
  void grow_real_matmul();
  void grow_real_resize();
  void grow_fourier();

  // Control flow: random_graph_control.cpp. A block is a graph of its own, whose inputs are the operands.
  using Operands = std::vector<std::pair<DType, Shape>>;
  RandomGraph(RandomGraph& outer, std::string region, const Operands& operands);
  void grow_control();
  void grow_cond_if();
  void grow_while_loop();
  std::string branch(const Operands& operands, const Operands& results);
  std::vector<TensorId> any_operands(Operands& kinds);

  std::mt19937 random_;
  int max_dim_;
  bool mixed_;
  int depth_ = 0;  // of the blocks of control flow that this one lies in
  std::string region_ = "main";
  int blocks_ = 0;  // named by this block
  graph::GraphBuilder b_{region_};
  std::vector<TensorId> tensors_, variables_;
};

}  // namespace npu::compiler::testing
