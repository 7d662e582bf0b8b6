// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate.h"

#include <algorithm>

#include "driver/graph/operators.h"
#include "tests/fuzz/adapt.h"
#include "tests/fuzz/draw.h"
#include "tests/fuzz/mutate_attributes.h"

namespace npu::fuzz {
namespace {

using graph::Block;
using graph::DType;
using graph::Graph;
using graph::Op;
using graph::Operator;
using graph::Shape;
using graph::Tensor;
using graph::TensorId;

class Mutation {
 public:
  Mutation(Graph& graph, uint64_t seed) : graph_(graph), draw_(seed) {}

  void run() {
    change_one();
    for (int more = 0; more < 3 && draw_.one_in(3); ++more) {
      change_one();
    }
    if (!draw_.one_in(8)) {
      adapt(graph_);
    }
  }

 private:
  void change_one() {
    std::vector<Block*> blocks;
    for (graph::Region& region : graph_.regions) {
      for (Block& block : region.blocks) {
        blocks.push_back(&block);
      }
    }
    if (blocks.empty()) {
      return;
    }
    Block& block = *draw_.any(blocks);
    if (block.tensors.empty()) {
      return;
    }
    using Change = void (Mutation::*)(Block&);
    // What stands several times happens as much more often.
    static constexpr Change kChanges[] = {
        &Mutation::change_shape,     &Mutation::change_shape,      &Mutation::change_shape,
        &Mutation::change_data,      &Mutation::change_data,       &Mutation::change_data,
        &Mutation::change_attribute, &Mutation::change_attribute,  &Mutation::change_attribute,
        &Mutation::append_operator,  &Mutation::append_operator,   &Mutation::append_operator,
        &Mutation::repeat_operator,  &Mutation::change_variable,   &Mutation::change_regions,
        &Mutation::change_type,      &Mutation::exchange_types,    &Mutation::make_input,
        &Mutation::change_operands,  &Mutation::exchange_operands, &Mutation::change_operator,
        &Mutation::change_interface, &Mutation::remove_operator};
    (this->*draw_.any(kChanges))(block);
  }

  // ------------------------------------------------------------------------------------------------ tensors

  void change_shape(Block& block) {
    Tensor& tensor = draw_.any(block.tensors);
    if (tensor.type == DType::kShape) {
      tensor.shape = {static_cast<int64_t>(draw_.below(9))};
    } else if (draw_.one_in(8)) {
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(1 + draw_.below(2)));
    } else if (draw_.one_in(8) && !tensor.shape.empty()) {
      tensor.shape.erase(tensor.shape.begin());
    } else if (!tensor.shape.empty()) {
      draw_.any(tensor.shape) = draw_.one_in(8) ? draw_.number() : static_cast<int64_t>(1 + draw_.below(6));
    }
  }

  void change_type(Block& block) {
    Tensor& tensor = draw_.any(block.tensors);
    if (tensor.type != DType::kShape) {
      tensor.type = draw_.any(kTypes);
    }
  }

  // All tensors of one type become another one's, so that operands still agree.
  void exchange_types(Block& block) {
    const DType from = draw_.any(block.tensors).type;
    const DType to = draw_.any(kTypes);
    if (from == DType::kShape) {
      return;
    }
    for (Tensor& tensor : block.tensors) {
      if (tensor.type == from) {
        tensor.type = to;
      }
    }
    for (Operator& op : block.operators) {
      if (op.attributes.acc_type == from) {
        op.attributes.acc_type = to;
      }
    }
  }

  void change_data(Block& block) {
    // Shapes decide more than weights do.
    const bool only_shapes = draw_.one_in(2);
    std::vector<Tensor*> constants;
    for (Tensor& tensor : block.tensors) {
      if (!tensor.data.empty() && (!only_shapes || tensor.type == DType::kShape)) {
        constants.push_back(&tensor);
      }
    }
    if (constants.empty()) {
      return;
    }
    Tensor& tensor = *draw_.any(constants);
    std::vector<uint8_t> bytes(tensor.data.begin(), tensor.data.end());
    if (tensor.type == DType::kShape) {
      put(bytes, draw_.below(bytes.size() / 8) * 8, 8, draw_.signed_number());
    } else if (draw_.one_in(4)) {
      draw_.any(bytes) ^= static_cast<uint8_t>(1u << draw_.below(8));
    } else {
      const auto width = static_cast<size_t>(std::max<int64_t>(graph::byte_size(tensor.type, 1), 1));
      if (bytes.size() >= width) {
        put(bytes, draw_.below(bytes.size() / width) * width, width, draw_.signed_number());
      }
    }
    set_data(graph_, tensor, std::move(bytes));
  }

  static void put(std::vector<uint8_t>& bytes, size_t at, size_t width, int64_t value) {
    for (size_t i = 0; i < width && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
    }
  }

  void change_variable(Block& block) {
    Tensor& tensor = draw_.any(block.tensors);
    if (tensor.type == DType::kShape) {
      return;
    }
    switch (draw_.below(3)) {
      case 0:
        tensor.variable = !tensor.variable;
        tensor.variable_name = tensor.name;
        break;
      case 1:
        tensor.variable_name = draw_.any(block.tensors).variable_name;
        break;
      default: {
        // A new state: read, and written from what has its type and shape.
        const Tensor like = tensor;
        const TensorId state = add_tensor(block, like.type, like.shape);
        block.tensors[state].variable = true;
        block.tensors[state].variable_name = block.tensors[state].name;
        const TensorId value = add_tensor(block, like.type, like.shape);
        if (draw_.one_in(2)) {
          block.operators.insert(block.operators.begin(), {Op::kVariable, {}, {}, {state}, {}});
        }
        block.operators.push_back({Op::kVariableRead, {}, {state}, {value}, {}});
        block.operators.push_back({Op::kVariableWrite, {}, {value}, {state}, {}});
      }
    }
  }

  // A constant becomes a run-time value.
  void make_input(Block& block) {
    if (block.operators.empty()) {
      return;
    }
    const size_t position = draw_.below(block.operators.size());
    const Operator& op = block.operators[position];
    if (op.op == Op::kConst && !op.outputs.empty()) {
      const TensorId id = op.outputs[0];
      block.tensors[id].data = {};
      block.tensors[id].has_data = false;
      block.inputs.push_back(id);
      block.operators.erase(block.operators.begin() + static_cast<std::ptrdiff_t>(position));
    }
  }

  TensorId add_tensor(Block& block, DType type, Shape shape) {
    if (type == DType::kShape && shape.size() != 1) shape = {1};  // a file has no other
    Tensor tensor;
    // Names have to differ within a block, and lengths bound how many there are.
    for (size_t number = block.tensors.size(); tensor.name.empty(); ++number) {
      std::string name = std::string("t").append(std::to_string(number));
      const bool taken = std::any_of(block.tensors.begin(), block.tensors.end(),
                                     [&name](const Tensor& other) { return other.name == name; });
      if (!taken) {
        tensor.name = std::move(name);
      }
    }
    tensor.type = type;
    tensor.shape = std::move(shape);
    block.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(block.tensors.size() - 1);
  }

  // ---------------------------------------------------------------------------------------------- operators

  TensorId any_id(const Block& block) { return static_cast<TensorId>(draw_.below(block.tensors.size())); }

  void change_attribute(Block& block) { fuzz::change_attribute(graph_, block, draw_); }

  void change_operands(Block& block) {
    if (block.operators.empty()) {
      return;
    }
    Operator& op = draw_.any(block.operators);
    auto& list = draw_.one_in(4) ? op.outputs : op.inputs;
    if (list.empty() || draw_.one_in(6)) {
      list.push_back(any_id(block));
    } else if (draw_.one_in(6)) {
      list.pop_back();
    } else {
      draw_.any(list) = any_id(block);
    }
  }

  void exchange_operands(Block& block) {
    if (!block.operators.empty()) {
      Operator& op = draw_.any(block.operators);
      if (!op.inputs.empty()) {
        std::swap(draw_.any(op.inputs), draw_.any(op.inputs));
      }
    }
  }

  // Another operator with the same operands.
  void change_operator(Block& block) {
    if (block.operators.empty()) {
      return;
    }
    Operator& op = draw_.any(block.operators);
    const size_t operands = graph::info(op.op).inputs.size();
    for (int tries = 0; tries < 16; ++tries) {
      const auto other = static_cast<Op>(1 + draw_.below(graph::kOpCount - 1));
      if (graph::info(other).inputs.size() == operands) {
        op.op = other;
        return;
      }
    }
  }

  // A new operator behind the others, of operands that have the types of a row of its table.
  void append_operator(Block& block) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(1 + draw_.below(graph::kOpCount - 1)));
    if (entry.types.empty() || entry.inputs.empty()) {
      return;
    }
    const graph::TypeRow row = draw_.any(entry.types);
    Operator op{entry.op, {}, {}, {}, {}};
    op.attributes.nan_mode = graph::NanMode::kPropagate;
    op.attributes.resize_mode = graph::ResizeMode::kNearest;
    op.attributes.rounding_mode = graph::RoundingMode::kSingleRound;
    op.attributes.acc_type = row.types[static_cast<size_t>(graph::Slot::kAcc)];
    for (const graph::Operand& operand : entry.inputs) {
      op.inputs.push_back(operand_for(block, operand, row));
    }
    for (const graph::Operand& operand : entry.outputs) {
      const DType type = type_of(operand, row);
      op.outputs.push_back(add_tensor(block, type, block.tensors[op.inputs[0]].shape));
      if (type != DType::kShape) block.outputs.push_back(op.outputs.back());
    }
    block.operators.push_back(std::move(op));
  }

  static DType type_of(const graph::Operand& operand, const graph::TypeRow& row) {
    if (operand.fixed == DType::kShape) {
      return DType::kShape;
    }
    const DType type =
        operand.slot == graph::Slot::kNone ? operand.fixed : row.types[static_cast<size_t>(operand.slot)];
    return type == DType::kUnknown ? DType::kInt32 : type;
  }

  // A tensor that has the type, or a new constant of zeros.
  TensorId operand_for(Block& block, const graph::Operand& operand, const graph::TypeRow& row) {
    const DType type = type_of(operand, row);
    for (int tries = 0; tries < 8; ++tries) {
      const TensorId id = any_id(block);
      const Tensor& tensor = block.tensors[id];
      if (tensor.type == type && !tensor.variable && tensor.shape.size() >= operand.min_rank &&
          tensor.shape.size() <= operand.max_rank) {
        return id;
      }
    }
    const TensorId id = add_tensor(block, type, Shape(operand.min_rank, 1));
    set_data(graph_, block.tensors[id], std::vector<uint8_t>(static_cast<size_t>(graph::byte_size(type, 1))));
    block.operators.push_back({type == DType::kShape ? Op::kConstShape : Op::kConst, {}, {}, {id}, {}});
    return id;
  }

  // The same operator again, with results of its own.
  void repeat_operator(Block& block) {
    if (block.operators.empty()) {
      return;
    }
    Operator op = draw_.any(block.operators);
    for (TensorId& id : op.outputs) {
      const Tensor like = block.tensors[id];
      id = add_tensor(block, like.type, like.shape);
      block.tensors[id].data = like.data;
      block.tensors[id].has_data = like.has_data;
    }
    block.operators.push_back(std::move(op));
  }

  void remove_operator(Block& block) {
    if (!block.operators.empty()) {
      block.operators.erase(block.operators.begin() + static_cast<std::ptrdiff_t>(draw_.below(block.operators.size())));
    }
  }

  // ------------------------------------------------------------------------------------ blocks and regions

  void change_interface(Block& block) {
    auto& list = draw_.one_in(2) ? block.inputs : block.outputs;
    if (!list.empty() && draw_.one_in(3)) {
      list.pop_back();
    } else {
      list.push_back(any_id(block));
    }
  }

  void change_regions(Block&) {
    switch (draw_.below(4)) {
      case 0:
        std::swap(draw_.any(graph_.regions), draw_.any(graph_.regions));
        break;
      case 1: {
        graph::Region copy = draw_.any(graph_.regions);
        copy.name += "_";
        graph_.regions.push_back(std::move(copy));
        break;
      }
      case 2:
        draw_.any(graph_.regions).name = draw_.any(graph_.regions).name;
        break;
      default:
        call_region(draw_.any(graph_.regions));
    }
  }

  // The main block calls a region with what fits of its own tensors.
  void call_region(const graph::Region& region) {
    if (region.blocks.empty() || graph_.regions.front().blocks.empty()) {
      return;
    }
    const Block callee = region.blocks.front();
    Block& block = graph_.main();
    Operator op{Op::kCondIf, {}, {}, {}, {}};
    op.attributes.then_graph = op.attributes.else_graph = region.name;
    op.inputs.push_back(add_tensor(block, DType::kBool, {}));
    set_data(graph_, block.tensors[op.inputs[0]], {1});
    block.operators.push_back({Op::kConst, {}, {}, {op.inputs[0]}, {}});
    for (const TensorId wanted : callee.inputs) {
      const Tensor& like = callee.tensors[wanted];
      TensorId id = any_id(block);
      for (TensorId other = 0; other < block.tensors.size(); ++other) {
        const Tensor& tensor = block.tensors[other];
        if (tensor.type == like.type && tensor.shape == like.shape && !tensor.variable) {
          id = other;
        }
      }
      op.inputs.push_back(id);
    }
    for (const TensorId wanted : callee.outputs) {
      op.outputs.push_back(add_tensor(block, callee.tensors[wanted].type, callee.tensors[wanted].shape));
      block.outputs.push_back(op.outputs.back());
    }
    block.operators.push_back(std::move(op));
  }

  Graph& graph_;
  Draw draw_;
};

}  // namespace

void mutate(Graph& graph, uint64_t seed) {
  if (!graph.regions.empty()) {
    Mutation(graph, seed).run();
  }
}

}  // namespace npu::fuzz
