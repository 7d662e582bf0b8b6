// SPDX-License-Identifier: Apache-2.0
// The blocks that control flow names, seen from the operator.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/compiler/fold.h"
#include "driver/compiler/lower/facts.h"
#include "driver/graph/graph.h"

namespace npu::compiler {

// The block of a region that exists, as in a valid graph.
[[nodiscard]] const graph::Block& block_of(const graph::Graph& graph, const std::string& region);

// Of COND_IF and WHILE_LOOP the two blocks that it names: then, else; condition, body. Of others none.
[[nodiscard]] std::vector<const graph::Block*> blocks_of(const graph::Graph& graph, const graph::Operator& op);

// How many blocks an operator becomes when each is put where it is named; above `most` it stops counting.
[[nodiscard]] int64_t count_blocks(const graph::Graph& graph, const graph::Operator& op, int64_t most);

// The identities of the variables that an operator of `block` reads and writes, itself or in the blocks that it names.
struct TouchedVariables {
  std::set<std::string> read, written;
};
[[nodiscard]] TouchedVariables touched_variables(const graph::Graph& graph, const graph::Block& block,
                                                 const graph::Operator& op);

// Of a WHILE_LOOP: which operands its body hands on as they are. Such a value is no state of the loop.
[[nodiscard]] std::vector<bool> invariants(const graph::Graph& graph, const graph::Operator& op);

// The values of a block's inputs that are known where the operator stands.
[[nodiscard]] std::vector<std::optional<Constant>> known_inputs(const Facts& facts, const graph::Operator& op);

}  // namespace npu::compiler
