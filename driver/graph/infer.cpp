// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/infer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "driver/graph/known_sizes.h"
#include "driver/graph/level_rules.h"
#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/shape_values.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

class Inferrer {
 public:
  Inferrer(const Graph& graph, const GivenShapes& given, Level level)
      : graph_(graph), given_(given), level_(level), index_(graph) {
    for (size_t i = 0; i < graph.regions.size(); ++i) {
      const Block& block = graph.regions[i].blocks.front();
      regions_.emplace(graph.regions[i].name, i);
      KnownSizes::OfBlock& known = known_.blocks[&block];
      known.region = i;
      known.sizes.resize(block.tensors.size());
    }
  }

  Inference run() {
    for (const TensorId id : graph_.main().inputs) take_input(0, id);
    take_variables();
    look_through(0);
    for (size_t i = 0; i < graph_.regions.size(); ++i) look_through_unused(i);
    if (const auto failed = known_.open.settle()) {
      throw Error(ErrorCode::kSizeMismatch, place(failed->place) + ": no sizes fit: " + known_.open.text(*failed) +
                                                ", which the other operators rule out");
    }
    Inference result;
    for (size_t i = 0; i < graph_.regions.size(); ++i) {
      std::vector<Dims>& sizes = result.sizes.emplace_back();
      for (auto& dims : known(i).sizes) sizes.push_back(known_.open.simplified(dims ? *std::move(dims) : Dims()));
    }
    result.open = std::move(known_.open);
    result.without_expression = std::move(without_expression_);
    return result;
  }

 private:
  [[nodiscard]] const Block& block(size_t region) const { return graph_.regions[region].blocks.front(); }
  [[nodiscard]] KnownSizes::OfBlock& known(size_t region) { return known_.blocks.at(&block(region)); }

  [[nodiscard]] std::string place(OperatorPlace at) const {
    const Block& own = block(at.region);
    return describe(own.operators[at.position], at.position) +
           (graph_.regions.size() > 1 ? " of block " + in_quotes(own.name) : std::string());
  }

  // A symbol of its own: "x.0". Other tensors of other blocks may have the same name.
  Dim symbol(const std::string& tensor, size_t dimension, Symbol::Of of) {
    return Dim::symbol(known_.open.add(own_name(printable(tensor) + "." + std::to_string(dimension)), of));
  }

  std::string own_name(std::string name) {
    const uint64_t uses = ++names_[name];
    return uses == 1 ? name : name + "#" + std::to_string(uses);
  }

  // What the file says, and symbols for what it leaves open.
  Dims declared(const Tensor& tensor, const std::string& name, Symbol::Of of) {
    Dims dims;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      const bool open = is_unknown(tensor, tensor.shape[d]);
      dims.push_back(open ? symbol(name, d, of) : Dim(tensor.shape[d]));
    }
    return dims;
  }

  void take_input(size_t region, TensorId id) {
    const Tensor& tensor = block(region).tensors[id];
    const auto given = region == 0 ? given_.find(tensor.name) : given_.end();
    known(region).sizes[id] =
        given != given_.end() ? dims_of(given->second) : declared(tensor, tensor.name, Symbol::Of::kInput);
  }

  // A variable has the same sizes in all blocks: those that any of them gives.
  void take_variables() {
    std::map<std::string, Shape> shapes;
    for (const Region& region : graph_.regions) {
      for (const Tensor& tensor : region.blocks.front().tensors) {
        if (!tensor.variable) continue;
        Shape& shape = shapes.try_emplace(variable_identity(tensor), tensor.shape).first->second;
        for (size_t d = 0; d < shape.size(); ++d) {
          if (!is_unknown(tensor, tensor.shape[d])) shape[d] = tensor.shape[d];
        }
      }
    }
    std::map<std::string, Dims> sizes;
    for (auto& [identity, shape] : shapes) {
      Tensor variable;
      variable.variable = true;
      const auto given = given_.find(identity);
      variable.shape = given != given_.end() ? given->second : shape;
      sizes[identity] = declared(variable, identity, Symbol::Of::kVariable);
    }
    for (size_t i = 0; i < graph_.regions.size(); ++i) {
      for (TensorId id = 0; id < block(i).tensors.size(); ++id) {
        const Tensor& tensor = block(i).tensors[id];
        if (tensor.variable) known(i).sizes[id] = sizes.at(variable_identity(tensor));
      }
    }
  }

  void look_through_unused(size_t region) {
    if (entered_.contains(region)) return;
    for (const TensorId id : block(region).inputs) take_input(region, id);
    look_through(region);
  }

  void look_through(size_t region) {
    if (!entered_.insert(region).second) return;
    for (size_t position = 0; position < block(region).operators.size(); ++position) look_at({region, position});
  }

  // A rule that no sizes fulfil is a matter of sizes if the file leaves any of them open, as resolve() has it.
  void look_at(OperatorPlace at) {
    const Block& own = block(at.region);
    const Operator& op = own.operators[at.position];
    enter_regions(at);
    const bool open_shape = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
      return open_shapes_.contains({at.region, id});
    });
    const bool open = open_shape || has_unknown_sizes(own, op);
    if (open && is_shape_operator(op.op) && !op.outputs.empty()) open_shapes_.insert({at.region, op.outputs[0]});
    try {
      apply_rule(at);
    } catch (const Error& error) {
      if (!open || !is_of_sizes(error.code(), op.op, open_shape)) throw;
      throw Error(ErrorCode::kSizeMismatch, error.what());
    }
  }

  void apply_rule(OperatorPlace at) {
    const Operator& op = block(at.region).operators[at.position];
    take_what_no_rule_gives(at);
    const OperatorView view(index_, block(at.region), op, at.position, known_);
    std::vector<Dims> results;
    try {
      results = op.op == Op::kReshape ? reshaped(view) : check_open_operator(view);
      if (is_shape_operator(op.op) && !op.outputs.empty()) known(at.region).values[op.outputs[0]] = shape_value(view);
      require_level(view, level_);
    } catch (const NotExpressible& error) {
      without_expression_.push_back({at, error.what()});
      for (size_t i = results.size(); i < op.outputs.size(); ++i) results.push_back(unknown_result(at, op.outputs[i]));
      take_unknown_value(at);
    }
    for (size_t i = 0; i < results.size(); ++i) fill_result(view, at, op.outputs[i], results[i]);
  }

  // The rules of these operators ask for the sizes of their results.
  void take_what_no_rule_gives(OperatorPlace at) {
    const Operator& op = block(at.region).operators[at.position];
    const bool by_data = op.op == Op::kCustom;
    if (!by_data && op.op != Op::kConst && op.op != Op::kConstShape) return;
    bool any_open = false;
    for (const TensorId id : op.outputs) {
      any_open = any_open || unknown_size(block(at.region).tensors[id]) != nullptr;
      known(at.region).sizes[id] = unknown_result(at, id);
    }
    if (any_open) without_expression_.push_back({at, "no rule gives the sizes of its results"});
  }

  Dims unknown_result(OperatorPlace at, TensorId id) {
    const Tensor& tensor = block(at.region).tensors[id];
    return declared(tensor, tensor.name, Symbol::Of::kResult);
  }

  // Of a shape without expression: any numbers.
  void take_unknown_value(OperatorPlace at) {
    const Operator& op = block(at.region).operators[at.position];
    if (!is_shape_operator(op.op) || op.outputs.empty() || known(at.region).values.contains(op.outputs[0])) return;
    const Tensor& tensor = block(at.region).tensors[op.outputs[0]];
    Dims values;
    for (int64_t i = 0; i < tensor.shape[0]; ++i) {
      std::string name = own_name(printable(tensor.name) + "[" + std::to_string(i) + "]");
      values.push_back(Dim::symbol(known_.open.add(std::move(name), Symbol::Of::kResult, INT64_MIN, INT64_MAX)));
    }
    known(at.region).values[op.outputs[0]] = std::move(values);
  }

  // The blocks of control flow, with the shapes of its operands.
  void enter_regions(OperatorPlace at) {
    const Operator& op = block(at.region).operators[at.position];
    const auto enter = [&](const std::string& name, size_t first) {
      const size_t entered = regions_.at(name);
      const Block& inner = block(entered);
      for (size_t i = 0; i < inner.inputs.size() && first + i < op.inputs.size(); ++i) {
        const TensorId id = inner.inputs[i];
        const Dims operand = known_.open.simplified(*known(at.region).sizes[op.inputs[first + i]]);
        if (!known(entered).sizes[id]) known(entered).sizes[id] = operand;
        if (fits_file(at, inner.tensors[id], operand) && same(at, *known(entered).sizes[id], operand)) continue;
        throw Error(ErrorCode::kSizeMismatch,
                    place(at) + ": block " + in_quotes(inner.name) + " takes " + in_quotes(inner.tensors[id].name) +
                        " as " + known_.open.text(known_.open.simplified(*known(entered).sizes[id])) + " (" +
                        describe_type(inner.tensors[id]) + " in the file), and gets " + known_.open.text(operand));
      }
      look_through(entered);
    };
    const Attributes& a = op.attributes;
    if (op.op == Op::kCondIf) {
      enter(a.then_graph, 1);
      enter(a.else_graph, 1);
    } else if (op.op == Op::kWhileLoop) {
      enter(a.cond_graph, 0);
      enter(a.body_graph, 0);
    }
  }

  bool same(OperatorPlace at, const Dims& a, const Dims& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Dim& mine, const Dim& other) {
      return known_.open.require({SizeRelation::kEqual, mine, other, at, ""});
    });
  }

  // Sizes that the file gives.
  bool fits_file(OperatorPlace at, const Tensor& tensor, const Dims& dims) {
    if (tensor.shape.size() != dims.size()) return false;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (is_unknown(tensor, tensor.shape[d])) continue;
      if (!known_.open.require({SizeRelation::kEqual, dims[d], tensor.shape[d], at, "in the file"})) return false;
    }
    return true;
  }

  // With the numbers that the file gives: a 1 broadcasts, whatever rule makes it one.
  static Dims as_in_file(const Tensor& tensor, Dims dims) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!is_unknown(tensor, tensor.shape[d])) dims[d] = tensor.shape[d];
    }
    return dims;
  }

  // A RESHAPE whose constant leaves sizes to the others.
  std::vector<Dims> reshaped(const OperatorView& view) {
    check_without_sizes(view);
    const Tensor& constant = view.input(1);
    if (!is_constant(constant) || constant.shape.size() != 1 || constant.data.empty()) return check_open_operator(view);
    Dims sizes = view.value(1, constant.shape[0]);
    const auto open = std::count(sizes.begin(), sizes.end(), Dim(-1));
    const bool bad =
        std::any_of(sizes.begin(), sizes.end(), [](const Dim& size) { return size < Dim(1) && size != Dim(-1); });
    if (open == 0 || bad) return check_open_operator(view);
    const Dims input = view.dims(0);
    const auto fail = [&] {
      view.bad_shape(view.input_name(0) + " " + view.text(input) + " cannot take the shape " + view.text(sizes));
    };
    if (open == 1) {
      Dims others = sizes;
      std::erase(others, Dim(-1));
      const Dim all = product_of(input), rest = product_of(others);
      if (!view.multiple(all, rest, "the other sizes")) fail();
      std::replace(sizes.begin(), sizes.end(), Dim(-1), all.quotient(rest));
      return {sizes};
    }
    const Tensor& output = view.output(0);
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] != Dim(-1)) continue;
      const bool in_file = d < output.shape.size() && !is_unknown(output, output.shape[d]);
      sizes[d] = in_file ? Dim(output.shape[d]) : symbol(output.name, d, Symbol::Of::kResult);
    }
    if (!view.equal(product_of(input), product_of(sizes), "number of elements")) fail();
    return {sizes};
  }

  void fill_result(const OperatorView& view, OperatorPlace at, TensorId id, const Dims& dims) {
    const Tensor& tensor = block(at.region).tensors[id];
    std::optional<Dims>& sizes = known(at.region).sizes[id];
    if (!fits_file(at, tensor, dims) || (sizes && !same(at, *sizes, dims))) {
      view.bad_shape("its output " + in_quotes(tensor.name) + " has shape " + to_string(tensor.shape) +
                     " in the file, but its operands make it " + view.text(dims));
    }
    sizes = known_.open.simplified(as_in_file(tensor, dims));
    if (tensor.type != DType::kShape) require_room(view, at, tensor, *sizes);
  }

  void require_room(const OperatorView& view, OperatorPlace at, const Tensor& tensor, const Dims& sizes) {
    const auto numbers = numbers_of(sizes);
    try {
      const bool each =
          std::all_of(sizes.begin(), sizes.end(), [&](const Dim& size) { return view.at_least(kMostSize, size); });
      const bool all = numbers ? element_count(*numbers).has_value()
                               : view.at_least(kMostElements, product_of(sizes), "number of elements");
      if (!each || !all) {
        view.bad_shape("its output " + in_quotes(tensor.name) + " " + view.text(sizes) + " is too large");
      }
      require_level(view, tensor.type, sizes, level_);
    } catch (const NotExpressible& error) {
      without_expression_.push_back({at, std::string("the number of elements: ") + error.what()});
    }
  }

  const Graph& graph_;
  const GivenShapes& given_;
  const Level level_;
  const RegionIndex index_;
  std::map<std::string, size_t, std::less<>> regions_;
  KnownSizes known_;
  std::set<size_t> entered_;
  std::map<std::string, uint64_t> names_;              // of symbols, and how many have it
  std::set<std::pair<size_t, TensorId>> open_shapes_;  // shapes that are computed from what the file leaves open
  std::vector<NoExpression> without_expression_;
};

}  // namespace

Inference infer(const Graph& graph, const GivenShapes& given, Level level) {
  return Inferrer(graph, given, level).run();
}

GivenShapes decided_inputs(const Graph& graph) {
  const Block& main = graph.main();
  GivenShapes shapes;
  for (const TensorId id : main.inputs) {
    if (unknown_size(main.tensors[id]) != nullptr) shapes.emplace(main.tensors[id].name, main.tensors[id].shape);
  }
  if (shapes.empty()) return shapes;
  try {
    const Inference inference = infer(graph);
    for (const TensorId id : main.inputs) {
      const auto shape = shapes.find(main.tensors[id].name);
      if (shape == shapes.end()) continue;
      for (size_t d = 0; d < shape->second.size(); ++d) {
        shape->second[d] = inference.sizes[0][id][d].number().value_or(-1);
      }
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBudgetExceeded) throw;
  }
  return shapes;
}

bool leave_open(const GivenShapes& shapes) {
  return std::ranges::any_of(shapes, [](const auto& named) {
    return std::ranges::any_of(named.second, [](int64_t size) { return size < 0; });
  });
}

}  // namespace npu::graph
