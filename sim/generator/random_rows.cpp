// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_rows.h"

#include <numeric>
#include <span>
#include <vector>

namespace npu::generator {

using graph::DType;
using graph::Shape;
using graph::TensorId;

TensorId random_gather(RandomNetwork& net, DType type) {
  const int64_t n = net.random.between(1, 4), k = net.size(30), c = net.size(40);
  const int64_t w = net.random.chance(15) ? net.random.between(200, 600) : net.size(30);
  const bool transposed = net.random.chance(20);
  TensorId values = net.input(type, transposed ? Shape{n, c, k} : Shape{n, k, c});
  if (transposed) values = net.builder.transpose(values, {0, 2, 1});
  const Shape list = {n, w};
  const DataRange rows = {0, k - 1};
  const bool known = net.random.chance(30);
  return net.builder.gather(values,
                            known ? net.constant(DType::kInt32, list, rows) : net.input(DType::kInt32, list, rows));
}

TensorId random_scatter(RandomNetwork& net, DType type) {
  const int64_t n = net.random.between(1, 4), k = net.random.chance(15) ? net.random.between(300, 500) : net.size(30);
  const int64_t w = net.random.between(1, k), c = net.size(40);
  std::vector<int64_t> indices;
  for (int64_t batch = 0; batch < n; ++batch) {
    std::vector<int64_t> rows(static_cast<size_t>(k));
    std::iota(rows.begin(), rows.end(), 0);
    net.random.shuffle(std::span(rows));
    indices.insert(indices.end(), rows.begin(), rows.begin() + w);
  }
  const TensorId values = net.input(type, {n, k, c}), list = net.builder.constant(DType::kInt32, {n, w}, indices);
  return net.builder.scatter(values, list, net.input(type, {n, w, c}));
}

}  // namespace npu::generator
