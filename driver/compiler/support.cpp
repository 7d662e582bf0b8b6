// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/support.h"

#include <set>

#include "driver/compiler/lower/refusals.h"
#include "driver/graph/element.h"
#include "hw/contract/error.h"

namespace npu::compiler {

using contract::ErrorCode;
using graph::DType;

std::optional<Refusal> refusal_of(const Facts& facts, size_t op) {
  if (!facts.live(op)) return std::nullopt;
  return family_of(facts.op(op).op).check(facts, facts.op(op));
}

std::string types_of(const Facts& facts, const graph::Operator& op) {
  std::string in, out;
  if (!op.inputs.empty()) in = graph::name(facts.tensor(op.inputs[0]).type);
  if (!op.outputs.empty()) out = graph::name(facts.result(op).type);
  if (in.empty() || in == out) return out;
  if (!out.empty()) in.append(" -> ").append(out);
  return in;
}

namespace {

void require_operators(const Facts& facts) {
  for (size_t i = 0; i < facts.block().operators.size(); ++i) {
    const auto refusal = refusal_of(facts, i);
    if (!refusal) continue;
    const graph::Operator& op = facts.op(i);
    throw Error(refusal->code, "operator " + std::to_string(i) + ", " + std::string(graph::name(op.op)) + " (" +
                                   types_of(facts, op) + "), cannot run on this device: " + refusal->rule + "; " +
                                   refusal->way_out + ".");
  }
}

void require_storable(const graph::Tensor& tensor, std::string_view what) {
  if (element_of(tensor.type)) return;
  throw Error(ErrorCode::kTypeUnsupported, std::string(what) + " '" + tensor.name + "' has type " +
                                               std::string(graph::name(tensor.type)) +
                                               ", which this device cannot store; quantise the network to integers.");
}

void require_variables(const graph::Graph& graph) {
  for (const graph::Region& region : graph.regions) {
    for (const graph::Tensor& tensor : region.blocks.front().tensors) {
      if (tensor.variable) require_storable(tensor, "variable");
    }
  }
}

void require_tensors(const graph::Block& block) {
  for (graph::TensorId id : block.inputs) require_storable(block.tensors[id], "input");
  for (graph::TensorId id : block.outputs) {
    require_storable(block.tensors[id], "output");
    if (!block.tensors[id].variable) continue;
    throw Error(ErrorCode::kArgumentUnsupported,
                "output '" + block.tensors[id].name + "' is a variable; read it with VARIABLE_READ.");
  }
  std::set<std::string> identities;
  for (const graph::Tensor& tensor : block.tensors) {
    if (!tensor.variable) continue;
    const std::string identity = graph::variable_identity(tensor);
    if (!identities.insert(identity).second) {
      throw Error(ErrorCode::kVariableRedeclared, "variable '" + identity + "' is declared twice in one graph.");
    }
  }
}

}  // namespace

void require_support(const Facts& facts) {
  require_operators(facts);
  require_variables(facts.graph());
  require_tensors(facts.block());
}

std::vector<SupportRow> support(const graph::Graph& graph, const contract::Capabilities& capabilities) {
  const Facts facts(graph, capabilities);
  std::vector<SupportRow> rows;
  for (size_t i = 0; i < facts.block().operators.size(); ++i) {
    const graph::Operator& op = facts.op(i);
    const Family& family = family_of(op.op);
    if (family.kind == Kind::kConstant) continue;
    const std::optional<Refusal> refusal = refusal_of(facts, i);
    std::string_view engine = refusal ? std::string_view("-") : runs_on(family);
    if (!facts.live(i) && family.kind != Kind::kDeclare) {
      const bool folded = !op.outputs.empty() && facts.constant(op.outputs[0]) != nullptr;
      engine = folded ? std::string_view("folded") : std::string_view("unused");
    }
    SupportRow row{i, std::string(graph::name(op.op)), types_of(facts, op), !refusal, std::string(engine), {}, {}};
    if (refusal) {
      row.reason = refusal->rule;
      row.way_out = refusal->way_out;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace npu::compiler
