// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/open_network.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "driver/graph/level.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::inspect {
namespace {

using graph::Tensor;
using graph::TensorId;

// What is wrong whatever the level is, is wrong without its bounds, too.
graph::Inference infer_within(const workload::Network& network, graph::Level& level) {
  try {
    return graph::infer(network.graph, {}, level);
  } catch (const Error& error) {
    if (level != graph::Level::kNone && error.code() != contract::ErrorCode::kBudgetExceeded) {
      level = graph::Level::kNone;
      return infer_within(network, level);
    }
    throw Error(error.code(), graph::in_quotes(network.path.string()) + ": " + error.what());
  }
}

std::map<std::string, int64_t> operators_of(const graph::Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const graph::Region& region : graph.regions) {
    for (const graph::Operator& op : region.blocks.front().operators) {
      if (op.op == graph::Op::kConst || op.op == graph::Op::kConstShape) continue;
      ++counts[std::string(graph::name(op.op))];
    }
  }
  return counts;
}

// One size for all symbols that are free, or the next that the conditions leave; nullopt where that breaks any.
std::optional<std::vector<int64_t>> values_with(const OpenNetwork& open, int64_t size) {
  const std::vector<graph::Symbol>& symbols = open.inference.open.symbols();
  std::vector<int64_t> values;
  for (const graph::Symbol& symbol : symbols) values.push_back(std::clamp(size, symbol.low, symbol.high));
  for (graph::SymbolId id = 0; id < symbols.size(); ++id) {
    if (symbols[id].value) values[id] = symbols[id].value->evaluate(values).value_or(0);
    if (values[id] < symbols[id].least || values[id] > symbols[id].most) return std::nullopt;
  }
  const std::vector<graph::Condition>& conditions = open.inference.open.conditions();
  const bool fit = std::all_of(conditions.begin(), conditions.end(),
                               [&](const graph::Condition& condition) { return graph::holds(condition, values); });
  return fit ? std::optional(values) : std::nullopt;
}

graph::GivenShapes shapes_with(const OpenNetwork& open, const std::vector<int64_t>& values) {
  graph::GivenShapes shapes;
  const graph::Block& main = open.network.graph.main();
  for (TensorId id = 0; id < main.tensors.size(); ++id) {
    const Tensor& tensor = main.tensors[id];
    const bool is_input = std::find(main.inputs.begin(), main.inputs.end(), id) != main.inputs.end();
    if (graph::unknown_size(tensor) == nullptr || !(is_input || tensor.variable)) continue;
    graph::Shape& shape = shapes[is_input ? tensor.name : graph::variable_identity(tensor)];
    for (const graph::Dim& dim : open.inference.sizes[0][id]) shape.push_back(dim.evaluate(values).value_or(0));
  }
  return shapes;
}

graph::GivenShapes example_of(const OpenNetwork& open) {
  std::vector<int64_t> sizes = {8, 16, 32, 64, 224, 1};
  for (const graph::Symbol& symbol : open.inference.open.symbols()) {
    if (!symbol.value && symbol.low > 1) sizes.insert(sizes.end(), {symbol.low, symbol.low + 1, symbol.low + 2});
  }
  constexpr int64_t kMostSize = 256;
  for (int64_t size = 2; size <= kMostSize; ++size) sizes.push_back(size);
  constexpr size_t kMostTries = 8;  // of sizes that fulfil all conditions
  size_t tries = 0;
  for (size_t i = 0; i < sizes.size() && tries < kMostTries; ++i) {
    const auto values = values_with(open, sizes[i]);
    if (!values) continue;
    ++tries;
    const graph::GivenShapes shapes = shapes_with(open, *values);
    try {
      static_cast<void>(graph::resolve(open.network.graph, shapes));
      return shapes;
    } catch (const Error&) {
      // These sizes do not fit.
    }
  }
  return {};
}

}  // namespace

OpenNetwork inspect_open_network(const workload::Network& network) {
  graph::Level level = graph::Level::k8K;
  graph::Inference inference = infer_within(network, level);
  OpenNetwork open{
      network, std::move(inference), std::string(graph::limits(level).name), operators_of(network.graph), {}};
  open.example = example_of(open);
  return open;
}

}  // namespace npu::inspect
