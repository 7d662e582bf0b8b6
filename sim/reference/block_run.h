// SPDX-License-Identifier: Apache-2.0
// One execution of a block, operator by operator.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/reference/execution.h"

namespace npu::reference {

// A value lives from the operator that makes it to the last one that reads it; a constant is widened when it is first
// read.
class BlockRun {
 public:
  // `inputs` have the types and shapes of the block's inputs and outlive the run.
  BlockRun(Execution& execution, const graph::Block& block, const std::vector<const graph::Value*>& inputs);
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;
  ~BlockRun();

  // Throws Error(budget_exceeded) when execute() would, for memory that this block takes by itself: what control flow
  // runs takes more.
  void foresee_memory() const;

  // Once: the values of the block's outputs.
  [[nodiscard]] std::vector<graph::Value> execute(const Observer& observer);

 private:
  struct Slot {
    const graph::Value* value = nullptr;
    std::unique_ptr<graph::Value> owned;  // empty for an input of the block
  };

  std::vector<const graph::Value*> step(size_t position);
  const graph::Value& read(graph::TensorId id);
  graph::Value& own(graph::TensorId id, graph::Value value);
  graph::Value& allocate(graph::TensorId id);
  void release(std::span<const graph::TensorId> ids, size_t position);
  std::vector<graph::Value> results();

  Execution& execution_;
  const graph::Block& block_;
  std::vector<Slot> slots_;
  std::vector<size_t> last_use_;  // by tensor: index of an operator, or their number for an output of the block
  int64_t alive_ = 0;             // bytes of owned values, and of results
};

}  // namespace npu::reference
