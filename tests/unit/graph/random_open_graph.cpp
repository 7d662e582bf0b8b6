// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/graph/random_open_graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "driver/graph/operators.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "sim/generator/random_control.h"
#include "sim/generator/random_network.h"
#include "sim/generator/random_operators.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::graph::samples {
namespace {

bool is_integer(const TypeRow& row) {
  return std::all_of(row.types.begin(), row.types.end(), [](DType type) {
    return type == DType::kUnknown || (type >= DType::kBool && type <= DType::kInt48 && type != DType::kInt4);
  });
}

// Operators of one network side by side.
Graph some_operators(uint64_t seed) {
  generator::RandomNetwork network(seed);
  const int64_t count = network.random.between(1, 3);
  for (int64_t made = 0; made < count;) {
    const auto op = static_cast<Op>(network.random.between(1, kTensorOpCount - 1));
    const auto& types = info(op).types;
    if (types.empty()) continue;
    const TypeRow& row = types[static_cast<size_t>(network.random.between(0, static_cast<int64_t>(types.size()) - 1))];
    if (is_integer(row) && generator::add_random_operator(network, op, &row)) ++made;
  }
  return network.builder.build();
}

}  // namespace

Graph random_static_graph(uint64_t seed, int most_dim) {
  switch (seed % 4) {
    case 0:
      return generator::random_control(seed, {.shape = {3, most_dim}});
    case 1:
      return some_operators(seed);
    default:
      return compiler::testing::random_graph(static_cast<uint32_t>(seed), most_dim);
  }
}

namespace {

// RESHAPE leaves one size or two to the others where its constant is its own.
void open_reshapes(Graph& graph, cosim::Random& random) {
  for (Region& region : graph.regions) {
    Block& block = region.blocks.front();
    std::map<TensorId, int> uses;
    for (const Operator& op : block.operators) {
      for (const TensorId id : op.inputs) ++uses[id];
    }
    for (const Operator& op : block.operators) {
      // In a RESHAPE of known sizes, -1 is illegal.
      if (op.op != Op::kReshape || uses.at(op.inputs[1]) > 1 || !has_unknown_sizes(block, op)) continue;
      if (random.chance(20)) continue;
      Tensor& constant = block.tensors[op.inputs[1]];
      if (!constant.has_data || constant.data.empty()) continue;
      auto bytes = std::make_shared<std::vector<uint8_t>>(constant.data.begin(), constant.data.end());
      const int64_t open = -1;
      for (int64_t i = random.chance(10) ? 2 : 1; i > 0; --i) {
        const auto at = static_cast<size_t>(random.between(0, constant.shape[0] - 1));
        std::memcpy(bytes->data() + at * sizeof(open), &open, sizeof(open));
      }
      constant.data = *bytes;
      graph.storage.push_back(std::move(bytes));
    }
  }
}

}  // namespace

void open_sizes(Graph& graph, cosim::Random& random, OpenVariables variables) {
  for (Region& region : graph.regions) {
    Block& block = region.blocks.front();
    const auto is_input = [&](TensorId id) {
      return std::find(block.inputs.begin(), block.inputs.end(), id) != block.inputs.end();
    };
    for (TensorId id = 0; id < block.tensors.size(); ++id) {
      Tensor& tensor = block.tensors[id];
      if (tensor.has_data || tensor.type == DType::kShape) continue;
      if (tensor.variable && variables == OpenVariables::kNo) continue;
      for (int64_t& size : tensor.shape) {
        const int likely = is_input(id) ? 70 : 97;
        if (size > 1 && random.chance(likely)) size = tensor.variable ? 0 : -1;
      }
    }
  }
  open_reshapes(graph, random);
}

}  // namespace npu::graph::samples
