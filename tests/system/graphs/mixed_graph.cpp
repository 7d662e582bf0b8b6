// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/mixed_graph.h"

#include <limits>
#include <random>

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

}  // namespace

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
