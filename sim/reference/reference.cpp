#include "sim/reference/reference.h"

#include <fmt/format.h>

#include <memory>
#include <span>

#include "hw/contract/error.h"
#include "sim/reference/element.h"
#include "sim/reference/operators.h"
#include "sim/reference/variables.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;
using graph::Block;
using graph::DType;
using graph::Operator;
using graph::Tensor;
using graph::TensorId;
using graph::Value;

constexpr int64_t kMostAlive = int64_t{1} << 32;  // bytes of all values at one time

// Numpy and files can hold numbers that the type has not.
void check_range(const Tensor& tensor, const Value& value) {
  const auto wrong = [&](const char* what) {
    throw Error(ErrorCode::kBadInput, fmt::format("input '{}' holds {}", tensor.name, what));
  };
  if (value.type == DType::kBool) {
    for (const uint8_t byte : value.bytes) {
      if (byte > 1) {
        wrong("a boolean that is neither 0 nor 1");
      }
    }
  } else if (value.type == DType::kInt48) {
    for (const int64_t element : elements<int64_t>(value)) {
      if (element < Int48::kMin || element > Int48::kMax) {
        wrong("a number that needs more than 48 bits");
      }
    }
  } else if (value.type == DType::kInt4) {
    for (const int8_t element : elements<int8_t>(value)) {
      if (element < Int4::kMin || element > Int4::kMax) {
        wrong("a number that needs more than 4 bits");
      }
    }
  }
}

// One execution of a block. A value lives from the operator that makes it to the last one that reads it; a constant is
// widened when it is first read.
class Run {
 public:
  Run(const Block& block, const std::vector<Value>& inputs, Context& context)
      : block_(block), variables_(context), slots_(block.tensors.size()), last_use_(block.tensors.size(), 0) {
    bind_inputs(inputs);
    for (size_t i = 0; i < block.operators.size(); ++i) {
      for (const TensorId id : block.operators[i].inputs) {
        last_use_[id] = i;
      }
    }
    for (const TensorId id : block.outputs) {
      last_use_[id] = block.operators.size();
    }
  }

  void execute(const Observer& observer) {
    variables_.declare_tensors(block_);
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
        results = compute(op);
      }
      if (observer) {
        observer(i, op, results);
      }
      release(op.inputs, i);
      release(op.outputs, i);
    }
  }

  std::vector<Value> results() {
    std::vector<Value> values;
    for (const TensorId id : block_.outputs) {
      values.push_back(read(id));  // a copy: an output may be named twice, or be an input
    }
    return values;
  }

 private:
  struct Slot {
    const Value* value = nullptr;
    std::unique_ptr<Value> owned;  // empty for an input of the graph
  };

  void bind_inputs(const std::vector<Value>& inputs) {
    if (inputs.size() != block_.inputs.size()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the graph has {} inputs and {} were given", block_.inputs.size(), inputs.size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& tensor = block_.tensors[block_.inputs[i]];
      const Value& value = inputs[i];
      if (value.type != tensor.type || value.shape != tensor.shape) {
        throw Error(ErrorCode::kBadInput, fmt::format("input '{}' is {} {} and was given {} {}", tensor.name,
                                                      graph::name(tensor.type), graph::to_string(tensor.shape),
                                                      graph::name(value.type), graph::to_string(value.shape)));
      }
      if (static_cast<int64_t>(value.bytes.size()) != value_bytes(tensor)) {
        throw Error(ErrorCode::kBadInput, fmt::format("input '{}' has {} bytes of data where {} are needed",
                                                      tensor.name, value.bytes.size(), value_bytes(tensor)));
      }
      check_range(tensor, value);
      slots_[block_.inputs[i]].value = &value;
    }
  }

  Value& own(TensorId id, Value value) {
    alive_ += static_cast<int64_t>(value.bytes.size());
    Slot& slot = slots_[id];
    slot.owned = std::make_unique<Value>(std::move(value));
    slot.value = slot.owned.get();
    return *slot.owned;
  }

  Value& allocate(TensorId id) {
    const Tensor& tensor = block_.tensors[id];
    const int64_t bytes = value_bytes(tensor);
    if (bytes > kMostAlive - alive_) {
      throw Error(
          ErrorCode::kBudgetExceeded,
          fmt::format("at tensor '{}' the graph's values need more than the reference's limit of 4 GiB", tensor.name));
    }
    return own(id, {tensor.type, tensor.shape, std::vector<uint8_t>(static_cast<size_t>(bytes))});
  }

  // The value of a tensor, which is an input, a result of an earlier operator, or a constant.
  const Value& read(TensorId id) {
    Slot& slot = slots_[id];
    if (slot.value == nullptr) {
      const Tensor& tensor = block_.tensors[id];
      if (!tensor.has_data || tensor.variable) {
        throw Error(ErrorCode::kBadStructure, fmt::format("tensor '{}' is read before it has a value", tensor.name));
      }
      own(id, graph::value_of_constant(tensor));
    }
    return *slot.value;
  }

  std::vector<const Value*> compute(const Operator& op) {
    std::vector<const Value*> inputs;
    for (const TensorId id : op.inputs) {
      inputs.push_back(block_.tensors[id].variable ? nullptr : &read(id));
    }
    std::vector<Value*> outputs;
    for (const TensorId id : op.outputs) {
      if (!block_.tensors[id].variable) {
        outputs.push_back(&allocate(id));
      }
    }
    Call call(op, block_, std::move(inputs), outputs, &variables_);
    const Function function = find_operator(op.op);
    if (function == nullptr) {
      call.fail(ErrorCode::kOperatorUnsupported, fmt::format("the reference does not compute {}", graph::name(op.op)));
    }
    function(call);
    return {outputs.begin(), outputs.end()};
  }

  void release(std::span<const TensorId> ids, size_t operator_index) {
    for (const TensorId id : ids) {
      Slot& slot = slots_[id];
      if (slot.owned && last_use_[id] <= operator_index) {
        alive_ -= static_cast<int64_t>(slot.owned->bytes.size());
        slot = {};
      }
    }
  }

  const Block& block_;
  Variables variables_;
  std::vector<Slot> slots_;
  std::vector<size_t> last_use_;  // by tensor: index of an operator, or their number for an output of the graph
  int64_t alive_ = 0;             // bytes of owned values
};

}  // namespace

std::vector<Value> run(const graph::Graph& graph, const std::vector<Value>& inputs, Context& context,
                       const Observer& observer) {
  Run run(graph.main(), inputs, context);
  run.execute(observer);
  return run.results();
}

}  // namespace npu::reference
