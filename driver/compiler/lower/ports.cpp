// SPDX-License-Identifier: Apache-2.0
// What a module shows to the outside: inputs, outputs and variables.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/regions.h"
#include "driver/graph/element.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using graph::Op;
using graph::TensorId;

// Bytes of a tensor in device memory, whose offsets have 32 bits.
uint32_t bytes_of(const graph::Tensor& tensor) {
  const int64_t bytes = product(tensor.shape) * graph::machine_width(tensor.type);
  if (bytes <= UINT32_MAX) return static_cast<uint32_t>(bytes);
  throw Error(contract::ErrorCode::kDramFull,
              "tensor '" + tensor.name + "' takes " + std::to_string(bytes) +
                  " bytes, more than a device can address; make it smaller than 2 GiB.");
}

Port port_of(const graph::Tensor& tensor) {
  Port port;
  port.name = tensor.name;
  port.type = tensor.type;
  port.shape = tensor.shape;
  port.bytes = bytes_of(tensor);
  return port;
}

// Whether an unsigned RESCALE reads the tensor.
bool feeds_unsigned(const Facts& facts, TensorId id) {
  std::vector<TensorId> pending = {id};
  while (!pending.empty()) {
    const TensorId current = pending.back();
    pending.pop_back();
    for (const Use& use : facts.uses(current)) {
      const graph::Operator& op = facts.op(use.op);
      if (op.op == Op::kRescale && op.attributes.input_unsigned && use.operand == 0) return true;
      if (op.outputs.empty()) continue;  // control flow for the sake of variables
      if (facts.view_root(op.outputs[0]) == facts.view_root(current)) pending.push_back(op.outputs[0]);
    }
  }
  return false;
}

// Whether an unsigned RESCALE makes the tensor.
bool leaves_unsigned(const Facts& facts, TensorId id) {
  const auto producer = facts.producer(facts.view_root(id));
  return producer && facts.op(*producer).op == Op::kRescale && facts.op(*producer).attributes.output_unsigned;
}

// The variables that each execution reads before the operator that declares them, by number. The program declares them
// before it does anything else, so the order has to be told.
std::set<uint32_t> read_before_declaration(const Facts& facts) {
  std::set<uint32_t> read, early;
  for (const graph::Operator& op : facts.block().operators) {
    if (op.op == Op::kVariableRead) read.insert(facts.regions().variable(facts.tensor(op.inputs[0])));
    if (op.op != Op::kVariable) continue;
    const uint32_t variable = facts.regions().variable(facts.result(op));
    if (read.contains(variable)) early.insert(variable);
  }
  return early;
}

}  // namespace

void Emitter::make_ports() {
  const graph::Block& block = facts_.block();
  const auto add_port = [&](TensorId id, BufferKind kind, std::vector<Port>& ports, std::vector<BufferId>& buffers) {
    const graph::Tensor& tensor = facts_.tensor(id);
    Buffer buffer;
    buffer.name = tensor.name;
    buffer.kind = kind;
    buffer.index = static_cast<uint32_t>(ports.size());
    ports.push_back(port_of(tensor));
    buffer.bytes = ports.back().bytes;
    buffers.push_back(add_buffer(std::move(buffer)));
  };
  for (TensorId id : block.inputs) {
    add_port(id, BufferKind::kInput, module_.inputs, module_.input_buffers);
    module_.inputs.back().accepts_unsigned = feeds_unsigned(facts_, id);
    values_[id] =
        dense_view(module_.input_buffers.back(), *element_of(facts_.tensor(id).type), facts_.tensor(id).shape);
  }
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const TensorId id = block.outputs[i];
    const auto first =
        static_cast<size_t>(std::find(block.outputs.begin(), block.outputs.end(), id) - block.outputs.begin());
    if (first == i) {
      add_port(id, BufferKind::kOutput, module_.outputs, module_.output_buffers);
      module_.outputs.back().accepts_unsigned = leaves_unsigned(facts_, id);
    } else {
      // Listed again: the same bytes under the same name.
      module_.outputs.push_back(module_.outputs[first]);
      module_.output_buffers.push_back(module_.output_buffers[first]);
    }
  }
}

void Emitter::declare_variables() {
  const std::set<uint32_t> early = read_before_declaration(facts_);
  for (const Declaration& declaration : facts_.regions().declarations().all()) {
    const graph::Tensor* tensor = declaration.tensor;
    Variable variable;
    variable.identity = graph::variable_identity(*tensor);
    variable.tensor_name = tensor->name;
    variable.type = tensor->type;
    variable.shape = tensor->shape;
    variable.bytes = bytes_of(*tensor);
    variable.hash = variable_hash(tensor->type, tensor->shape);
    if (tensor->has_data) variable.initial = graph::value_of_constant(*tensor).bytes;
    variable.declared_late = declaration.late;
    variable.read_first = !declaration.late && early.contains(facts_.regions().variable(*tensor));
    const auto index = static_cast<uint32_t>(module_.variables.size());
    if (index == 0) {
      Layer layer;
      layer.name = layer.position = "variables";
      layer.operators = layer.kind = "VARIABLE";
      begin_layer(std::move(layer));
    }
    Buffer buffer;
    buffer.name = variable.identity;
    buffer.kind = BufferKind::kVariable;
    buffer.index = index;
    buffer.bytes = variable.bytes;
    emission_.variables[variable.identity] = add_buffer(std::move(buffer));
    module_.variables.push_back(std::move(variable));
    if (!declaration.late) add(DeclareStep{index});
  }
}

}  // namespace npu::compiler
