// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/resolved_shapes.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace npu::graph {
namespace {

constexpr std::string_view kShapeName = "resolved_shape_";

void set_shape_value(Graph& graph, Tensor& tensor, const Shape& sizes) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(sizes.size() * sizeof(int64_t));
  if (!sizes.empty()) std::memcpy(bytes->data(), sizes.data(), bytes->size());
  tensor.data = *bytes;
  tensor.has_data = true;
  graph.storage.push_back(std::move(bytes));
}

Operator const_shape_of(TensorId id) {
  Operator op;
  op.op = Op::kConstShape;
  op.outputs = {id};
  return op;
}

}  // namespace

TensorId ResolvedShapes::constant(Graph& graph, Block& block, const Shape& sizes) {
  const auto [known, added] = added_.try_emplace(sizes, static_cast<TensorId>(block.tensors.size()));
  if (!added) return known->second;
  Tensor tensor;
  tensor.name = std::string(kShapeName) + std::to_string(next_name(block));
  tensor.type = DType::kShape;
  tensor.shape = {static_cast<int64_t>(sizes.size())};
  set_shape_value(graph, tensor, sizes);
  block.tensors.push_back(std::move(tensor));
  return known->second;
}

void ResolvedShapes::take(Graph& graph, Block& block, const Operator& op, const Shape& value, bool open) {
  if (op.outputs.empty()) return;
  const TensorId id = op.outputs[0];
  set_shape_value(graph, block.tensors[id], value);
  computed_.insert(id);
  if (open) open_.insert(id);
}

bool ResolvedShapes::follows_from_open_sizes(const Operator& op) const {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) { return open_.contains(id); });
}

void ResolvedShapes::finish(Block& block) const {
  std::vector<Operator> all;
  for (const auto& [sizes, id] : added_) all.push_back(const_shape_of(id));
  for (Operator& op : block.operators) {
    if (!is_shape_operator(op.op)) {
      all.push_back(std::move(op));
    } else if (!op.outputs.empty()) {
      Operator constant = const_shape_of(op.outputs[0]);
      constant.location = std::move(op.location);
      all.push_back(std::move(constant));
    }
  }
  block.operators = std::move(all);
}

// Behind the numbers that names of the file have already.
uint64_t ResolvedShapes::next_name(const Block& block) {
  if (!next_name_) {
    next_name_ = 0;
    for (const Tensor& tensor : block.tensors) {
      if (!tensor.name.starts_with(kShapeName)) continue;
      const std::string_view digits = std::string_view(tensor.name).substr(kShapeName.size());
      uint64_t number = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      const bool taken = error == std::errc() && number < std::numeric_limits<uint32_t>::max();
      if (taken) next_name_ = std::max(*next_name_, number + 1);
    }
  }
  return (*next_name_)++;
}

}  // namespace npu::graph
