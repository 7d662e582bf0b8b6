// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/adapt.h"

#include <algorithm>

#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "hw/contract/error.h"

namespace npu::fuzz {
namespace {

using graph::Block;
using graph::DType;
using graph::Graph;
using graph::Op;
using graph::Operator;
using graph::Tensor;
using graph::TensorId;

constexpr int64_t kMostConstant = 4096;  // bytes
constexpr size_t kMostRank = 32;

// What the validator asks of a tensor before it looks at operators.
bool has_size(const Tensor& tensor) {
  const int64_t least = tensor.type == DType::kShape ? 0 : 1;
  const auto in_range = [least](int64_t size) { return size >= least && size <= INT32_MAX; };
  return tensor.shape.size() <= kMostRank && std::all_of(tensor.shape.begin(), tensor.shape.end(), in_range) &&
         graph::element_count(tensor.shape);
}

void adapt_data(Graph& graph, Tensor& tensor) {
  if (!tensor.has_data || !has_size(tensor)) {
    return;
  }
  const int64_t length = graph::byte_size(tensor.type, graph::element_count(tensor.shape).value());
  if (length == static_cast<int64_t>(tensor.data.size()) || length > kMostConstant) {
    return;
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(length));
  for (size_t i = 0; i < bytes.size() && !tensor.data.empty(); ++i) {
    bytes[i] = tensor.data[i % tensor.data.size()];
  }
  set_data(graph, tensor, std::move(bytes));
}

void adapt_results(const graph::RegionIndex& regions, Block& block) {
  for (size_t i = 0; i < block.operators.size(); ++i) {
    Operator& op = block.operators[i];
    const auto sized = [&block](TensorId id) { return has_size(block.tensors[id]); };
    if (!std::all_of(op.inputs.begin(), op.inputs.end(), sized)) {
      return;
    }
    if (op.op == Op::kClamp && !op.inputs.empty()) {
      const auto width = static_cast<size_t>(graph::byte_size(block.tensors[op.inputs[0]].type, 1));
      op.attributes.min_val.resize(width);
      op.attributes.max_val.resize(width);
    }
    try {
      const auto shapes = graph::check_operator(graph::OperatorView(regions, block, op, i));
      for (size_t k = 0; k < shapes.size(); ++k) {
        Tensor& result = block.tensors[op.outputs[k]];
        // The length of a SHAPE value is its data's.
        if (result.type != DType::kShape) {
          result.shape = shapes[k];
        }
      }
    } catch (const Error&) {
      return;  // illegal, and left so
    }
  }
}

}  // namespace

void adapt(Graph& graph) {
  for (graph::Region& region : graph.regions) {
    for (Block& block : region.blocks) {
      for (Tensor& tensor : block.tensors) {
        adapt_data(graph, tensor);
      }
    }
  }
  const graph::RegionIndex regions(graph);
  for (auto region = graph.regions.rbegin(); region != graph.regions.rend(); ++region) {
    for (Block& block : region->blocks) {
      adapt_results(regions, block);
    }
  }
}

void set_data(Graph& graph, Tensor& tensor, std::vector<uint8_t> bytes) {
  graph.storage.push_back(std::make_shared<const std::vector<uint8_t>>(std::move(bytes)));
  tensor.data = *graph.storage.back();
  tensor.has_data = true;
}

}  // namespace npu::fuzz
