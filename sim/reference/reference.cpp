// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/reference.h"

#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/reference/block_run.h"
#include "sim/reference/element.h"
#include "sim/reference/execution.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;
using graph::Block;
using graph::DType;
using graph::Tensor;
using graph::Value;

// Numpy and files can hold numbers that the type has not.
void check_range(const Tensor& tensor, const Value& value) {
  const auto wrong = [&](const char* what) {
    throw Error(ErrorCode::kBadInput, fmt::format("input '{}' holds {}", tensor.name, what));
  };
  if (value.type == DType::kBool) {
    for (const uint8_t byte : value.bytes) {
      if (byte > 1) {
        wrong("a boolean that is neither 0 nor 1");
      }
    }
  } else if (value.type == DType::kInt48) {
    for (const int64_t element : elements<int64_t>(value)) {
      if (element < Int48::kMin || element > Int48::kMax) {
        wrong("a number that needs more than 48 bits");
      }
    }
  } else if (value.type == DType::kInt4) {
    for (const int8_t element : elements<int8_t>(value)) {
      if (element < Int4::kMin || element > Int4::kMax) {
        wrong("a number that needs more than 4 bits");
      }
    }
  }
}

// The values, checked against the block's inputs.
std::vector<const Value*> bind(const Block& block, const std::vector<Value>& inputs) {
  if (inputs.size() != block.inputs.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the graph has {} inputs and {} were given", block.inputs.size(), inputs.size()));
  }
  std::vector<const Value*> bound;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = block.tensors[block.inputs[i]];
    const Value& value = inputs[i];
    if (value.type != tensor.type || value.shape != tensor.shape) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("input '{}' is {} {} and was given {} {}", tensor.name, graph::name(tensor.type),
                              graph::to_string(tensor.shape), graph::name(value.type), graph::to_string(value.shape)));
    }
    if (static_cast<int64_t>(value.bytes.size()) != value_bytes(tensor)) {
      throw Error(ErrorCode::kBadInput, fmt::format("input '{}' has {} bytes of data where {} are needed", tensor.name,
                                                    value.bytes.size(), value_bytes(tensor)));
    }
    check_range(tensor, value);
    bound.push_back(&value);
  }
  return bound;
}

}  // namespace

std::vector<Value> run(const graph::Graph& graph, const std::vector<Value>& inputs, Context& context,
                       const Observer& observer, const Options& options) {
  if (options.level) {
    graph::check_level(graph, *options.level);
  }
  const auto bound = bind(graph.main(), inputs);
  Execution execution(graph, context, options);
  BlockRun run(execution, graph.main(), bound);
  run.foresee_memory();
  return run.execute(observer);
}

}  // namespace npu::reference
