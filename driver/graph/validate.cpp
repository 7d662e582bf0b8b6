// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/validate.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

constexpr size_t kMaxNesting = 256;

[[noreturn]] void fail(ErrorCode code, const std::string& reason) { throw Error(code, reason); }

// All but that its sizes are known.
void check_tensor(const Tensor& tensor, const std::string& here) {
  const std::string what = "tensor " + in_quotes(tensor.name) + here;
  if (tensor.type == DType::kUnknown || tensor.type > DType::kFp8E5M2) {
    fail(ErrorCode::kBadType, what + " has no type that TOSA 1.0 has");
  }
  if (tensor.shape.size() > kMostRank) {
    fail(ErrorCode::kBadShape,
         what + " has rank " + std::to_string(tensor.shape.size()) + "; the highest is " + std::to_string(kMostRank));
  }
  const bool is_shape = tensor.type == DType::kShape;
  // A size that cannot be is wrong whatever the unknown ones beside it are.
  for (const int64_t size : tensor.shape) {
    if (is_unknown(tensor, size) || (size >= (is_shape ? 0 : 1) && size <= INT32_MAX)) continue;
    fail(ErrorCode::kBadShape, what + " has shape " + to_string(tensor.shape) + "; each size must be at least 1");
  }
  const bool known = unknown_size(tensor) == nullptr;
  const auto elements = element_count(tensor.shape);
  if (known && !elements) {
    fail(ErrorCode::kBadShape, what + " has shape " + to_string(tensor.shape) + ", which is too large");
  }
  if (known && tensor.has_data && static_cast<int64_t>(tensor.data.size()) != byte_size(tensor.type, *elements)) {
    fail(ErrorCode::kBadData,
         what + " (" + describe_type(tensor) + ") has " + std::to_string(tensor.data.size()) + " bytes of data");
  }
  if (tensor.variable && is_shape) {
    fail(ErrorCode::kBadType, what + " is a variable of type SHAPE");
  }
  if (tensor.variable && tensor.variable_name.empty()) {
    fail(ErrorCode::kBadStructure, what + " is a variable without an identity; give it a variable_name");
  }
}

class BlockCheck {
 public:
  BlockCheck(const RegionIndex& regions, const Block& block, Sizes sizes)
      : regions_(regions),
        block_(block),
        sizes_(sizes),
        here_(regions.size() > 1 ? " of block " + in_quotes(block.name) : ""),
        state_(block.tensors.size(), State::kNone) {}

  void run() {
    check_tensors();
    check_inputs();
    for (size_t i = 0; i < block_.operators.size(); ++i) {
      check_operator_at(i);
    }
    check_outputs();
    if (sizes_ == Sizes::kKnown) check_sizes();
    if (sizes_ == Sizes::kKnown) check_shapes_known();
  }

 private:
  // What gave a tensor its value so far.
  enum class State : uint8_t { kNone, kInput, kProduced, kDeclared, kWritten };

  void check_tensors() {
    std::unordered_set<std::string_view> names;
    std::map<std::string, const Tensor*> variables;
    for (const Tensor& tensor : block_.tensors) {
      if (tensor.name.empty() || !names.insert(tensor.name).second) {
        fail(ErrorCode::kBadStructure, "the tensor name " + in_quotes(tensor.name) + here_ +
                                           (tensor.name.empty() ? " is empty" : " occurs twice"));
      }
      check_tensor(tensor, here_);
      if (tensor.variable) {
        const auto [other, added] = variables.emplace(variable_identity(tensor), &tensor);
        if (!added) redeclared(*other->second, tensor);
      }
    }
  }

  // Last: what is wrong whatever the sizes are makes the graph illegal, and is no question of what it is exported with.
  void check_sizes() const {
    for (const Tensor& tensor : block_.tensors) {
      const int64_t* size = unknown_size(tensor);
      if (size == nullptr) continue;
      fail(ErrorCode::kFeatureUnsupported, "tensor " + in_quotes(tensor.name) + here_ + " has shape " +
                                               to_string(tensor.shape) + ", of which a size is unknown (" +
                                               std::to_string(*size) + "); it runs with fixed sizes only");
    }
  }

  // Operators that compute shapes do not run.
  void check_shapes_known() const {
    for (size_t i = 0; i < block_.operators.size(); ++i) {
      if (!is_shape_operator(block_.operators[i].op)) continue;
      fail(ErrorCode::kFeatureUnsupported, describe(block_.operators[i], i) + here_ +
                                               " computes a shape; a graph that runs has constants in its place");
    }
  }

  // Of its own tensors, of a shape that is computed, or at the interface of a block that it names.
  [[nodiscard]] bool has_unknown_size(const Operator& op) const {
    const Attributes& a = op.attributes;
    const auto computed = [&](TensorId id) { return is_computed_shape(block_.tensors[id]); };
    // The operators that compute shapes have rules that need no values.
    if (!is_shape_operator(op.op) && std::any_of(op.inputs.begin(), op.inputs.end(), computed)) return true;
    const auto open = [&](const std::string& name) {
      const Region* region = name.empty() ? nullptr : regions_.find(name);
      if (region == nullptr || region->blocks.empty()) return false;
      const Block& block = region->blocks.front();
      const auto unknown = [&](TensorId id) { return unknown_size(block.tensors[id]) != nullptr; };
      return std::any_of(block.inputs.begin(), block.inputs.end(), unknown) ||
             std::any_of(block.outputs.begin(), block.outputs.end(), unknown);
    };
    return has_unknown_sizes(block_, op) || open(a.then_graph) || open(a.else_graph) || open(a.cond_graph) ||
           open(a.body_graph);
  }

  [[noreturn]] void redeclared(const Tensor& first, const Tensor& second) const {
    const bool alike = first.type == second.type && first.shape == second.shape;
    fail(alike ? ErrorCode::kVariableRedeclared : ErrorCode::kVariableMismatch,
         "tensors " + in_quotes(first.name) + " and " + in_quotes(second.name) + here_ + " declare the same variable " +
             in_quotes(variable_identity(first)) + ", as " + describe_type(first) + " and as " + describe_type(second));
  }

  void check_inputs() {
    for (const TensorId id : block_.inputs) {
      const Tensor& tensor = interface_tensor(id, "input");
      if (tensor.has_data) {
        fail(ErrorCode::kBadStructure, "graph input " + in_quotes(tensor.name) + here_ + " has constant data");
      }
      if (state_[id] != State::kNone) {
        fail(ErrorCode::kBadStructure, "graph input " + in_quotes(tensor.name) + here_ + " is listed twice");
      }
      state_[id] = State::kInput;
    }
  }

  void check_outputs() {
    for (const TensorId id : block_.outputs) {
      const Tensor& tensor = interface_tensor(id, "output");
      if (state_[id] == State::kNone) {
        fail(ErrorCode::kBadStructure, "no operator produces the graph output " + in_quotes(tensor.name) + here_);
      }
    }
  }

  const Tensor& interface_tensor(TensorId id, const char* what) const {
    const Tensor& tensor = block_.tensors[id];
    if (tensor.type == DType::kShape || tensor.variable) {
      fail(ErrorCode::kBadStructure, std::string("graph ") + what + " " + in_quotes(tensor.name) + here_ + " is a " +
                                         (tensor.variable ? "variable" : "shape") + "; it must be an ordinary tensor");
    }
    return tensor;
  }

  void require_id(TensorId id) const {
    if (id >= block_.tensors.size()) {
      fail(ErrorCode::kBadStructure, "the tensor number " + std::to_string(id) + here_ + " does not exist");
    }
  }

  void check_operator_at(size_t position) {
    const Operator& op = block_.operators[position];
    if (op.op == Op::kUnknown || static_cast<uint32_t>(op.op) >= kOpCount) {
      fail(ErrorCode::kUnknownOperator, "operator " + std::to_string(position) + here_ + " is none that is known");
    }
    const OperatorView view(regions_, block_, op, position);
    for (const TensorId id : op.inputs) {
      require_id(id);
    }
    for (const TensorId id : op.outputs) {
      require_id(id);
    }
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      check_use(view, op.inputs[i], position);
    }
    if (has_unknown_size(op)) {
      check_without_sizes(view);
    } else {
      check_results(view, check_operator(view));
    }
    for (const TensorId id : op.outputs) {
      check_definition(view, id);
    }
  }

  void check_use(const OperatorView& view, TensorId id, size_t position) {
    const Tensor& tensor = block_.tensors[id];
    if (tensor.variable) {
      if (view.op().op != Op::kVariableRead) {
        view.fail(ErrorCode::kBadStructure,
                  "it uses the variable " + in_quotes(tensor.name) + " as a tensor; read it with VARIABLE_READ");
      }
      return;  // before the declaration, too: an earlier execution may have declared and written it
    }
    if (state_[id] != State::kNone) {
      return;
    }
    for (size_t later = position; later < block_.operators.size(); ++later) {
      for (const TensorId output : block_.operators[later].outputs) {
        if (output == id) {
          view.fail(ErrorCode::kBadStructure,
                    "it uses " + in_quotes(tensor.name) + " before operator " + std::to_string(later) + " produces it");
        }
      }
    }
    view.fail(ErrorCode::kBadStructure, "it uses " + in_quotes(tensor.name) + ", which no operator produces");
  }

  void check_definition(const OperatorView& view, TensorId id) {
    const Tensor& tensor = block_.tensors[id];
    const Op op = view.op().op;
    if (op == Op::kVariable) {
      if (state_[id] == State::kDeclared) {
        view.fail(ErrorCode::kVariableRedeclared,
                  "variable " + in_quotes(variable_identity(tensor)) + " is declared twice");
      }
      if (state_[id] == State::kWritten) {
        view.fail(ErrorCode::kVariableUndeclared,
                  "variable " + in_quotes(variable_identity(tensor)) + " is written before this declaration");
      }
      state_[id] = State::kDeclared;
      return;
    }
    if (op == Op::kVariableWrite) {
      write_variable(id);
      return;
    }
    if (tensor.variable) {
      view.fail(ErrorCode::kBadStructure,
                "it writes the variable " + in_quotes(tensor.name) + "; only VARIABLE_WRITE does");
    }
    if (state_[id] != State::kNone) {
      view.fail(ErrorCode::kBadStructure,
                "its output " + in_quotes(tensor.name) +
                    (state_[id] == State::kInput ? " is a graph input" : " has a value already"));
    }
    // A shape of no sizes has data in any file: none.
    const bool no_sizes = tensor.type == DType::kShape && tensor.data.empty();
    if (tensor.has_data && !no_sizes && op != Op::kConst && op != Op::kConstShape) {
      view.fail(ErrorCode::kBadStructure, "its output " + in_quotes(tensor.name) + " has constant data");
    }
    state_[id] = State::kProduced;
  }

  // Tensors marked as variables count as declared; an explicit declaration must come first.
  void write_variable(TensorId id) {
    if (state_[id] == State::kNone) {
      state_[id] = State::kWritten;
    }
  }

  const RegionIndex& regions_;
  const Block& block_;
  const Sizes sizes_;
  const std::string here_;
  std::vector<State> state_;
};

// Regions that control flow refers to must not contain themselves, nor nest without bound.
class NestingCheck {
 public:
  explicit NestingCheck(const RegionIndex& regions) : regions_(regions) {}

  void run(const Region& first) { static_cast<void>(height(first, 0)); }

 private:
  // How deep the control flow inside a region nests. `depth` bounds the recursion, `known_` the time.
  size_t height(const Region& region, size_t depth) {
    if (const auto known = known_.find(&region); known != known_.end()) {
      return known->second;
    }
    if (!open_.insert(&region).second) {
      fail(ErrorCode::kBadStructure, "region " + in_quotes(region.name) + " contains itself");
    }
    size_t highest = 0;
    const auto enter = [&](const std::string& name) {
      highest = std::max(highest, depth < kMaxNesting ? 1 + height(*regions_.find(name), depth + 1) : kMaxNesting + 1);
    };
    for (const Operator& op : region.blocks.front().operators) {
      const Attributes& a = op.attributes;
      if (op.op == Op::kCondIf) {
        enter(a.then_graph);
        enter(a.else_graph);
      } else if (op.op == Op::kWhileLoop) {
        enter(a.cond_graph);
        enter(a.body_graph);
      }
    }
    if (highest > kMaxNesting) {
      fail(ErrorCode::kBadStructure, "control flow is nested deeper than " + std::to_string(kMaxNesting));
    }
    open_.erase(&region);
    known_.emplace(&region, highest);
    return highest;
  }

  const RegionIndex& regions_;
  std::unordered_set<const Region*> open_;
  std::unordered_map<const Region*, size_t> known_;
};

void check_regions(const Graph& graph) {
  if (graph.regions.empty()) {
    fail(ErrorCode::kBadStructure, "the graph has no region");
  }
  std::unordered_set<std::string_view> names;
  for (const Region& region : graph.regions) {
    if (!names.insert(region.name).second) {
      fail(ErrorCode::kBadStructure, "the region name " + in_quotes(region.name) + " occurs twice");
    }
    if (region.blocks.size() != 1) {
      fail(ErrorCode::kBadStructure, "region " + in_quotes(region.name) + " has " +
                                         std::to_string(region.blocks.size()) + " blocks, but must have one");
    }
    // Control flow looks at other blocks' interfaces before those blocks are checked.
    const Block& block = region.blocks.front();
    for (const auto* ids : {&block.inputs, &block.outputs}) {
      for (const TensorId id : *ids) {
        if (id >= block.tensors.size()) {
          fail(ErrorCode::kBadStructure, "block " + in_quotes(block.name) + " lists the tensor number " +
                                             std::to_string(id) + ", which does not exist");
        }
      }
    }
  }
}

// Types, ranks, or sizes that the file gives in both places.
bool contradict(const Tensor& a, const Tensor& b) {
  if (a.type != b.type || a.shape.size() != b.shape.size()) return true;
  for (size_t d = 0; d < a.shape.size(); ++d) {
    if (a.shape[d] != b.shape[d] && !is_unknown(a, a.shape[d]) && !is_unknown(b, b.shape[d])) return true;
  }
  return false;
}

// A variable that several blocks declare must be the same everywhere.
void check_shared_variables(const Graph& graph) {
  std::map<std::string, const Tensor*> variables;
  for (const Region& region : graph.regions) {
    for (const Tensor& tensor : region.blocks.front().tensors) {
      if (!tensor.variable) {
        continue;
      }
      const auto [known, added] = variables.emplace(variable_identity(tensor), &tensor);
      if (!added && contradict(*known->second, tensor)) {
        fail(ErrorCode::kVariableMismatch, "variable " + in_quotes(known->first) + " is declared as " +
                                               describe_type(*known->second) + " and as " + describe_type(tensor));
      }
    }
  }
}

}  // namespace

void validate(const Graph& graph, Sizes sizes) {
  check_regions(graph);
  const RegionIndex regions(graph);
  for (const Region& region : graph.regions) {
    BlockCheck(regions, region.blocks.front(), sizes).run();
  }
  // Those that nothing enters, too: infer() and resolve() follow what they name.
  NestingCheck nesting(regions);
  for (const Region& region : graph.regions) nesting.run(region);
  check_shared_variables(graph);
}

}  // namespace npu::graph
