// SPDX-License-Identifier: Apache-2.0
// Values of one shape, and random operators that make another one of them, for blocks that control flow runs.
#pragma once

#include <functional>
#include <vector>

#include "driver/graph/builder.h"
#include "sim/generator/random_network.h"

namespace npu::generator {

// Values are INT8, INT16 or INT32. Those of INT32 stay within a thousand or so, so that whatever the data no result is
// unpredictable. Builders are those of any block: values belong to the one that is given with them.
class RandomValues {
 public:
  // The largest dimension is at most 10,000: so many terms add up to an INT32.
  RandomValues(cosim::Random& random, graph::Shape shape);

  [[nodiscard]] const graph::Shape& shape() const { return shape_; }
  [[nodiscard]] graph::DType any_type();
  // One of them; later ones are likelier, so that chains grow long.
  [[nodiscard]] graph::TensorId any(const std::vector<graph::TensorId>& values);
  // Any value of this shape as one of a type: narrower types take the last bits.
  [[nodiscard]] graph::TensorId as(graph::GraphBuilder& b, graph::TensorId x, graph::DType type);
  // One operator of some of the values, and those that fit types and shapes.
  [[nodiscard]] graph::TensorId compute(graph::GraphBuilder& b, const std::vector<graph::TensorId>& values);
  // An element of a value, as INT32 [1].
  [[nodiscard]] graph::TensorId element(graph::GraphBuilder& b, graph::TensorId x);
  // A BOOL [1] of an element.
  [[nodiscard]] graph::TensorId condition(graph::GraphBuilder& b, graph::TensorId x);
  // Of the data of an input that is a value as it is. INT32 of a wider range has to be bounded().
  [[nodiscard]] static DataRange range_of(graph::DType type);
  [[nodiscard]] static graph::TensorId bounded(graph::GraphBuilder& b, graph::TensorId x);
  // INT32 of any shape, within these bounds.
  [[nodiscard]] static graph::TensorId limit(graph::GraphBuilder& b, graph::TensorId x, double low, double high);

 private:
  using GraphBuilder = graph::GraphBuilder;
  using TensorId = graph::TensorId;

  [[nodiscard]] int64_t pick(int64_t low, int64_t high) { return random_.between(low, high); }
  [[nodiscard]] int32_t axis() { return static_cast<int32_t>(pick(0, static_cast<int64_t>(shape_.size()) - 1)); }
  // As INT32, which has at most 16 bits then.
  [[nodiscard]] static TensorId wide(GraphBuilder& b, TensorId x);
  // Changes the first `count` elements, as [count] to [count] of any type; the others stay.
  TensorId change_first(GraphBuilder& b, TensorId x, int64_t count, const std::function<TensorId(TensorId)>& change);

  TensorId arithmetic(GraphBuilder& b, TensorId x, TensorId y);
  TensorId multiply(GraphBuilder& b, TensorId x, TensorId y);
  TensorId bitwise(GraphBuilder& b, TensorId x, TensorId y);
  TensorId shift_or_divide(GraphBuilder& b, TensorId x, TensorId y);
  TensorId unary(GraphBuilder& b, TensorId x, TensorId y);
  TensorId narrow(GraphBuilder& b, TensorId x, TensorId y);
  TensorId choose(GraphBuilder& b, TensorId x, TensorId y);
  TensorId move(GraphBuilder& b, TensorId x, TensorId y);
  TensorId split(GraphBuilder& b, TensorId x, TensorId y);
  TensorId reduce(GraphBuilder& b, TensorId x, TensorId y);
  TensorId convolve(GraphBuilder& b, TensorId x, TensorId y);
  TensorId multiply_matrices(GraphBuilder& b, TensorId x, TensorId y);
  TensorId choose_rows(GraphBuilder& b, TensorId x, TensorId y);

  cosim::Random& random_;
  const graph::Shape shape_;
};

}  // namespace npu::generator
