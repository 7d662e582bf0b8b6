// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/variables.h"

#include <fmt/format.h>

#include <map>

#include "sim/reference/element.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

// The variable that a VARIABLE or VARIABLE_WRITE names is its result, that of VARIABLE_READ its operand.
const graph::Tensor& variable_of(const Call& call) {
  const graph::Operator& op = call.op();
  const auto& list = op.op == graph::Op::kVariableRead ? op.inputs : op.outputs;
  call.error_if(list.empty() || !call.tensor(list[0]).variable, ErrorCode::kBadArgument, "it names no variable");
  return call.tensor(list[0]);
}

std::string type_and_shape(graph::DType type, const graph::Shape& shape) {
  return fmt::format("{} {}", graph::name(type), graph::to_string(shape));
}

// Reads and writes carry the declared type and shape.
void check_access(const Call& call, const graph::Tensor& tensor, const graph::Value& value,
                  const graph::Value& variable) {
  if (value.type != variable.type || value.shape != variable.shape) {
    call.fail(ErrorCode::kVariableMismatch,
              fmt::format("variable '{}' is {} and is accessed as {}", graph::variable_identity(tensor),
                          type_and_shape(variable.type, variable.shape), type_and_shape(value.type, value.shape)));
  }
}

[[noreturn]] void fail_undeclared(const Call& call, const graph::Tensor& tensor) {
  call.fail(ErrorCode::kVariableUndeclared,
            fmt::format("variable '{}' is used before its declaration", graph::variable_identity(tensor)));
}

}  // namespace

void Variables::declare_tensors(const graph::Graph& graph) {
  std::set<std::string> declared_by_operator;
  std::map<std::string, const graph::Tensor*> declared_by_tensor;
  for (const graph::Region& region : graph.regions) {
    for (const graph::Block& block : region.blocks) {
      for (const graph::Operator& op : block.operators) {
        if (op.op == graph::Op::kVariable && !op.outputs.empty()) {
          declared_by_operator.insert(graph::variable_identity(block.tensors[op.outputs[0]]));
        }
      }
      for (const graph::Tensor& tensor : block.tensors) {
        if (tensor.variable) {
          // Only one of the blocks that use a variable may hold its initial value.
          const graph::Tensor*& first = declared_by_tensor[graph::variable_identity(tensor)];
          if (first == nullptr || (!first->has_data && tensor.has_data)) {
            first = &tensor;
          }
        }
      }
    }
  }
  // A graph that does not fit to what the context holds allocates nothing.
  for (const graph::Tensor& tensor : graph.main().tensors) {
    if (tensor.variable) require_fit(tensor, fmt::format("tensor '{}'", tensor.name));
  }
  for (const auto& [identity, tensor] : declared_by_tensor) {
    if (!declared_by_operator.contains(identity)) require_fit(*tensor, fmt::format("tensor '{}'", tensor->name));
  }
  for (const auto& [identity, tensor] : declared_by_tensor) {
    if (!declared_by_operator.contains(identity)) {
      allocate(*tensor, fmt::format("tensor '{}'", tensor->name));
    }
  }
}

void Variables::require_fit(const graph::Tensor& tensor, const std::string& where) const {
  const std::string identity = graph::variable_identity(tensor);
  const auto known = context_.variables.find(identity);
  if (known == context_.variables.end()) return;
  const graph::Value& value = known->second.value;
  if (value.type != tensor.type || value.shape != tensor.shape) {
    throw Error(
        ErrorCode::kVariableMismatch,
        fmt::format("{}: variable '{}' is declared as {}, but this context already holds it as {}", where, identity,
                    type_and_shape(tensor.type, tensor.shape), type_and_shape(value.type, value.shape)));
  }
}

void Variables::allocate(const graph::Tensor& tensor, const std::string& where) {
  const std::string identity = graph::variable_identity(tensor);
  require_fit(tensor, where);
  if (!context_.variables.contains(identity)) {
    const int64_t bytes = value_bytes(tensor);
    int64_t total = bytes;
    for (const auto& [name, state] : context_.variables) {
      total += static_cast<int64_t>(state.value.bytes.size());
    }
    if (total > most_bytes_) {
      throw Error(ErrorCode::kBudgetExceeded,
                  fmt::format("{}: with variable '{}' the context needs more than the reference's limit of {} MiB",
                              where, identity, most_bytes_ >> 20));
    }
    context_.variables[identity] = {
        tensor.has_data ? graph::value_of_constant(tensor)
                        : graph::Value{tensor.type, tensor.shape, std::vector<uint8_t>(static_cast<size_t>(bytes))},
        tensor.has_data};
  }
  seen_.insert(identity);
}

void Variables::declare(const Call& call, const graph::Tensor& tensor) {
  const std::string identity = graph::variable_identity(tensor);
  if (seen_.contains(identity)) {
    call.fail(ErrorCode::kVariableRedeclared,
              fmt::format("variable '{}' is declared twice in one execution", identity));
  }
  allocate(tensor, call.describe());
}

const VariableState& Variables::find(const Call& call, const graph::Tensor& tensor) const {
  const auto known = context_.variables.find(graph::variable_identity(tensor));
  if (known == context_.variables.end()) {
    fail_undeclared(call, tensor);
  }
  return known->second;
}

VariableState& Variables::find_seen(const Call& call, const graph::Tensor& tensor) {
  const std::string identity = graph::variable_identity(tensor);
  if (!seen_.contains(identity)) {
    fail_undeclared(call, tensor);
  }
  return context_.variables.at(identity);
}

void variable(Call& call) { call.variables().declare(call, variable_of(call)); }

void variable_read(Call& call) {
  const graph::Tensor& tensor = variable_of(call);
  const VariableState& state = call.variables().find(call, tensor);
  if (!state.is_written) {
    call.fail(ErrorCode::kVariableUnwritten,
              fmt::format("variable '{}' is read before it was ever written, and has no initial value",
                          graph::variable_identity(tensor)));
  }
  check_access(call, tensor, call.output(), state.value);
  call.output().bytes = state.value.bytes;
}

void variable_write(Call& call) {
  const graph::Tensor& tensor = variable_of(call);
  VariableState& state = call.variables().find_seen(call, tensor);
  check_access(call, tensor, call.input(0), state.value);
  state.value.bytes = call.input(0).bytes;
  state.is_written = true;
}

}  // namespace npu::reference
