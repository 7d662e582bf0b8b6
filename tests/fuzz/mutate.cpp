#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>

#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/operators.h"
#include "hw/contract/error.h"
#include "tests/fuzz/random.h"

namespace npu::fuzz {
namespace {

using graph::Attributes;
using graph::Block;
using graph::DType;
using graph::Graph;
using graph::Op;
using graph::Operator;
using graph::Shape;
using graph::Tensor;
using graph::TensorId;

constexpr std::array<DType, 11> kTypes = {DType::kBool,  DType::kInt4,    DType::kInt8,   DType::kInt16,
                                          DType::kInt32, DType::kInt48,   DType::kFp32,   DType::kFp16,
                                          DType::kBf16,  DType::kFp8E4M3, DType::kFp8E5M2};
constexpr int64_t kExtremes[] = {0, -1, 31, 32, 63, 64, 127, 255, 256, 2048, 8192, 65536, INT32_MAX, INT32_MIN};
// A constant that follows a change of its shape is not made longer than this.
constexpr int64_t kMostConstant = 4096;
constexpr size_t kMostRank = 32;

class Mutation {
 public:
  Mutation(Graph& graph, uint64_t seed) : graph_(graph), random_(seed) {}

  void run() {
    change_one();
    for (int more = 0; more < 3 && random_.one_in(3); ++more) {
      change_one();
    }
    if (!random_.one_in(8)) {
      adapt();
    }
  }

 private:
  template <typename List>
  auto& any(List& list) {
    return list[random_.below(std::size(list))];
  }

  // Mostly small: large numbers end in a budget.
  int64_t number() { return random_.one_in(12) ? any(kExtremes) : static_cast<int64_t>(random_.below(7)); }
  int32_t signed_number() { return static_cast<int32_t>(random_.one_in(8) ? -number() : number()); }

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
    Block& block = *any(blocks);
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
    (this->*any(kChanges))(block);
  }

  // ------------------------------------------------------------------------------------------------ tensors

  void change_shape(Block& block) {
    Tensor& tensor = any(block.tensors);
    if (tensor.type == DType::kShape) {
      tensor.shape = {static_cast<int64_t>(random_.below(9))};
    } else if (random_.one_in(8)) {
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(1 + random_.below(2)));
    } else if (random_.one_in(8) && !tensor.shape.empty()) {
      tensor.shape.erase(tensor.shape.begin());
    } else if (!tensor.shape.empty()) {
      any(tensor.shape) = random_.one_in(8) ? number() : static_cast<int64_t>(1 + random_.below(6));
    }
  }

  void change_type(Block& block) {
    Tensor& tensor = any(block.tensors);
    if (tensor.type != DType::kShape) {
      tensor.type = any(kTypes);
    }
  }

  // All tensors of one type become another one's, so that operands still agree.
  void exchange_types(Block& block) {
    const DType from = any(block.tensors).type;
    const DType to = any(kTypes);
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
    std::vector<Tensor*> constants;
    for (Tensor& tensor : block.tensors) {
      if (!tensor.data.empty()) {
        constants.push_back(&tensor);
      }
    }
    if (constants.empty()) {
      return;
    }
    Tensor& tensor = *any(constants);
    std::vector<uint8_t> bytes(tensor.data.begin(), tensor.data.end());
    if (tensor.type == DType::kShape) {
      put(bytes, random_.below(bytes.size() / 8) * 8, 8, signed_number());
    } else if (random_.one_in(4)) {
      any(bytes) ^= static_cast<uint8_t>(1u << random_.below(8));
    } else {
      const auto width = static_cast<size_t>(std::max<int64_t>(graph::byte_size(tensor.type, 1), 1));
      if (bytes.size() >= width) {
        put(bytes, random_.below(bytes.size() / width) * width, width, signed_number());
      }
    }
    set_data(tensor, std::move(bytes));
  }

  static void put(std::vector<uint8_t>& bytes, size_t at, size_t width, int64_t value) {
    for (size_t i = 0; i < width && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
    }
  }

  void set_data(Tensor& tensor, std::vector<uint8_t> bytes) {
    graph_.storage.push_back(std::make_shared<const std::vector<uint8_t>>(std::move(bytes)));
    tensor.data = *graph_.storage.back();
    tensor.has_data = true;
  }

  void change_variable(Block& block) {
    Tensor& tensor = any(block.tensors);
    if (tensor.type == DType::kShape) {
      return;
    }
    switch (random_.below(3)) {
      case 0:
        tensor.variable = !tensor.variable;
        break;
      case 1:
        tensor.variable_name = any(block.tensors).variable_name;
        break;
      default: {
        // A new state: read, and written from what has its type and shape.
        const Tensor like = tensor;
        const TensorId state = add_tensor(block, like.type, like.shape);
        block.tensors[state].variable = true;
        const TensorId value = add_tensor(block, like.type, like.shape);
        if (random_.one_in(2)) {
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
    const size_t position = random_.below(block.operators.size());
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

  TensorId any_id(const Block& block) { return static_cast<TensorId>(random_.below(block.tensors.size())); }

  void change_attribute(Block& block) {
    std::vector<Operator*> candidates;
    for (Operator& op : block.operators) {
      if (graph::info(op.op).attributes != 0) {
        candidates.push_back(&op);
      }
    }
    if (candidates.empty()) {
      return;
    }
    Operator& op = *any(candidates);
    // Until one hits an attribute that the operator has.
    for (int tries = 0; tries < 8 && !change_attribute_of(op, 1u << random_.below(18)); ++tries) {
    }
  }

  bool change_attribute_of(Operator& op, graph::AttributeSet which) {
    if ((graph::info(op.op).attributes & which) == 0) {
      return false;
    }
    Attributes& a = op.attributes;
    switch (which) {
      case graph::kHasAxis:
        a.axis = signed_number();
        break;
      case graph::kHasKernel:
        change_list(a.kernel);
        break;
      case graph::kHasStride:
        change_list(a.stride);
        break;
      case graph::kHasPad:
        change_list(a.pad);
        break;
      case graph::kHasDilation:
        change_list(a.dilation);
        break;
      case graph::kHasOutPad:
        change_list(a.out_pad);
        break;
      case graph::kHasPerms:
        change_list(a.perms);
        break;
      case graph::kHasAccType:
        a.acc_type = any(kTypes);
        break;
      case graph::kHasLimits:
        change_bytes(random_.one_in(2) ? a.min_val : a.max_val);
        break;
      case graph::kHasNanMode:
        a.nan_mode = random_.one_in(2) ? graph::NanMode::kIgnore : graph::NanMode::kPropagate;
        break;
      case graph::kHasRound:
        a.round = !a.round;
        break;
      case graph::kHasResizeMode:
        a.resize_mode = random_.one_in(2) ? graph::ResizeMode::kNearest : graph::ResizeMode::kBilinear;
        break;
      case graph::kHasRescale:
        change_rescale(a);
        break;
      case graph::kHasInverse:
        a.inverse = !a.inverse;
        break;
      case graph::kHasBranches:
        (random_.one_in(2) ? a.then_graph : a.else_graph) = any(graph_.regions).name;
        break;
      case graph::kHasLoop:
        (random_.one_in(2) ? a.cond_graph : a.body_graph) = any(graph_.regions).name;
        break;
      case graph::kHasCustom:
        change_bytes(a.custom_attributes);
        break;
      default:
        a.local_bound = !a.local_bound;
    }
    return true;
  }

  void change_list(std::vector<int32_t>& list) {
    if (list.empty() || random_.one_in(16)) {
      list.push_back(signed_number());
    } else if (random_.one_in(4)) {
      std::swap(any(list), any(list));
    } else {
      any(list) = signed_number();
    }
  }

  void change_bytes(std::vector<uint8_t>& bytes) {
    if (!bytes.empty()) {
      any(bytes) = static_cast<uint8_t>(random_.next());
    }
  }

  void change_rescale(Attributes& a) {
    switch (random_.below(5)) {
      case 0:
        a.scale32 = !a.scale32;
        break;
      case 1:
        a.rounding_mode = static_cast<graph::RoundingMode>(1 + random_.below(3));
        break;
      case 2:
        a.per_channel = !a.per_channel;
        break;
      case 3:
        a.input_unsigned = !a.input_unsigned;
        break;
      default:
        a.output_unsigned = !a.output_unsigned;
    }
  }

  void change_operands(Block& block) {
    if (block.operators.empty()) {
      return;
    }
    Operator& op = any(block.operators);
    auto& list = random_.one_in(4) ? op.outputs : op.inputs;
    if (list.empty() || random_.one_in(6)) {
      list.push_back(any_id(block));
    } else if (random_.one_in(6)) {
      list.pop_back();
    } else {
      any(list) = any_id(block);
    }
  }

  void exchange_operands(Block& block) {
    if (!block.operators.empty()) {
      Operator& op = any(block.operators);
      if (!op.inputs.empty()) {
        std::swap(any(op.inputs), any(op.inputs));
      }
    }
  }

  // Another operator with the same operands.
  void change_operator(Block& block) {
    if (block.operators.empty()) {
      return;
    }
    Operator& op = any(block.operators);
    const size_t operands = graph::info(op.op).inputs.size();
    for (int tries = 0; tries < 16; ++tries) {
      const auto other = static_cast<Op>(1 + random_.below(graph::kOpCount - 1));
      if (graph::info(other).inputs.size() == operands) {
        op.op = other;
        return;
      }
    }
  }

  // A new operator behind the others, of operands that have the types of a row of its table.
  void append_operator(Block& block) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(1 + random_.below(graph::kOpCount - 1)));
    if (entry.types.empty() || entry.inputs.empty()) {
      return;
    }
    const graph::TypeRow row = any(entry.types);
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
      block.outputs.push_back(op.outputs.back());
    }
    block.operators.push_back(std::move(op));
  }

  static DType type_of(const graph::Operand& operand, const graph::TypeRow& row) {
    if (operand.kind == graph::OperandKind::kShape) {
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
    set_data(block.tensors[id], std::vector<uint8_t>(static_cast<size_t>(graph::byte_size(type, 1))));
    block.operators.push_back({type == DType::kShape ? Op::kConstShape : Op::kConst, {}, {}, {id}, {}});
    return id;
  }

  // The same operator again, with results of its own.
  void repeat_operator(Block& block) {
    if (block.operators.empty()) {
      return;
    }
    Operator op = any(block.operators);
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
      block.operators.erase(block.operators.begin() +
                            static_cast<std::ptrdiff_t>(random_.below(block.operators.size())));
    }
  }

  // ------------------------------------------------------------------------------------ blocks and regions

  void change_interface(Block& block) {
    auto& list = random_.one_in(2) ? block.inputs : block.outputs;
    if (!list.empty() && random_.one_in(3)) {
      list.pop_back();
    } else {
      list.push_back(any_id(block));
    }
  }

  void change_regions(Block&) {
    switch (random_.below(4)) {
      case 0:
        std::swap(any(graph_.regions), any(graph_.regions));
        break;
      case 1: {
        graph::Region copy = any(graph_.regions);
        copy.name += "_";
        graph_.regions.push_back(std::move(copy));
        break;
      }
      case 2:
        any(graph_.regions).name = any(graph_.regions).name;
        break;
      default:
        call_region(any(graph_.regions));
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
    set_data(block.tensors[op.inputs[0]], {1});
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

  // --------------------------------------------------------------------------------- what follows from it

  // Makes constants as long as their shapes say and gives results the shapes that their operators give them, as far as
  // the graph is legal.
  void adapt() {
    for (graph::Region& region : graph_.regions) {
      for (Block& block : region.blocks) {
        for (Tensor& tensor : block.tensors) {
          adapt_data(tensor);
        }
      }
    }
    const graph::RegionIndex regions(graph_);
    for (auto region = graph_.regions.rbegin(); region != graph_.regions.rend(); ++region) {
      for (Block& block : region->blocks) {
        adapt_results(regions, block);
      }
    }
  }

  // What the validator asks of a tensor before it looks at operators.
  static bool has_size(const Tensor& tensor) {
    const int64_t least = tensor.type == DType::kShape ? 0 : 1;
    const auto in_range = [least](int64_t size) { return size >= least && size <= INT32_MAX; };
    return tensor.shape.size() <= kMostRank && std::all_of(tensor.shape.begin(), tensor.shape.end(), in_range) &&
           graph::element_count(tensor.shape);
  }

  void adapt_data(Tensor& tensor) {
    if (!tensor.has_data || !has_size(tensor)) {
      return;
    }
    const int64_t length = graph::byte_size(tensor.type, graph::element_count(tensor.shape).value());
    if (length == static_cast<int64_t>(tensor.data.size()) || length > kMostConstant) {
      return;
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(length));
    for (size_t i = 0; i < bytes.size() && !tensor.data.empty(); ++i) {
      bytes[i] = tensor.data[i % tensor.data.size()];
    }
    set_data(tensor, std::move(bytes));
  }

  void adapt_results(const graph::RegionIndex& regions, Block& block) {
    for (size_t i = 0; i < block.operators.size(); ++i) {
      Operator& op = block.operators[i];
      const auto sized = [&block](TensorId id) { return has_size(block.tensors[id]); };
      if (!std::all_of(op.inputs.begin(), op.inputs.end(), sized)) {
        return;
      }
      if (op.op == Op::kClamp && !op.inputs.empty()) {
        const auto width = static_cast<size_t>(graph::byte_size(block.tensors[op.inputs[0]].type, 1));
        op.attributes.min_val.resize(width);
        op.attributes.max_val.resize(width);
      }
      try {
        const auto shapes = graph::check_operator(graph::OperatorView(regions, block, op, i));
        for (size_t k = 0; k < shapes.size(); ++k) {
          Tensor& result = block.tensors[op.outputs[k]];
          // The length of a SHAPE value is its data's.
          if (result.type != DType::kShape) {
            result.shape = shapes[k];
          }
        }
      } catch (const Error&) {
        return;  // illegal, and left so
      }
    }
  }

  Graph& graph_;
  Random random_;
};

}  // namespace

void mutate(Graph& graph, uint64_t seed) {
  if (!graph.regions.empty()) {
    Mutation(graph, seed).run();
  }
}

}  // namespace npu::fuzz
