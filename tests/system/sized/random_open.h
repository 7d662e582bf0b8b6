// SPDX-License-Identifier: Apache-2.0
// Random graphs with open sizes, bounds for these, and sizes within them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/infer.h"
#include "driver/graph/resolve.h"
#include "sim/cosim/random.h"

namespace npu::test {

// What random graphs are made of.
struct Graphs {
  enum class Kind : uint8_t { kAny, kImages };
  Kind kind = Kind::kAny;
  int most_dim = 6;            // of the inputs of kAny
  int64_t most_choices = 150;  // of sizes that a compilation has to look at
};

// A graph with open sizes, bounds for them, and sizes that fit both.
struct OpenGraph {
  graph::Graph graph;
  graph::Inference inference;
  std::vector<compiler::SizeBounds> bounds;
  graph::GivenShapes base;
};

// Input and dimension of "x.0".
[[nodiscard]] std::pair<std::string, size_t> place_of(const std::string& symbol);

// nullopt where the graph leaves nothing open however its sizes are opened.
[[nodiscard]] std::optional<OpenGraph> random_open_graph(uint64_t seed, const Graphs& graphs);

// Shapes of all inputs; nullopt where no sizes of the others go with these.
[[nodiscard]] std::optional<graph::GivenShapes> random_shapes(const OpenGraph& open, cosim::Random& random);

}  // namespace npu::test
