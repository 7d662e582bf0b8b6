// SPDX-License-Identifier: Apache-2.0
// The shapes of a block that resolving finds the values of. Private to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "driver/graph/graph.h"

namespace npu::graph {

class ResolvedShapes {
 public:
  // A shape that the file does not have, for the block: a new tensor, or the one with these sizes.
  [[nodiscard]] TensorId constant(Graph& graph, Block& block, const Shape& sizes);
  // The value of a shape operator's result, if it has one; `open` when it depends on a size that the file leaves open.
  void take(Graph& graph, Block& block, const Operator& op, const Shape& value, bool open);

  [[nodiscard]] bool was_computed(TensorId id) const { return computed_.contains(id); }
  // Whether a shape operand of the operator was computed from a size that the file leaves open.
  [[nodiscard]] bool follows_from_open_sizes(const Operator& op) const;

  // Makes CONST_SHAPE operators of all that has a value, and leaves out those without a result.
  void finish(Block& block) const;

 private:
  [[nodiscard]] uint64_t next_name(const Block& block);

  std::map<Shape, TensorId> added_;
  std::set<TensorId> computed_, open_;
  std::optional<uint64_t> next_name_;
};

}  // namespace npu::graph
