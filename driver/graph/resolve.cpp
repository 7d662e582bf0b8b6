// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/resolve.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/text.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

bool is_known(const Tensor& tensor) { return unknown_size(tensor) == nullptr; }

bool has_unknown(const Block& block, const Operator& op) {
  const auto unknown = [&](TensorId id) { return !is_known(block.tensors[id]); };
  return std::any_of(op.inputs.begin(), op.inputs.end(), unknown) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), unknown);
}

// Takes over the sizes that are unknown. False where a known one differs, or the rank.
bool fill(Tensor& tensor, const Shape& shape) {
  if (tensor.shape.size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!is_unknown(tensor, tensor.shape[d]) && tensor.shape[d] != shape[d]) return false;
  }
  tensor.shape = shape;
  return true;
}

// Sizes of variables may be known only behind the operators that read them; files need a second look, if any.
constexpr int kMostLooks = 64;

class Resolver {
 public:
  Resolver(const Graph& declared, const GivenShapes& given)
      : declared_(declared), given_(given), graph_(declared), index_(graph_), state_(graph_.regions.size()) {
    for (size_t i = 0; i < state_.size(); ++i) {
      regions_.emplace(graph_.regions[i].name, i);
      state_[i].left = block(i).operators.size();
      state_[i].done.resize(state_[i].left);
      for (TensorId id = 0; id < block(i).tensors.size(); ++id) {
        const Tensor& tensor = block(i).tensors[id];
        if (tensor.variable) variables_[variable_identity(tensor)].emplace_back(i, id);
      }
    }
  }

  Graph run() {
    take_given();
    take_variables();
    look_through(0);
    require_known();
    for (size_t i = 0; i < state_.size(); ++i) insert_constants(i);
    return std::move(graph_);
  }

 private:
  Block& block(size_t region) { return graph_.regions[region].blocks.front(); }

  [[noreturn]] static void mismatch(const std::string& reason) { throw Error(ErrorCode::kSizeMismatch, reason); }
  [[noreturn]] static void bad_input(const std::string& reason) { throw Error(ErrorCode::kBadInput, reason); }

  void take_given() {
    Block& main = block(0);
    for (const auto& [name, shape] : given_) {
      for (const int64_t size : shape) {
        if (size >= 1 && size <= std::numeric_limits<int32_t>::max()) continue;
        bad_input("the shape " + to_string(shape) + " of " + in_quotes(name) + " has the size " + std::to_string(size) +
                  "; sizes are from 1 to " + std::to_string(std::numeric_limits<int32_t>::max()));
      }
      const auto input = std::find_if(main.inputs.begin(), main.inputs.end(),
                                      [&, &name = name](TensorId id) { return main.tensors[id].name == name; });
      if (input != main.inputs.end()) {
        Tensor& tensor = main.tensors[*input];
        const std::string was = describe_type(tensor);
        if (!fill(tensor, shape)) bad_input("input " + in_quotes(name) + " is " + was + ", not " + to_string(shape));
      } else if (!fill_variable(name, shape, ErrorCode::kBadInput)) {
        bad_input("the graph has no input and no variable " + in_quotes(name));
      }
    }
    for (const TensorId id : main.inputs) {
      const Tensor& tensor = main.tensors[id];
      if (!is_known(tensor))
        bad_input("the sizes of input " + in_quotes(tensor.name) + " (" + describe_type(tensor) + ") are not given");
    }
  }

  // In every block that has it. False when there is none.
  bool fill_variable(const std::string& identity, const Shape& shape, ErrorCode code) {
    const auto found = variables_.find(identity);
    if (found == variables_.end()) return false;
    for (const auto& [region, id] : found->second) {
      Tensor& tensor = block(region).tensors[id];
      const std::string was = describe_type(tensor);
      if (fill(tensor, shape)) continue;
      throw Error(code, "variable " + in_quotes(identity) + " is " + was + ", not " + to_string(shape));
    }
    return true;
  }

  // From what the file says of them elsewhere, and of the tensors that are read from them and written to them.
  void take_variables() {
    for (size_t i = 0; i < state_.size(); ++i) {
      const Block& own = block(i);
      for (const Operator& op : own.operators) {
        const bool reads = op.op == Op::kVariableRead;
        if (!reads && op.op != Op::kVariableWrite) continue;
        const Tensor& other = own.tensors[reads ? op.outputs[0] : op.inputs[0]];
        const Tensor& variable = own.tensors[reads ? op.inputs[0] : op.outputs[0]];
        if (!is_known(other) || is_known(variable)) continue;
        fill_variable(variable_identity(variable), Shape(other.shape), ErrorCode::kSizeMismatch);
      }
    }
    for (const auto& [identity, places] : variables_) {
      for (const auto& [region, id] : places) {
        const Tensor& tensor = block(region).tensors[id];
        if (!is_known(tensor)) continue;
        fill_variable(identity, Shape(tensor.shape), ErrorCode::kSizeMismatch);
        break;
      }
    }
  }

  // True when something was found out.
  bool look_through(size_t region) {
    bool progress = false;
    for (int look = 0; look < kMostLooks && state_[region].left > 0 && sweep(region); ++look) progress = true;
    return progress;
  }

  // Each operator whose operands are known. True when there was one that had not been done.
  bool sweep(size_t region) {
    bool progress = false;
    for (size_t position = 0; position < state_[region].done.size(); ++position) {
      if (state_[region].done[position]) continue;
      const std::vector<TensorId>& inputs = block(region).operators[position].inputs;
      const auto known = [&](TensorId id) { return is_known(block(region).tensors[id]); };
      if (!std::all_of(inputs.begin(), inputs.end(), known)) continue;
      if (!enter_regions(region, position, progress)) continue;
      compute(region, position);
      state_[region].done[position] = true;
      --state_[region].left;
      progress = true;
    }
    return progress;
  }

  // The blocks of control flow, with the shapes of its operands. True when their results are known.
  bool enter_regions(size_t region, size_t position, bool& progress) {
    const Operator& op = block(region).operators[position];
    const Attributes& a = op.attributes;
    bool known = true;
    const auto enter = [&](const std::string& name, size_t first) {
      const size_t entered = regions_.at(name);
      Block& inner = block(entered);
      for (size_t i = 0; i < inner.inputs.size() && first + i < op.inputs.size(); ++i) {
        const Shape& shape = block(region).tensors[op.inputs[first + i]].shape;
        Tensor& tensor = inner.tensors[inner.inputs[i]];
        if (fill(tensor, Shape(shape))) continue;
        mismatch(describe(op, position) + ": block " + in_quotes(inner.name) + " takes " + in_quotes(tensor.name) +
                 " as " + to_string(tensor.shape) + ", and gets " + to_string(shape));
      }
      progress = look_through(entered) || progress;
      const auto one = [&](TensorId id) { return is_known(inner.tensors[id]); };
      known = std::all_of(inner.outputs.begin(), inner.outputs.end(), one) && known;
    };
    if (op.op == Op::kCondIf) {
      enter(a.then_graph, 1);
      enter(a.else_graph, 1);
    } else if (op.op == Op::kWhileLoop) {
      enter(a.cond_graph, 0);
      enter(a.body_graph, 0);
    }
    return known;
  }

  // By the operator's rule. One that does not hold is a matter of these sizes if the file leaves any of them open.
  void compute(size_t region, size_t position) {
    if (block(region).operators[position].op == Op::kReshape) complete_reshape(region, position);
    Block& own = block(region);
    const Operator& op = own.operators[position];
    const Block& declared = declared_.regions[region].blocks.front();
    const bool open = has_unknown(declared, declared.operators[position]);
    const OperatorView view(index_, own, op, position, &declared);
    std::vector<Shape> shapes;
    try {
      shapes = check_operator(view);
    } catch (const Error& error) {
      if (!open || error.code() == ErrorCode::kBadType) throw;
      mismatch(error.what());
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      Tensor& output = own.tensors[op.outputs[i]];
      if (std::any_of(shapes[i].begin(), shapes[i].end(), [](int64_t size) { return size < 1; })) {
        throw Error(ErrorCode::kFeatureUnsupported, describe(op, position) +
                                                        ": no rule gives the sizes of its output " +
                                                        in_quotes(output.name) + " (" + describe_type(output) + ")");
      }
      const std::string was = to_string(output.shape);
      const bool fits = output.variable && op.op != Op::kVariable
                            ? fill_variable(variable_identity(output), shapes[i], ErrorCode::kSizeMismatch)
                            : fill(output, shapes[i]);
      if (!fits) {
        mismatch(describe(op, position) + ": its output " + in_quotes(output.name) + " has shape " + was +
                 " in the file, but these sizes make it " + to_string(shapes[i]));
      }
    }
  }

  // A constant of its own for a RESHAPE that leaves one size to the others.
  void complete_reshape(size_t region, size_t position) {
    Block& own = block(region);
    Operator& op = own.operators[position];
    const Tensor& constant = own.tensors[op.inputs[1]];
    if (!is_constant(constant) || constant.shape.size() != 1) return;  // the rule says so
    const Value value = value_of_constant(constant);
    Shape sizes(value.bytes.size() / sizeof(int64_t));
    std::memcpy(sizes.data(), value.bytes.data(), value.bytes.size());
    const auto open = std::count(sizes.begin(), sizes.end(), -1);
    if (open == 0) return;
    if (open > 1) {
      throw Error(ErrorCode::kFeatureUnsupported,
                  describe(op, position) + ": " + in_quotes(constant.name) + " is " + to_string(sizes) +
                      ", which leaves more than one size to the others; give all but one");
    }
    const Shape& input = own.tensors[op.inputs[0]].shape;
    Shape others = sizes;
    std::erase(others, -1);
    const auto elements = element_count(input), rest = element_count(others);
    if (!elements || !rest || *rest < 1 || *elements % *rest != 0) {
      mismatch(describe(op, position) + ": " + in_quotes(own.tensors[op.inputs[0]].name) + " " + to_string(input) +
               " cannot take the shape " + to_string(sizes));
    }
    std::replace(sizes.begin(), sizes.end(), int64_t{-1}, *elements / *rest);
    op.inputs[1] = add_constant(region, position, constant.name, sizes);
  }

  TensorId add_constant(size_t region, size_t position, const std::string& name, const Shape& sizes) {
    Block& own = block(region);
    auto bytes = std::make_shared<std::vector<uint8_t>>(sizes.size() * sizeof(int64_t));
    std::memcpy(bytes->data(), sizes.data(), bytes->size());
    Tensor tensor;
    tensor.type = DType::kShape;
    tensor.shape = {static_cast<int64_t>(sizes.size())};
    tensor.data = *bytes;
    tensor.has_data = true;
    std::set<std::string, std::less<>>& names = state_[region].names;
    if (names.empty()) {
      for (const Tensor& other : own.tensors) names.insert(other.name);
    }
    for (size_t number = position;; ++number) {
      tensor.name = name + "_" + std::to_string(number);
      if (names.insert(tensor.name).second) break;
    }
    graph_.storage.push_back(std::move(bytes));
    own.tensors.push_back(std::move(tensor));
    const auto id = static_cast<TensorId>(own.tensors.size() - 1);
    state_[region].constants.emplace_back(position, id);
    return id;
  }

  // Before the operators that use them.
  void insert_constants(size_t region) {
    std::vector<Operator>& operators = block(region).operators;
    auto& constants = state_[region].constants;
    if (constants.empty()) return;
    std::sort(constants.begin(), constants.end());
    std::vector<Operator> all;
    auto next = constants.begin();
    for (size_t position = 0; position < operators.size(); ++position) {
      for (; next != constants.end() && next->first == position; ++next) {
        Operator op;
        op.op = Op::kConstShape;
        op.outputs = {next->second};
        all.push_back(std::move(op));
      }
      all.push_back(std::move(operators[position]));
    }
    operators = std::move(all);
  }

  // The first operand that nothing decides.
  void require_known() {
    for (size_t region = 0; region < state_.size(); ++region) {
      const Block& own = block(region);
      for (size_t position = 0; position < state_[region].done.size(); ++position) {
        if (state_[region].done[position]) continue;
        for (const TensorId id : own.operators[position].inputs) {
          const Tensor& tensor = own.tensors[id];
          if (is_known(tensor)) continue;
          bad_input(describe(own.operators[position], position) + ": the sizes of " +
                    (tensor.variable ? "variable " + in_quotes(variable_identity(tensor)) : in_quotes(tensor.name)) +
                    " (" + describe_type(tensor) + ") follow from nothing that was given; give the shape of " +
                    (tensor.variable ? "the variable" : "what it comes from") + ", too");
        }
      }
    }
  }

  const Graph& declared_;
  const GivenShapes& given_;
  Graph graph_;
  const RegionIndex index_;
  std::map<std::string, size_t, std::less<>> regions_;
  std::map<std::string, std::vector<std::pair<size_t, TensorId>>, std::less<>> variables_;  // by identity: where it is

  struct RegionState {
    std::vector<bool> done;                              // by operator
    size_t left = 0;                                     // operators that are not
    std::vector<std::pair<size_t, TensorId>> constants;  // to be inserted: before which operator, and which
    std::set<std::string, std::less<>> names;            // of tensors, once a constant is added
  };
  std::vector<RegionState> state_;
};

}  // namespace

Graph resolve(const Graph& graph, const GivenShapes& given) { return Resolver(graph, given).run(); }

}  // namespace npu::graph
