// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "driver/compiler/lower/grouping.h"
#include "driver/compiler/lower/regions.h"

namespace npu::compiler {

using graph::Op;
using graph::TensorId;

Dependencies::Dependencies(const Facts& facts)
    : facts_(facts),
      is_node_(facts.block().operators.size()),
      direct_reads_(facts.block().operators.size()),
      before_(facts.block().operators.size()),
      after_(facts.block().operators.size()) {
  find_direct_reads();
  for (size_t i = 0; i < is_node_.size(); ++i) {
    is_node_[i] = facts.live(i) && makes_steps(family_of(facts.op(i).op).kind) && !direct_reads_[i];
    if (is_node_[i]) nodes_.push_back(i);
  }
  add_data_edges();
  add_variable_edges();
}

// Users of a VARIABLE_READ may look at the variable itself when all of them come before its next write.
void Dependencies::find_direct_reads() {
  constexpr size_t kEnd = static_cast<size_t>(-1);
  const auto& block = facts_.block();
  std::vector<size_t> last_use(block.tensors.size(), 0);
  for (TensorId id = 0; id < block.tensors.size(); ++id) {
    if (facts_.is_output(id)) last_use[id] = kEnd;
  }
  std::map<uint32_t, size_t> next_write;  // by variable
  for (size_t i = block.operators.size(); i-- > 0;) {
    const graph::Operator& op = facts_.op(i);
    if (!facts_.live(i)) continue;
    for (const uint32_t variable : facts_.regions().touched(block, op).written) next_write[variable] = i;
    if (op.op == Op::kVariableRead) {
      const auto write = next_write.find(facts_.regions().variable(facts_.tensor(op.inputs[0])));
      direct_reads_[i] = !facts_.regions().reads_late(block, op) &&
                         (write == next_write.end() || last_use[op.outputs[0]] < write->second);
    }
    const bool view = family_of(op.op).kind == Kind::kView;
    const size_t use = view ? last_use[op.outputs[0]] : i;
    for (TensorId id : op.inputs) last_use[id] = std::max(last_use[id], use);
  }
}

void Dependencies::add_edge(size_t first, size_t second) {
  if (std::find(before_[second].begin(), before_[second].end(), first) != before_[second].end()) return;
  before_[second].push_back(first);
  after_[first].push_back(second);
}

void Dependencies::add_data_edges() {
  for (size_t i : nodes_) {
    for (TensorId id : facts_.op(i).inputs) {
      const auto producer = facts_.producer(facts_.view_root(id));
      if (producer && is_node_[*producer]) add_edge(*producer, i);
    }
  }
}

std::vector<size_t> Dependencies::readers(TensorId id) const {
  std::vector<size_t> result;
  std::vector<TensorId> pending = {id};
  while (!pending.empty()) {
    const TensorId current = pending.back();
    pending.pop_back();
    for (const Use& use : facts_.uses(current)) {
      if (is_node_[use.op]) {
        result.push_back(use.op);
      } else {
        pending.push_back(facts_.op(use.op).outputs[0]);
      }
    }
  }
  return result;
}

void Dependencies::add_variable_edges() {
  struct Accesses {
    std::optional<size_t> write;
    std::vector<size_t> reads;  // since that write
  };
  std::map<uint32_t, Accesses> variables;  // by number
  for (size_t i = 0; i < is_node_.size(); ++i) {
    const graph::Operator& op = facts_.op(i);
    if (!facts_.live(i)) continue;
    const TouchedVariables touched = facts_.regions().touched(facts_.block(), op);
    for (const uint32_t variable : touched.read) {
      Accesses& accesses = variables[variable];
      const std::vector<size_t> reads = direct_reads_[i] ? readers(op.outputs[0]) : std::vector<size_t>{i};
      for (size_t read : reads) {
        if (accesses.write) add_edge(*accesses.write, read);
        accesses.reads.push_back(read);
      }
    }
    for (const uint32_t variable : touched.written) {
      Accesses& accesses = variables[variable];
      if (accesses.write && *accesses.write != i) add_edge(*accesses.write, i);
      for (size_t read : accesses.reads) {
        if (read != i) add_edge(read, i);
      }
      accesses = {i, {}};
    }
  }
}

}  // namespace npu::compiler
