// SPDX-License-Identifier: Apache-2.0
// Random graphs with open sizes: what infer() says of them against what resolve() makes of random sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/graph/infer.h"
#include "driver/graph/operators.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "sim/cosim/random.h"
#include "tests/unit/graph/random_open_graph.h"
#include "tests/unit/graph/samples.h"
#include "tests/unit/seeds.h"

namespace npu::graph {
namespace {

// Shapes of inputs and variables.
GivenShapes shapes_of(const Graph& graph) {
  GivenShapes shapes;
  for (const TensorId id : graph.main().inputs) shapes[graph.main().tensors[id].name] = graph.main().tensors[id].shape;
  for (const Region& region : graph.regions) {
    for (const Tensor& tensor : region.blocks.front().tensors) {
      if (tensor.variable) shapes[variable_identity(tensor)] = tensor.shape;
    }
  }
  return shapes;
}

bool is_given(const Symbol& symbol) { return symbol.of != Symbol::Of::kResult; }

struct GivenSizes {
  std::vector<int64_t> values;  // by symbol
  bool hold = true;             // all conditions do
  bool all = true;              // each symbol has a value
};

// Of the symbols, by the names of what the sizes are of.
GivenSizes sizes_of(const Inference& inference, const GivenShapes& given) {
  std::map<std::string, int64_t> by_name;
  for (const auto& [name, shape] : given) {
    for (size_t d = 0; d < shape.size(); ++d) by_name[name + "." + std::to_string(d)] = shape[d];
  }
  GivenSizes sizes;
  const auto& symbols = inference.open.symbols();
  for (const Symbol& symbol : symbols) {
    sizes.values.push_back(is_given(symbol) ? by_name.at(symbol.name) : 1);
    sizes.all = sizes.all && (is_given(symbol) || symbol.value);
  }
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (!symbols[i].value) continue;
    const auto value = symbols[i].value->evaluate(sizes.values);
    if (!value || (is_given(symbols[i]) && *value != sizes.values[i])) sizes.hold = false;
    sizes.values[i] = value.value_or(0);
  }
  for (const Condition& condition : inference.open.conditions()) {
    sizes.hold = sizes.hold && holds(condition, sizes.values);
  }
  return sizes;
}

// Random sizes, most of which fulfil the equalities.
GivenShapes random_shapes(const Inference& inference, const GivenShapes& base, cosim::Random& random) {
  GivenShapes given = base;
  const auto size_of = [&](const std::string& name, size_t d) -> int64_t& { return given.at(name)[d]; };
  std::map<std::string, std::pair<std::string, size_t>> places;
  for (const auto& [name, shape] : base) {
    for (size_t d = 0; d < shape.size(); ++d) places[name + "." + std::to_string(d)] = {name, d};
  }
  const auto& symbols = inference.open.symbols();
  std::vector<int64_t> values(symbols.size(), 1);
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (!is_given(symbols[i]) || symbols[i].value) continue;
    const auto& [name, d] = places.at(symbols[i].name);
    const int64_t was = base.at(name)[d];
    values[i] = random.chance(30) ? was : random.chance(50) ? was * random.between(1, 3) : random.between(1, 20);
    size_of(name, d) = values[i];
  }
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (!is_given(symbols[i]) || !symbols[i].value) continue;
    const auto& [name, d] = places.at(symbols[i].name);
    const auto value = symbols[i].value->evaluate(values);
    size_of(name, d) = value && *value >= 1 && !random.chance(2) ? *value : random.between(1, 20);
  }
  return given;
}

// x[?, ?, 2], and operators that take shapes computed from its sizes.
Graph computed_shapes(uint64_t seed) {
  constexpr Op kFunctions[] = {Op::kAddShape,      Op::kSubShape,     Op::kMulShape,       Op::kMaxShape,
                               Op::kMinShape,      Op::kModShape,     Op::kDivFloorShape,  Op::kDivCeilShape,
                               Op::kLog2CeilShape, Op::kExp2Shape,    Op::kLog2FloorShape, Op::kAssertEqualShape,
                               Op::kDivFloorShape, Op::kDivCeilShape, Op::kMulShape};
  cosim::Random random(seed);
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, -1, 2});
  Attributes axis;
  std::vector<TensorId> sizes = {b.shape({2}), b.shape({3}), samples::on_shapes(b, Op::kDim, {x}, axis)};
  axis.axis = 1;
  sizes.push_back(samples::on_shapes(b, Op::kDim, {x}, axis));
  const auto any = [&] {
    return sizes[static_cast<size_t>(random.between(0, static_cast<int64_t>(sizes.size()) - 1))];
  };
  for (int64_t i = random.between(2, 6); i > 0; --i) {
    const Op op = kFunctions[random.between(0, static_cast<int64_t>(std::size(kFunctions)) - 1)];
    if (op == Op::kAssertEqualShape) {
      Attributes broadcast;
      broadcast.allow_broadcast = random.chance(30);
      if (random.chance(40)) static_cast<void>(samples::on_shapes(b, op, {any(), any()}, broadcast));
      continue;
    }
    const bool unary = info(op).inputs.size() == 1;
    sizes.push_back(samples::on_shapes(b, op, unary ? std::vector{any()} : std::vector{any(), any()}));
  }
  const auto shape_of = [&](const std::vector<TensorId>& parts) {
    return samples::on_shapes(b, Op::kConcatShape, parts);
  };
  const TensorId one = b.shape({1}), none = b.shape({0});
  for (int64_t i = random.between(1, 3); i > 0; --i) {
    switch (random.between(0, 3)) {
      case 0:
        b.output(b.raw(Op::kTile, {x, shape_of({any(), one, any()})}, {}, DType::kInt8, {-1, -1, -1}));
        break;
      case 1: {
        const TensorId padding = shape_of({none, any(), any(), none, none, none});
        b.output(b.raw(Op::kPad, {x, padding, b.constant(DType::kInt8, {1}, {0.0})}, {}, DType::kInt8, {-1, -1, -1}));
        break;
      }
      case 2:
        b.output(b.raw(Op::kSlice, {x, shape_of({none, none, none}), shape_of({any(), one, one})}, {}, DType::kInt8,
                       {-1, -1, -1}));
        break;
      default:
        b.output(b.raw(Op::kReshape, {x, shape_of({any(), any()})}, {}, DType::kInt8, {-1, -1}));
        break;
    }
  }
  return b.build();
}

struct Counts {
  int accepted = 0, refused = 0, without_expression = 0, undecided = 0;
};

void compare(const Graph& open, const Inference& inference, const GivenShapes& given, bool is_base, Counts& counts) {
  const GivenSizes sizes = sizes_of(inference, given);
  std::string refusal;
  Graph resolved;
  try {
    resolved = resolve(open, given);
    validate(resolved);
  } catch (const Error& error) {
    refusal = error.what();
  }
  if (!sizes.all) {
    ++counts.undecided;
    return;
  }
  ++(refusal.empty() ? counts.accepted : counts.refused);
  EXPECT_TRUE(!is_base || refusal.empty()) << refusal;
  EXPECT_EQ(sizes.hold, refusal.empty()) << refusal;
  if (!refusal.empty() || !sizes.hold) return;
  for (size_t region = 0; region < open.regions.size(); ++region) {
    for (TensorId id = 0; id < open.regions[region].blocks.front().tensors.size(); ++id) {
      Shape shape;
      for (const Dim& dim : inference.sizes[region][id]) shape.push_back(dim.evaluate(sizes.values).value_or(-1));
      const Tensor& tensor = resolved.regions[region].blocks.front().tensors[id];
      EXPECT_EQ(shape, tensor.shape) << tensor.name << ' ' << inference.open.text(inference.sizes[region][id]);
    }
  }
}

void try_seed(uint64_t seed, Counts& counts) {
  const Graph graph = samples::random_static_graph(seed);
  ASSERT_NO_THROW(validate(graph));
  cosim::Random random(seed);
  Graph open = graph;
  samples::open_sizes(open, random);
  if (!has_unknown_sizes(open)) return;
  validate(open, graph::Sizes::kMayBeUnknown);
  const Inference inference = infer(open);
  if (!inference.without_expression.empty()) ++counts.without_expression;
  const GivenShapes base = shapes_of(graph);
  compare(open, inference, base, /*is_base=*/true, counts);
  for (int i = 0; i < 6 && !testing::Test::HasFailure(); ++i) {
    compare(open, inference, random_shapes(inference, base, random), /*is_base=*/false, counts);
  }
}

void try_shapes(uint64_t seed, Counts& counts) {
  Graph open;
  try {
    open = computed_shapes(seed);
    validate(open, graph::Sizes::kMayBeUnknown);
  } catch (const Error&) {
    return;  // It asserts that 2 is 3.
  }
  cosim::Random random(seed);
  std::optional<Inference> inference;
  try {
    inference = infer(open);
    if (!inference->without_expression.empty()) ++counts.without_expression;
  } catch (const Error&) {
    // Then resolve() takes no sizes.
  }
  for (int i = 0; i < 12 && !testing::Test::HasFailure(); ++i) {
    const GivenShapes given = {{"x", {random.between(1, 12), random.between(1, 12), 2}}};
    if (inference && inference->without_expression.empty()) {
      compare(open, *inference, given, /*is_base=*/false, counts);
    } else if (!inference) {
      EXPECT_THROW(static_cast<void>(resolve(open, given)), Error);
      ++counts.refused;
    }
  }
}

constexpr uint64_t kGraphs = test::seeds_for(1200);

Counts try_all(void (*try_one)(uint64_t, Counts&)) {
  const char* given = std::getenv("NPU_INFER_SEED");
  const uint64_t first = given != nullptr ? std::stoull(given) : 1;
  std::cout << "seeds " << first << " to " << first + kGraphs - 1 << '\n';
  Counts counts;
  for (uint64_t seed = first; seed < first + kGraphs && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      try_one(seed, counts);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::cout << counts.accepted << " sizes accepted, " << counts.refused << " refused; " << counts.without_expression
            << " graphs with sizes that have no expression, " << counts.undecided << " sizes not compared\n";
  return counts;
}

TEST(InferRandom, EqualsWhatResolveGives) {
  const Counts counts = try_all(try_seed);
  EXPECT_GT(counts.accepted, static_cast<int>(kGraphs));
  EXPECT_GT(counts.refused, static_cast<int>(kGraphs) / 4);
}

TEST(InferRandom, EqualsWhatResolveGivesForComputedShapes) {
  const Counts counts = try_all(try_shapes);
  EXPECT_GT(counts.accepted, static_cast<int>(kGraphs) / 4);
  EXPECT_GT(counts.refused, static_cast<int>(kGraphs) / 4);
}

}  // namespace
}  // namespace npu::graph
