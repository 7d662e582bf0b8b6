// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/operator_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/compiler/compile.h"
#include "driver/graph/analyse.h"
#include "driver/graph/operators.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "sim/generator/operator_sample.h"
#include "sim/generator/random_operators.h"
#include "sim/generator/run_time_operands.h"

namespace npu::regression {
namespace {

using contract::ErrorCode;
using graph::Op;

// Invocations of one network: more than one shows what variables do.
constexpr int64_t kFrames = 3;
// Of one type, in a network: the smallest machine's table of variables has room for them.
constexpr uint32_t kMostVariables = 4;
// Of every so many seeds one has operands at run time that the others have as constants.
constexpr uint64_t kRunTimeSeeds = 4;

bool compiles(const graph::Graph& graph, const contract::Capabilities& caps) {
  try {
    static_cast<void>(compiler::compile(graph, caps));
    return true;
  } catch (const Error& error) {
    if (error.exit_status() != contract::exit_status(ErrorCode::kOperatorUnsupported)) throw;
    return false;
  }
}

// The rows of the operator's table that the machine runs, without floating point, of which the reference's bits are not
// the device's; a null one stands for an empty table.
std::vector<const graph::TypeRow*> device_rows(Op op, const contract::Capabilities& caps) {
  const graph::OperatorInfo& entry = graph::info(op);
  std::vector<const graph::TypeRow*> rows;
  for (const graph::TypeRow& row : entry.types) rows.push_back(&row);
  if (rows.empty()) rows.push_back(nullptr);
  std::erase_if(rows, [&](const graph::TypeRow* row) {
    const graph::Graph graph = generator::sample_of(entry, row).graph;
    return graph::has_floats(graph) || !compiles(graph, caps);
  });
  return rows;
}

}  // namespace

bool device_runs(Op op, const contract::Capabilities& caps) { return !device_rows(op, caps).empty(); }

OperatorNetwork random_operator(Op op, const contract::Capabilities& caps, uint64_t seed, uint32_t of_each) {
  const bool variables = op == Op::kVariable || op == Op::kVariableRead || op == Op::kVariableWrite;
  const uint32_t instances = variables ? std::min(of_each, kMostVariables) : of_each;
  generator::RandomNetwork network(seed << 8 | static_cast<uint64_t>(op));
  for (const graph::TypeRow* row : device_rows(op, caps)) {
    for (uint32_t i = 0; i < instances; ++i) {
      if (generator::add_random_operator(network, op, row)) continue;
      throw Error(ErrorCode::kBug, fmt::format("there are no random networks of {}, which the machine runs", name(op)));
    }
  }
  OperatorNetwork result{network.builder.build(), {}, kFrames};
  if (seed % kRunTimeSeeds == 0) {
    cosim::Random random(seed);  // of its own, so that the data of inputs is what it is with constants
    static_cast<void>(generator::make_run_time_operands(result.graph, random, 70));
  }
  graph::validate(result.graph);
  const graph::Block& block = result.graph.main();
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    const graph::Tensor& tensor = block.tensors[block.inputs[i]];
    result.inputs.push_back(
        generator::random_value(tensor.type, tensor.shape, kFrames, network.ranges()[i], network.random));
  }
  return result;
}

}  // namespace npu::regression
