// SPDX-License-Identifier: Apache-2.0
// One operator of a random network, and numbers that several operators draw.
#pragma once

#include "driver/graph/operators.h"
#include "sim/generator/random_network.h"

namespace npu::generator {

// What an operator's function gets. Results become outputs there.
struct RandomInstance {
  RandomNetwork& net;
  graph::Op op;
  const graph::TypeRow& row;

  [[nodiscard]] graph::DType type(graph::Slot slot) const { return row.types[static_cast<size_t>(slot)]; }
  [[nodiscard]] graph::DType in() const { return type(graph::Slot::kIn); }
  [[nodiscard]] graph::GraphBuilder& b() const { return net.builder; }
  [[nodiscard]] cosim::Random& random() const { return net.random; }
  [[nodiscard]] graph::TensorId any(int64_t least_rank) const { return net.input(in(), net.shape(least_rank)); }
  void give(graph::TensorId id) const { b().output(id); }
};

[[nodiscard]] int32_t pick(const RandomInstance& i, int64_t low, int64_t high);
// An INT8 zero point; all other types have none.
[[nodiscard]] double zero_point(const RandomInstance& i, graph::DType type);
// A multiplier of one half to one, and a shift that makes it a factor of 1 / 2 ^ places, for values of this type.
[[nodiscard]] graph::Rescaling rescaling(const RandomInstance& i, graph::DType from, int64_t places, int64_t entries);
// Sums of products as a network has them: brought back to the type of its activations, with an activation behind.
void give_sums(const RandomInstance& i, graph::TensorId sums);

}  // namespace npu::generator
