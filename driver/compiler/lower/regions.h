// SPDX-License-Identifier: Apache-2.0
// The blocks that control flow names, seen from the operator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "driver/compiler/fold.h"
#include "driver/compiler/lower/declarations.h"
#include "driver/graph/graph.h"

namespace npu::compiler {

// Numbers of variables (Regions::variable), ascending.
struct TouchedVariables {
  std::vector<uint32_t> read, written;
};

// What is known of a graph's regions before any is lowered; each answer is found once. The graph must be valid and
// outlive this.
class Regions {
 public:
  // Operators, operands and tensors of all blocks together, where each block counts as often as it is put somewhere.
  // A block is put where it is named, each time, so that few small blocks that name each other twice may be many.
  static constexpr int64_t kMostParts = int64_t{1} << 18;

  explicit Regions(const graph::Graph& graph);

  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  [[nodiscard]] const graph::Block& block_of(const std::string& region) const { return *blocks_.at(region); }
  // Of COND_IF and WHILE_LOOP the two blocks that it names: then, else; condition, body. Of others none.
  [[nodiscard]] std::vector<const graph::Block*> blocks_of(const graph::Operator& op) const;

  // The number of a variable tensor's identity in this graph.
  [[nodiscard]] uint32_t variable(const graph::Tensor& tensor) const { return declarations_.number(tensor); }
  [[nodiscard]] const Declarations& declarations() const { return declarations_; }
  // Whether the operator of `block` declares a variable where it stands, and not before all others.
  [[nodiscard]] bool declares_late(const graph::Block& block, const graph::Operator& op) const {
    return op.op == graph::Op::kVariable && declarations_.of(block.tensors[op.outputs[0]]).late;
  }
  // Whether the operator of `block` reads a variable that is declared late. Each such read happens where it stands,
  // whether or not its result is used: it ends the job where the variable is not declared.
  [[nodiscard]] bool reads_late(const graph::Block& block, const graph::Operator& op) const {
    return op.op == graph::Op::kVariableRead && declarations_.of(block.tensors[op.inputs[0]]).late;
  }
  // The variables that an operator of `block` reads and writes, itself or in the blocks that it names. A declaration
  // counts as a write where it stands: nothing that uses the variable may pass it.
  [[nodiscard]] TouchedVariables touched(const graph::Block& block, const graph::Operator& op) const;
  // Whether an operator of `block` does more than make its results, itself or in the blocks that it names: it writes or
  // declares a variable, may find one undeclared, or may never end.
  [[nodiscard]] bool has_effects(const graph::Block& block, const graph::Operator& op) const;

  // Whether the blocks that the main block's control flow becomes, up to and with this operator of it, have more than
  // kMostParts parts.
  [[nodiscard]] bool beyond_limit(const graph::Operator& op) const { return first_beyond_ && &op >= first_beyond_; }
  // What folding may allocate for each block that is put somewhere, in bytes.
  [[nodiscard]] int64_t folding_budget() const { return kFoldingBudget / (puts_ + 1); }
  // Of all blocks but the main one.
  [[nodiscard]] ConstantData& constants() const { return constants_; }

 private:
  // Of a block, with those that it names.
  struct Summary {
    TouchedVariables touched;  // nothing behind the limit, where no network is lowered
    bool effects = false, listed = false;
    int64_t parts = 0, puts = 1;  // saturate behind kMostParts
  };
  void measure(const graph::Block& block);         // all but `touched`
  void list_variables(const graph::Block& block);  // `touched`
  [[nodiscard]] TouchedVariables touched_itself(const graph::Block& block, const graph::Operator& op) const;
  void measure_main();

  const graph::Graph& graph_;
  const Declarations declarations_;
  std::unordered_map<std::string_view, const graph::Block*> blocks_;  // by region
  std::unordered_map<const graph::Block*, Summary> summaries_;  // of those that control flow of the main block names
  const graph::Operator* first_beyond_ = nullptr;
  int64_t puts_ = 0;  // of all blocks
  mutable ConstantData constants_;
};

// Of a WHILE_LOOP: which operands its body hands on as they are. Such a value is no state of the loop.
[[nodiscard]] std::vector<bool> invariants(const Regions& regions, const graph::Operator& op);

}  // namespace npu::compiler
