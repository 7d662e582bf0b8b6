// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/resolve.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "driver/graph/infer.h"
#include "driver/graph/open_sizes.h"
#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/resolved_shapes.h"
#include "driver/graph/shape_values.h"
#include "driver/graph/text.h"
#include "driver/graph/validate.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

bool is_known(const Tensor& tensor) { return unknown_size(tensor) == nullptr; }

// Takes over the sizes that are unknown. False where a known one differs, or the rank.
bool fill(Tensor& tensor, const Shape& shape) {
  if (tensor.shape.size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!is_unknown(tensor, tensor.shape[d]) && tensor.shape[d] != shape[d]) return false;
  }
  tensor.shape = shape;
  return true;
}

// Operators that are looked at, all looks together: files need one look, or two where a variable's sizes follow from
// what is written to it.
constexpr uint64_t kMostVisits = uint64_t{1} << 26;

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
    if (take_recurrent_variables()) look_through(0);
    for (size_t i = 0; i < state_.size(); ++i) look_through_unused(i);
    require_known();
    for (size_t i = 0; i < state_.size(); ++i) state_[i].shapes.finish(block(i));
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
        if (size >= 1 && size <= kMostSize) continue;
        bad_input("the shape " + to_string(shape) + " of " + in_quotes(name) + " has the size " + std::to_string(size) +
                  "; sizes are from 1 to " + std::to_string(kMostSize));
      }
      if (!element_count(shape)) {
        bad_input("the shape " + to_string(shape) + " of " + in_quotes(name) + " is too large");
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

  // What is written to a variable often follows from what is read from it. Then its sizes are what the operators demand
  // of them. Whether there was such a variable.
  bool take_recurrent_variables() {
    const uint64_t before = found_;
    for (const auto& [identity, places] : variables_) {
      const auto& [region, id] = places.front();
      if (is_known(block(region).tensors[id])) continue;
      const auto numbers = numbers_of(inferred().sizes[region][id]);
      if (!numbers) continue;
      fill_variable(identity, *numbers, ErrorCode::kSizeMismatch);
      ++found_;
    }
    return found_ != before;
  }

  // A block that no control flow enters, and whose sizes the file gives.
  void look_through_unused(size_t region) {
    const std::vector<Tensor>& tensors = block(region).tensors;
    if (!state_[region].entered && std::all_of(tensors.begin(), tensors.end(), is_known)) look_through(region);
  }

  // As long as something is found out. Nothing new can be found in a region before something is found elsewhere.
  void look_through(size_t region) {
    RegionState& state = state_[region];
    state.entered = true;
    while (state.left > 0 && state.fruitless_at != found_) {
      const uint64_t before = found_;
      sweep(region);
      if (found_ == before) state.fruitless_at = found_;
    }
  }

  // Each operator whose operands are known.
  void sweep(size_t region) {
    RegionState& state = state_[region];
    for (size_t position = 0; position < state.done.size(); ++position) {
      if (++visits_ > kMostVisits) {
        throw Error(ErrorCode::kBudgetExceeded,
                    "the sizes of variables follow from each other in too many steps; give their shapes");
      }
      if (state.done[position]) continue;
      const Operator& op = block(region).operators[position];
      const auto known = [&](TensorId id) {
        const Tensor& tensor = block(region).tensors[id];
        return is_known(tensor) && !is_computed_shape(tensor);
      };
      if (!std::all_of(op.inputs.begin(), op.inputs.end(), known)) continue;
      if (op.op == Op::kVariable && !known(op.outputs[0])) continue;
      if (!enter_regions(region, position)) continue;
      compute(region, position);
      state.done[position] = true;
      --state.left;
      ++found_;
    }
  }

  // The blocks of control flow, with the shapes of its operands. True when their results are known.
  bool enter_regions(size_t region, size_t position) {
    const Operator& op = block(region).operators[position];
    const Attributes& a = op.attributes;
    bool known = true;
    const auto enter = [&](const std::string& name, size_t first) {
      const size_t entered = regions_.at(name);
      Block& inner = block(entered);
      for (size_t i = 0; i < inner.inputs.size() && first + i < op.inputs.size(); ++i) {
        const Shape& shape = block(region).tensors[op.inputs[first + i]].shape;
        Tensor& tensor = inner.tensors[inner.inputs[i]];
        if (!is_known(tensor)) ++found_;
        if (fill(tensor, Shape(shape))) continue;
        mismatch(place(region, position) + ": block " + in_quotes(inner.name) + " takes " + in_quotes(tensor.name) +
                 " as " + to_string(tensor.shape) + ", and gets " + to_string(shape));
      }
      look_through(entered);
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
    const bool open_shape = state_[region].shapes.follows_from_open_sizes(op);
    const bool open = open_shape || has_unknown_sizes(declared, declared.operators[position]);
    const OperatorView view(index_, own, op, position, &declared);
    std::vector<Shape> shapes;
    try {
      shapes = check_operator(view);
      if (is_shape_operator(op.op)) state_[region].shapes.take(graph_, own, op, shape_of(shape_value(view)), open);
    } catch (const Error& error) {
      if (!open || !is_of_sizes(error.code(), op.op, open_shape)) throw;
      mismatch(error.what());
    }
    for (size_t i = 0; i < shapes.size(); ++i) fill_output(region, position, op.outputs[i], shapes[i], open);
  }

  void fill_output(size_t region, size_t position, TensorId id, const Shape& shape, bool open) {
    Tensor& output = block(region).tensors[id];
    require_sizes(region, position, output, shape);
    const std::string was = to_string(output.shape);
    const bool fits = output.variable && block(region).operators[position].op != Op::kVariable
                          ? fill_variable(variable_identity(output), shape, ErrorCode::kSizeMismatch)
                          : fill(output, shape);
    if (fits) return;
    throw Error(open ? ErrorCode::kSizeMismatch : ErrorCode::kBadShape,
                place(region, position) + ": its output " + in_quotes(output.name) + " has shape " + was +
                    " in the file, but " + (open ? "these sizes" : "its operands") + " make it " + to_string(shape));
  }

  void require_sizes(size_t region, size_t position, const Tensor& output, const Shape& shape) {
    if (std::any_of(shape.begin(), shape.end(), [&](int64_t size) { return is_unknown(output, size); })) {
      throw Error(ErrorCode::kFeatureUnsupported, place(region, position) + ": no rule gives the sizes of its output " +
                                                      in_quotes(output.name) + " (" + describe_type(output) + ")");
    }
    if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size > kMostSize; }) ||
        !element_count(shape)) {
      mismatch(place(region, position) + ": these sizes make its output " + in_quotes(output.name) + " " +
               to_string(shape) + ", which is too large");
    }
  }

  // A RESHAPE that leaves one size to the others gets a constant of its own, or that of another one with these sizes.
  void complete_reshape(size_t region, size_t position) {
    Block& own = block(region);
    Operator& op = own.operators[position];
    const Tensor& constant = own.tensors[op.inputs[1]];
    if (!is_constant(constant) || constant.shape.size() != 1) return;  // the rule says so
    // A size that was computed as -1 leaves nothing to the others.
    if (state_[region].shapes.was_computed(op.inputs[1])) return;
    const Value value = value_of_constant(constant);
    if (value.bytes.empty()) return;  // a scalar leaves nothing open
    Shape sizes(value.bytes.size() / sizeof(int64_t));
    std::memcpy(sizes.data(), value.bytes.data(), value.bytes.size());
    const auto open = std::count(sizes.begin(), sizes.end(), -1);
    if (open == 0) return;
    if (open > 1) {
      op.inputs[1] = state_[region].shapes.constant(graph_, own, sizes_from_others(region, position, sizes));
      return;
    }
    const Shape& input = own.tensors[op.inputs[0]].shape;
    Shape others = sizes;
    std::erase(others, -1);
    if (std::any_of(others.begin(), others.end(), [](int64_t size) { return size < 1; })) return;  // the rule says so
    const auto elements = element_count(input), rest = element_count(others);
    if (!elements || !rest || *elements % *rest != 0) {
      mismatch(place(region, position) + ": " + in_quotes(own.tensors[op.inputs[0]].name) + " " + to_string(input) +
               " cannot take the shape " + to_string(sizes));
    }
    std::replace(sizes.begin(), sizes.end(), int64_t{-1}, *elements / *rest);
    op.inputs[1] = state_[region].shapes.constant(graph_, own, sizes);
  }

  // Of a RESHAPE that leaves several sizes open: what all operators together make of them.
  Shape sizes_from_others(size_t region, size_t position, const Shape& sizes) {
    const Operator& op = declared_.regions[region].blocks.front().operators[position];
    const Block& own = block(region);
    const Inference* inference = nullptr;
    try {
      inference = &inferred();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kSizeMismatch && !is_of_sizes(error.code(), op.op, false)) throw;
      mismatch(error.what());
    }
    const Dims& result = inference->sizes[region][op.outputs[0]];
    if (auto numbers = numbers_of(result)) return *std::move(numbers);
    const Tensor& input = own.tensors[op.inputs[0]];
    throw Error(ErrorCode::kFeatureUnsupported,
                place(region, position) + ": " + in_quotes(own.tensors[op.inputs[1]].name) + " is " + to_string(sizes) +
                    ", which leaves more than one size to the others, and no other operator decides: " +
                    in_quotes(input.name) + " " + to_string(input.shape) + " becomes " + inference->open.text(result) +
                    "; give all sizes but one in the file");
  }

  // All operators together.
  const Inference& inferred() {
    if (!inference_) inference_ = infer(declared_, given_);
    return *inference_;
  }

  // What nothing decides.
  void require_known() {
    for (const auto& [identity, places] : variables_) {
      const auto& [region, id] = places.front();
      const Tensor& tensor = block(region).tensors[id];
      if (is_known(tensor)) continue;
      bad_input("the sizes of variable " + in_quotes(identity) + " (" + describe_type(tensor) +
                ") follow from nothing that was given; give its shape, too");
    }
    for (size_t region = 0; region < state_.size(); ++region) {
      const Block& own = block(region);
      if (!state_[region].entered &&
          std::any_of(own.tensors.begin(), own.tensors.end(), [](const Tensor& tensor) { return !is_known(tensor); })) {
        throw Error(ErrorCode::kFeatureUnsupported,
                    "nothing enters block " + in_quotes(own.name) + ", so that its sizes stay unknown; leave it out");
      }
      for (size_t position = 0; state_[region].entered && position < state_[region].done.size(); ++position) {
        if (!state_[region].done[position]) undecided(region, position);
      }
    }
  }

  void undecided(size_t region, size_t position) {
    const Block& own = block(region);
    for (const TensorId id : own.operators[position].inputs) {
      const Tensor& tensor = own.tensors[id];
      if (is_known(tensor)) continue;
      bad_input(place(region, position) + ": the sizes of " + in_quotes(tensor.name) + " (" + describe_type(tensor) +
                ") follow from nothing that was given");
    }
  }

  [[nodiscard]] std::string place(size_t region, size_t position) {
    const Block& own = block(region);
    return describe(own.operators[position], position) +
           (state_.size() > 1 ? " of block " + in_quotes(own.name) : std::string());
  }

  const Graph& declared_;
  const GivenShapes& given_;
  Graph graph_;
  const RegionIndex index_;
  std::map<std::string, size_t, std::less<>> regions_;
  std::map<std::string, std::vector<std::pair<size_t, TensorId>>, std::less<>> variables_;  // by identity: where it is

  struct RegionState {
    std::vector<bool> done;  // by operator
    size_t left = 0;         // operators that are not
    bool entered = false;
    std::optional<uint64_t> fruitless_at;  // found_ when the last look found nothing
    ResolvedShapes shapes;
  };
  std::vector<RegionState> state_;
  std::optional<Inference> inference_;  // where a RESHAPE or a variable needs it
  uint64_t found_ = 0;                  // operators that were done, and shapes that were filled in
  uint64_t visits_ = 0;                 // operators that were looked at
};

}  // namespace

Graph resolve(const Graph& graph, const GivenShapes& given) { return Resolver(graph, given).run(); }

Graph static_form(Graph graph) {
  if (has_shape_operators(graph) && !has_unknown_sizes(graph)) {
    validate(graph, Sizes::kMayBeUnknown);
    graph = resolve(graph, {});
  }
  validate(graph);
  return graph;
}

}  // namespace npu::graph
