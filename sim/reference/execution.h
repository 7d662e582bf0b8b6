// SPDX-License-Identifier: Apache-2.0
// One outermost execution of a graph: what all of its blocks share. A branch or loop body runs as a part of the
// execution that reached it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/reference/call.h"
#include "sim/reference/reference.h"
#include "sim/reference/variables.h"

namespace npu::reference {

class Execution {
 public:
  Execution(const graph::Graph& graph, Context& context, const Options& options);

  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Variables& variables() { return variables_; }

  // Runs the block of the region that control flow names. `inputs` are in its order. Throws what its operators throw,
  // with the place of the call behind, and bad_structure when there is no such region or calls nest too deep.
  [[nodiscard]] std::vector<graph::Value> run_region(const Call& call, const std::string& region,
                                                     const std::vector<const graph::Value*>& inputs);

  // Throw Error(budget_exceeded) when the execution would take more than its options allow.
  void count_iteration(const Call& call);
  void count_work(const graph::Block& block, const graph::Operator& op);
  void take_memory(int64_t bytes, const graph::Tensor& tensor);
  // As take_memory(), but takes none.
  void require_memory(int64_t bytes, const graph::Tensor& tensor) const;
  void return_memory(int64_t bytes) { bytes_ -= bytes; }

 private:
  const graph::Graph& graph_;
  const Options& options_;
  Variables variables_;
  std::unordered_map<std::string, const graph::Block*> regions_;
  int64_t depth_ = 0, iterations_ = 0, work_ = 0, bytes_ = 0;
};

}  // namespace npu::reference
