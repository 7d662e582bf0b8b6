// SPDX-License-Identifier: Apache-2.0
#include "tests/system/sized/random_open.h"

#include <algorithm>
#include <cmath>

#include "driver/graph/validate.h"
#include "tests/system/sized/random_images.h"
#include "tests/unit/graph/random_open_graph.h"

namespace npu::test {
namespace {

using compiler::SizeBounds;

SizeBounds random_bounds(const std::string& name, int64_t size, int64_t most_choices, cosim::Random& random) {
  SizeBounds bounds{name, size, size};
  switch (random.between(0, 3)) {
    case 0:
      bounds.least = 1;
      break;
    case 1:
      bounds.least = std::max<int64_t>(1, size - 3);
      bounds.most = size + 5;
      break;
    case 2:
      bounds.least = 1;
      bounds.most = size + random.between(1, 5);
      break;
    default:
      bounds.most = size + random.between(0, 40);
      break;
  }
  // Around the size that fits, which stays within them.
  while (bounds.most - bounds.least + 1 > most_choices) {
    if (bounds.most > size && (bounds.least == size || random.chance(50))) {
      --bounds.most;
    } else {
      ++bounds.least;
    }
  }
  return bounds;
}

std::vector<std::string> free_sizes(const graph::Inference& inference) {
  std::vector<std::string> free;
  for (const graph::Symbol& symbol : inference.open.symbols()) {
    if (symbol.of == graph::Symbol::Of::kInput && !symbol.value) free.push_back(symbol.name);
  }
  return free;
}

}  // namespace

std::pair<std::string, size_t> place_of(const std::string& symbol) {
  const size_t dot = symbol.rfind('.');
  return {symbol.substr(0, dot), std::stoul(symbol.substr(dot + 1))};
}

std::optional<OpenGraph> random_open_graph(uint64_t seed, const Graphs& graphs) {
  constexpr int kTries = 8;
  cosim::Random random(seed);
  const bool images = graphs.kind == Graphs::Kind::kImages;
  const graph::Graph fixed = images ? random_images(seed) : graph::samples::random_static_graph(seed, graphs.most_dim);
  const auto variables = random.chance(3) ? graph::samples::OpenVariables::kYes : graph::samples::OpenVariables::kNo;
  OpenGraph open;
  std::vector<std::string> free;
  for (int i = 0; i < kTries && free.empty(); ++i) {
    open.graph = fixed;
    if (images) {
      open_images(open.graph, random);
    } else {
      graph::samples::open_sizes(open.graph, random, variables);
    }
    graph::validate(open.graph, graph::Sizes::kMayBeUnknown);
    open.inference = graph::infer(open.graph);
    free = free_sizes(open.inference);
  }
  if (free.empty()) return std::nullopt;
  for (const graph::TensorId id : fixed.main().inputs) {
    const graph::Tensor& tensor = fixed.main().tensors[id];
    open.base[tensor.name] = tensor.shape;
  }
  int64_t room = graphs.most_choices;
  while (!free.empty()) {
    const auto at = random.between(0, static_cast<int64_t>(free.size()) - 1);
    const std::string& name = free[static_cast<size_t>(at)];
    const auto [input, dim] = place_of(name);
    const auto share = static_cast<int64_t>(std::pow(room, 1.0 / static_cast<double>(free.size())));
    open.bounds.push_back(random_bounds(name, open.base.at(input)[dim], std::max<int64_t>(share, 1), random));
    room /= open.bounds.back().most - open.bounds.back().least + 1;
    free.erase(free.begin() + at);
  }
  return open;
}

std::optional<graph::GivenShapes> random_shapes(const OpenGraph& open, cosim::Random& random) {
  const std::vector<graph::Symbol>& symbols = open.inference.open.symbols();
  std::vector<int64_t> values(symbols.size(), 1);
  for (size_t i = 0; i < symbols.size(); ++i) {
    for (const SizeBounds& bounds : open.bounds) {
      if (bounds.name != symbols[i].name) continue;
      values[i] = random.chance(10)   ? bounds.least
                  : random.chance(10) ? bounds.most
                                      : random.between(bounds.least, bounds.most);
    }
  }
  graph::GivenShapes shapes = open.base;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].of != graph::Symbol::Of::kInput) continue;
    const std::optional<int64_t> value = symbols[i].value ? symbols[i].value->evaluate(values) : values[i];
    if (!value || *value < 1) return std::nullopt;
    const auto [input, dim] = place_of(symbols[i].name);
    shapes.at(input)[dim] = *value;
  }
  return shapes;
}

}  // namespace npu::test
