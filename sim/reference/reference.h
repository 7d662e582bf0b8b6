// SPDX-License-Identifier: Apache-2.0
// The software reference: runs a TOSA graph operator by operator as the specification says, integers bit-exact,
// floating point computed in double and rounded once an operator. Knows driver/graph only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/level.h"
#include "driver/graph/value.h"

namespace npu::reference {

class Call;

// The persistent variables of one context: live across invocations and graphs.
struct VariableState {
  graph::Value value;
  bool is_written = false;
};
class Context {
 public:
  // Forgets all variables: the next declaration applies its initial value again.
  void clear() { variables.clear(); }
  // The same for one; false if there is none of that identity.
  bool clear(const std::string& identity) { return variables.erase(identity) > 0; }
  std::map<std::string, VariableState> variables;  // by graph::variable_identity
};

// Called after each operator of the main block with its results (none for VARIABLE_WRITE); for taps and traces. Control
// flow is one operator. The values live only during the call.
using Observer =
    std::function<void(size_t operator_index, const graph::Operator&, const std::vector<const graph::Value*>&)>;

// Computes a CUSTOM operator: reads call.input(i) and call.attributes(), fills the bytes of call.output(i), which have
// their size. It may throw Error, best with call.fail().
using CustomFunction = std::function<void(Call& call)>;
class CustomOperators {
 public:
  // Replaces an earlier function of the same domain and name.
  void add(std::string domain, std::string name, CustomFunction function) {
    functions_[{std::move(domain), std::move(name)}] = std::move(function);
  }
  // Null when there is none.
  [[nodiscard]] const CustomFunction* find(const std::string& domain, const std::string& name) const {
    const auto found = functions_.find({domain, name});
    return found == functions_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, CustomFunction> functions_;  // by domain and name
};

struct Options {
  // Refuses a graph above the level (graph::check_level) before anything runs; without one, sizes are not looked at.
  std::optional<graph::Level> level = std::nullopt;
  // What one execution may take; above it, budget_exceeded.
  int64_t most_iterations = graph::kMostIterations;  // of all loops together; a branch counts as one
  int64_t most_work = INT64_MAX;                     // elements read and written, and products
  int64_t most_bytes = int64_t{1} << 32;    // of all values alive at a time, and of all variables of the context
  const CustomOperators* custom = nullptr;  // outlives the run
};

// Runs a validated graph once. `inputs` and the result are in the order of the block's inputs and outputs.
// Throws Error: bad_input (count, type, shape), require_failed and the variable codes (unpredictable), bad_argument for
// an operand of EXT-DYNAMIC with a value that its operator does not allow, operator_unsupported or type_unsupported for
// what the reference lacks, budget_exceeded for what is above the options and for tensors above 2 GiB. After an Error
// from an operator the variables hold what was written before it.
[[nodiscard]] std::vector<graph::Value> run(const graph::Graph& graph, const std::vector<graph::Value>& inputs,
                                            Context& context, const Observer& observer = {},
                                            const Options& options = {});

}  // namespace npu::reference
