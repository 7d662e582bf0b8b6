// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/block_run.h"

#include <fmt/format.h>

#include <utility>

#include "sim/reference/element.h"
#include "sim/reference/operators.h"

namespace npu::reference {

using contract::ErrorCode;
using graph::Operator;
using graph::Tensor;
using graph::TensorId;
using graph::Value;

BlockRun::BlockRun(Execution& execution, const graph::Block& block, const std::vector<const Value*>& inputs)
    : execution_(execution), block_(block), slots_(block.tensors.size()), last_use_(block.tensors.size(), 0) {
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    slots_[block.inputs[i]].value = inputs[i];
  }
  for (size_t i = 0; i < block.operators.size(); ++i) {
    for (const TensorId id : block.operators[i].inputs) {
      last_use_[id] = i;
    }
  }
  for (const TensorId id : block.outputs) {
    last_use_[id] = block.operators.size();
  }
}

BlockRun::~BlockRun() { execution_.return_memory(alive_); }

std::vector<Value> BlockRun::execute(const Observer& observer) {
  for (size_t i = 0; i < block_.operators.size(); ++i) {
    const Operator& op = block_.operators[i];
    std::vector<const Value*> results;
    if (op.op == graph::Op::kConst || op.op == graph::Op::kConstShape) {
      if (!observer) {
        continue;
      }
      for (const TensorId id : op.outputs) {
        results.push_back(&read(id));
      }
    } else {
      results = step(i);
    }
    if (observer) {
      observer(i, op, results);
    }
    release(op.inputs, i);
    release(op.outputs, i);
  }
  return results();
}

void BlockRun::foresee_memory() const {
  int64_t alive = 0;
  std::vector<int64_t> taken(slots_.size(), 0);
  const auto take = [&](TensorId id) {
    const Tensor& tensor = block_.tensors[id];
    if (tensor.variable || slots_[id].value != nullptr || taken[id] > 0) return;
    taken[id] = value_bytes(tensor);
    alive += taken[id];
    execution_.require_memory(alive, tensor);
  };
  for (size_t i = 0; i < block_.operators.size(); ++i) {
    const Operator& op = block_.operators[i];
    if (op.op == graph::Op::kConst || op.op == graph::Op::kConstShape) continue;  // taken where they are read
    for (const TensorId id : op.inputs) take(id);
    for (const TensorId id : op.outputs) take(id);
    for (const auto* ids : {&op.inputs, &op.outputs}) {
      for (const TensorId id : *ids) {
        if (last_use_[id] <= i) alive -= std::exchange(taken[id], 0);
      }
    }
  }
  for (const TensorId id : block_.outputs) {  // copies
    alive += value_bytes(block_.tensors[id]);
    execution_.require_memory(alive, block_.tensors[id]);
  }
}

std::vector<const Value*> BlockRun::step(size_t position) {
  const Operator& op = block_.operators[position];
  std::vector<const Value*> inputs;
  for (const TensorId id : op.inputs) {
    inputs.push_back(block_.tensors[id].variable ? nullptr : &read(id));
  }
  execution_.count_work(block_, op);
  std::vector<Value*> outputs;
  for (const TensorId id : op.outputs) {
    if (!block_.tensors[id].variable) {
      outputs.push_back(&allocate(id));
    }
  }
  Call call(op, block_, std::move(inputs), outputs, &execution_);
  const Function function = find_operator(op.op);
  if (function == nullptr) {
    call.fail(ErrorCode::kOperatorUnsupported, fmt::format("the reference does not compute {}", graph::name(op.op)));
  }
  function(call);
  return {outputs.begin(), outputs.end()};
}

Value& BlockRun::own(TensorId id, Value value) {
  alive_ += static_cast<int64_t>(value.bytes.size());
  Slot& slot = slots_[id];
  slot.owned = std::make_unique<Value>(std::move(value));
  slot.value = slot.owned.get();
  return *slot.owned;
}

Value& BlockRun::allocate(TensorId id) {
  const Tensor& tensor = block_.tensors[id];
  const int64_t bytes = value_bytes(tensor);
  execution_.take_memory(bytes, tensor);
  return own(id, {tensor.type, tensor.shape, std::vector<uint8_t>(static_cast<size_t>(bytes))});
}

// The value of a tensor, which is an input, a result of an earlier operator, or a constant.
const Value& BlockRun::read(TensorId id) {
  Slot& slot = slots_[id];
  if (slot.value == nullptr) {
    const Tensor& tensor = block_.tensors[id];
    if (!tensor.has_data || tensor.variable) {
      throw Error(ErrorCode::kBadStructure, fmt::format("tensor '{}' is read before it has a value", tensor.name));
    }
    execution_.take_memory(value_bytes(tensor), tensor);
    own(id, graph::value_of_constant(tensor));
  }
  return *slot.value;
}

void BlockRun::release(std::span<const TensorId> ids, size_t position) {
  for (const TensorId id : ids) {
    Slot& slot = slots_[id];
    if (slot.owned && last_use_[id] <= position) {
      const auto bytes = static_cast<int64_t>(slot.owned->bytes.size());
      alive_ -= bytes;
      execution_.return_memory(bytes);
      slot = {};
    }
  }
}

std::vector<Value> BlockRun::results() {
  std::vector<Value> values;
  for (const TensorId id : block_.outputs) {
    // A copy, which may be of any number: an output may be named several times, or be an input.
    const Value& value = read(id);
    const auto bytes = static_cast<int64_t>(value.bytes.size());
    execution_.take_memory(bytes, block_.tensors[id]);
    alive_ += bytes;
    values.push_back(value);
  }
  return values;
}

}  // namespace npu::reference
