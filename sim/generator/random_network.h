// SPDX-License-Identifier: Apache-2.0
// What random networks are made of: numbers, shapes, inputs with the range of their data.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/value.h"
#include "sim/cosim/random.h"

namespace npu::generator {

// Whole numbers of a range, now and then its ends.
[[nodiscard]] std::vector<double> random_numbers(cosim::Random& random, int64_t count, int64_t low, int64_t high);

// Data of an input between two numbers.
struct DataRange {
  int64_t low = 0, high = 0;
};
// All values of a type that are so small that sums and differences of two stay in it.
[[nodiscard]] DataRange usual_range(graph::DType type);
// Bytes of `frames` tensors; the largest number where it has no room for them.
[[nodiscard]] uint64_t stacked_bytes(graph::DType type, const graph::Shape& shape, int64_t frames);
// `frames` tensors of random elements of a range, of floating point from -1 to 1, stacked along a new first axis.
[[nodiscard]] graph::Value random_value(graph::DType type, const graph::Shape& shape, int64_t frames, DataRange range,
                                        cosim::Random& random);

// A network that grows operator by operator.
class RandomNetwork {
 public:
  explicit RandomNetwork(uint64_t seed) : random(seed) {}

  graph::TensorId input(graph::DType type, const graph::Shape& shape) { return input(type, shape, usual_range(type)); }
  graph::TensorId input(graph::DType type, const graph::Shape& shape, DataRange range);
  // Of random values in a range.
  graph::TensorId constant(graph::DType type, const graph::Shape& shape, DataRange range);
  // Of a dimension: 1 is frequent.
  [[nodiscard]] int64_t size(int64_t most);
  // Of rank `least` to 4.
  [[nodiscard]] graph::Shape shape(int64_t least_rank);
  // One that broadcasts to the shape.
  [[nodiscard]] graph::Shape narrower(graph::Shape shape);
  [[nodiscard]] int32_t axis(const graph::Shape& shape) {
    return static_cast<int32_t>(random.between(0, static_cast<int64_t>(shape.size()) - 1));
  }
  [[nodiscard]] const std::vector<DataRange>& ranges() const { return ranges_; }  // of the inputs, in order

  cosim::Random random;
  graph::GraphBuilder builder;

 private:
  std::vector<DataRange> ranges_;
};

[[nodiscard]] int64_t elements_of(const graph::Shape& shape);

}  // namespace npu::generator
