// SPDX-License-Identifier: Apache-2.0
// Builds graphs in a few lines, for tests and tools. Shapes and types of results come from the table of operators.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::graph {

// The bytes of a constant as in a file (packed INT4 and INT48). Integers saturate nowhere: values must fit. Floats
// round to nearest, ties to even. One value fills the whole shape; else there is one for each element.
[[nodiscard]] std::vector<uint8_t> encode(DType type, int64_t elements, const std::vector<double>& values);

struct Convolution {
  std::vector<int32_t> pad = {0, 0, 0, 0}, stride = {1, 1}, dilation = {1, 1};
  double input_zp = 0, weight_zp = 0;
  DType acc_type = DType::kUnknown;  // unknown: the widest that the types have
};

struct Rescaling {
  std::vector<double> multiplier = {1 << 30}, shift = {30};  // one, or one for each channel
  double input_zp = 0, output_zp = 0;
  bool scale32 = true;
  RoundingMode rounding = RoundingMode::kSingleRound;
  bool per_channel = false, input_unsigned = false, output_unsigned = false;
};

// Every method that adds an operator throws Error, like validate(), when operands do not fit, so a finished graph is
// legal unless its parts were changed by hand.
class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string& region = "main");

  TensorId input(std::string name, DType type, Shape shape);
  TensorId constant(DType type, Shape shape, const std::vector<double>& values);
  template <typename T>
  requires std::integral<T> || std::same_as<T, float> TensorId constant(DType type, Shape shape,
                                                                        const std::vector<T>& values) {
    return constant(type, std::move(shape), std::vector<double>(values.begin(), values.end()));
  }
  TensorId constant_bytes(DType type, Shape shape, std::vector<uint8_t> bytes);
  // CONST_SHAPE.
  TensorId shape(const std::vector<int64_t>& values);
  // A variable tensor, with an initial value or without. `identity` becomes its variable_name.
  TensorId variable(std::string identity, DType type, const Shape& shape,
                    const std::optional<std::vector<double>>& initial = std::nullopt);
  // The VARIABLE operator, which files of exporters do not have.
  void declare(TensorId variable);
  TensorId read(TensorId variable);
  void write(TensorId variable, TensorId value);

  // Any operator with one result. A nan_mode that is not set becomes PROPAGATE. `type` is needed where the inputs leave
  // a choice (CAST, RESCALE, RESIZE, MATMUL of FP16).
  TensorId op(Op op, std::vector<TensorId> inputs, const Attributes& attributes = {}, DType type = DType::kUnknown);
  // Any operator, with results of the given types.
  std::vector<TensorId> ops(Op op, std::vector<TensorId> inputs, const Attributes& attributes,
                            const std::vector<DType>& types);
  // The operator as it is, unchecked, with a result of the given type and shape: for graphs that must be refused.
  TensorId raw(Op op, std::vector<TensorId> inputs, const Attributes& attributes, DType type, Shape shape);

  TensorId argmax(TensorId x, int32_t axis);
  TensorId avg_pool2d(TensorId x, std::vector<int32_t> kernel, std::vector<int32_t> stride, std::vector<int32_t> pad,
                      double input_zp = 0, double output_zp = 0);
  TensorId max_pool2d(TensorId x, std::vector<int32_t> kernel, std::vector<int32_t> stride, std::vector<int32_t> pad);
  TensorId conv2d(TensorId x, TensorId weight, TensorId bias, const Convolution& options = {});
  TensorId conv3d(TensorId x, TensorId weight, TensorId bias, const Convolution& options);
  TensorId depthwise_conv2d(TensorId x, TensorId weight, TensorId bias, const Convolution& options = {});
  // `options.pad` is out_pad; the dilation does not count.
  TensorId transpose_conv2d(TensorId x, TensorId weight, TensorId bias, const Convolution& options = {});
  TensorId matmul(TensorId a, TensorId b, double a_zp = 0, double b_zp = 0, DType type = DType::kUnknown);
  std::vector<TensorId> fft2d(TensorId real, TensorId imaginary, bool inverse = false);
  std::vector<TensorId> rfft2d(TensorId real);
  TensorId clamp(TensorId x, double low, double high);
  TensorId add(TensorId a, TensorId b) { return op(Op::kAdd, {a, b}); }
  TensorId sub(TensorId a, TensorId b) { return op(Op::kSub, {a, b}); }
  TensorId mul(TensorId a, TensorId b, double shift = 0);
  TensorId arithmetic_right_shift(TensorId a, TensorId b, bool round);
  TensorId maximum(TensorId a, TensorId b) { return op(Op::kMaximum, {a, b}); }
  TensorId minimum(TensorId a, TensorId b) { return op(Op::kMinimum, {a, b}); }
  TensorId table(TensorId x, const std::vector<double>& values);
  TensorId negate(TensorId x, double input_zp = 0, double output_zp = 0);
  TensorId select(TensorId condition, TensorId a, TensorId b) { return op(Op::kSelect, {condition, a, b}); }
  TensorId reduce(Op op, TensorId x, int32_t axis);
  TensorId rescale(TensorId x, DType type, const Rescaling& options = {});
  TensorId cast(TensorId x, DType type) { return op(Op::kCast, {x}, {}, type); }
  TensorId concat(const std::vector<TensorId>& parts, int32_t axis);
  TensorId pad(TensorId x, const std::vector<int64_t>& padding, double value = 0);
  TensorId reshape(TensorId x, const std::vector<int64_t>& sizes) { return op(Op::kReshape, {x, shape(sizes)}); }
  TensorId reverse(TensorId x, int32_t axis);
  TensorId slice(TensorId x, const std::vector<int64_t>& start, const std::vector<int64_t>& size);
  TensorId tile(TensorId x, const std::vector<int64_t>& multiples) { return op(Op::kTile, {x, shape(multiples)}); }
  TensorId transpose(TensorId x, std::vector<int32_t> perms);
  TensorId gather(TensorId values, TensorId indices) { return op(Op::kGather, {values, indices}); }
  TensorId scatter(TensorId values, TensorId indices, TensorId input) {
    return op(Op::kScatter, {values, indices, input});
  }
  TensorId resize(TensorId x, ResizeMode mode, const std::vector<int64_t>& scale, const std::vector<int64_t>& offset,
                  const std::vector<int64_t>& border, DType type);
  // The block of a finished builder becomes a region that control flow can name.
  void add_region(GraphBuilder region);
  std::vector<TensorId> cond_if(TensorId condition, const std::vector<TensorId>& inputs, const std::string& then_graph,
                                const std::string& else_graph);
  std::vector<TensorId> while_loop(const std::vector<TensorId>& inputs, const std::string& cond_graph,
                                   const std::string& body_graph);

  // Makes a tensor a graph output; with a name, renames it.
  void output(TensorId id, const std::string& name = {});
  void rename(TensorId id, std::string name) { block().tensors[id].name = std::move(name); }
  // The location text of the last operator, for messages.
  void locate(std::string text) { block().operators.back().location = std::move(text); }

  [[nodiscard]] const Tensor& tensor(TensorId id) const { return graph_.main().tensors[id]; }
  [[nodiscard]] Graph build() const { return graph_; }

 private:
  Block& block() { return graph_.main(); }
  TensorId add_tensor(std::string name, DType type, Shape shape);
  // A constant of one element of the type of `like`.
  TensorId zero_point(TensorId like, double value) { return constant(tensor(like).type, {1}, {value}); }
  TensorId convolution(Op op, TensorId x, TensorId weight, TensorId bias, const Convolution& options);
  void set_data(TensorId id, std::vector<uint8_t> bytes);

  Graph graph_;
  uint32_t next_name_ = 0;
};

}  // namespace npu::graph
