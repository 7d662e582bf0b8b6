// The bit-exact software reference: runs a TOSA graph operator by operator as the specification says. Knows
// driver/graph only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"

namespace npu::reference {

// The persistent variables of one context: live across invocations and graphs.
struct VariableState {
  graph::Value value;
  bool is_written = false;
};
class Context {
 public:
  // Forgets all variables: the next declaration applies its initial value again.
  void clear() { variables.clear(); }
  std::map<std::string, VariableState> variables;  // by graph::variable_identity
};

// Called after each operator with its results (none for VARIABLE_WRITE); for taps and traces. The values live only
// during the call.
using Observer =
    std::function<void(size_t operator_index, const graph::Operator&, const std::vector<const graph::Value*>&)>;

// Runs a validated graph once. `inputs` and the result are in the order of the block's inputs and outputs.
// Throws Error: bad_input (count, type, shape), require_failed and the variable codes (unpredictable),
// operator_unsupported or type_unsupported for what the reference lacks, budget_exceeded for tensors above 2 GiB or 4
// GiB of them at a time. After an Error from an operator the variables hold what was written before it.
[[nodiscard]] std::vector<graph::Value> run(const graph::Graph& graph, const std::vector<graph::Value>& inputs,
                                            Context& context, const Observer& observer = {});

}  // namespace npu::reference
