// SPDX-License-Identifier: Apache-2.0
// What lowering needs to know about a block: who makes and who uses each tensor, what is constant, what is needed at
// all; and for which machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/fold.h"
#include "driver/compiler/lower/regions.h"
#include "driver/graph/graph.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

struct Use {
  size_t op = 0;       // index into Block::operators
  size_t operand = 0;  // index into Operator::inputs
};

// Operators whose results are their input's elements in the same order.
[[nodiscard]] constexpr bool keeps_elements(graph::Op op) {
  return op == graph::Op::kReshape || op == graph::Op::kIdentity;
}

class Facts {
 public:
  // Of the block that runs first. The graph must be valid and outlive this, as must the machine.
  Facts(const graph::Graph& graph, const contract::Capabilities& machine);
  // Of one that control flow in `outer` names, as it is there: some of its inputs may be known.
  Facts(const Facts& outer, const graph::Operator& op, const graph::Block& block);

  [[nodiscard]] const Regions& regions() const { return *regions_; }
  [[nodiscard]] const graph::Graph& graph() const { return regions_->graph(); }
  [[nodiscard]] const contract::Capabilities& machine() const { return machine_; }
  // A branch or a part of a loop, and not what runs first.
  [[nodiscard]] bool nested() const { return &block_ != &graph().main(); }

  [[nodiscard]] const graph::Block& block() const { return block_; }
  [[nodiscard]] const graph::Operator& op(size_t index) const { return block_.operators[index]; }
  [[nodiscard]] const graph::Tensor& tensor(graph::TensorId id) const { return block_.tensors[id]; }
  [[nodiscard]] const graph::Tensor& result(const graph::Operator& op) const { return block_.tensors[op.outputs[0]]; }

  // The operator that makes a tensor; none for inputs of the block and variables.
  [[nodiscard]] std::optional<size_t> producer(graph::TensorId id) const { return producers_[id]; }
  // Uses by needed operators only, in operator order.
  [[nodiscard]] std::span<const Use> uses(graph::TensorId id) const { return uses_[id]; }
  [[nodiscard]] bool is_output(graph::TensorId id) const { return is_output_[id]; }
  [[nodiscard]] const Constant* constant(graph::TensorId id) const {
    return constants_[id] ? &*constants_[id] : nullptr;
  }
  // Needed at run time: neither folded nor dead. A VARIABLE operator is where it declares its variable itself.
  [[nodiscard]] bool live(size_t op) const { return live_[op]; }

  // RESHAPE that only adds or drops dimensions of 1, or IDENTITY: element by element the same iteration space.
  [[nodiscard]] bool is_alias(const graph::Operator& op) const;
  // The tensor that a chain of aliases starts from.
  [[nodiscard]] graph::TensorId alias_root(graph::TensorId id) const { return alias_roots_[id]; }
  // The tensor in memory that a chain of views (RESHAPE, IDENTITY, SLICE, TRANSPOSE, REVERSE) starts from.
  [[nodiscard]] graph::TensorId view_root(graph::TensorId id) const { return view_roots_[id]; }

  // The value of an operand that is a constant of one element; nullopt when it is none or absent.
  [[nodiscard]] std::optional<int64_t> scalar(const graph::Operator& op, size_t operand) const;
  // The index-th shape operand; nullopt when it is not constant.
  [[nodiscard]] std::optional<std::vector<int64_t>> shape_operand(const graph::Operator& op, size_t index) const;

 private:
  Facts(std::shared_ptr<const Regions> regions, const contract::Capabilities& machine, const graph::Block& block,
        const Folding& folding);
  void find_producers();
  void find_live();
  void find_uses();
  void find_roots();

  std::shared_ptr<const Regions> regions_;
  const contract::Capabilities& machine_;
  const graph::Block& block_;
  std::vector<std::optional<Constant>> constants_;
  std::vector<std::optional<size_t>> producers_;
  std::vector<std::vector<Use>> uses_;
  std::vector<bool> is_output_, live_;
  std::vector<graph::TensorId> alias_roots_, view_roots_;
};

}  // namespace npu::compiler
