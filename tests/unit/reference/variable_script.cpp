// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reference/variable_script.h"

#include "driver/graph/builder.h"

namespace npu::reference::test {
namespace {

using graph::Block;
using graph::TensorId;

class Writer {
 public:
  explicit Writer(const Script& script) : script_(script) {}

  graph::Graph write() {
    graph_.regions.push_back({"main", {Block{"main", {}, {}, {}, {}}}});
    Block block{"main", {}, {}, {}, {}};
    const TensorId flag = input(block, "flag", DType::kBool, {1});
    position_ = 0;
    fill(block, flag, true);
    graph_.regions.front().blocks.front() = std::move(block);
    return std::move(graph_);
  }

 private:
  // Reads the text up to the end of this block. The last value read, if any.
  std::optional<TensorId> fill(Block& block, TensorId flag, bool is_main) {
    std::optional<TensorId> state, last;
    const auto variable = [&] {
      if (!state) {
        state = tensor(block, "variable", script_.type, script_.shape);
        block.tensors[*state].name = "variable";  // in every block, as exporters write it
        block.tensors[*state].variable = true;
        block.tensors[*state].variable_name = script_.identity;
        if (script_.initial && (script_.initial_in_main || !is_main)) {
          set_data(block.tensors[*state], *script_.initial);
        }
      }
      return *state;
    };
    const auto read = [&](const Shape& shape) {
      const TensorId value = tensor(block, "read", script_.type, shape);
      add(block, Op::kVariableRead, {variable()}, {value});
      last = value;
      return value;
    };
    while (position_ < script_.text.size() && at() != '|' && at() != ')') {
      switch (next()) {
        case 'D':
          add(block, Op::kVariable, {}, {variable()});
          break;
        case 'W':
          add(block, Op::kVariableWrite, {constant(block, script_.type, script_.shape, number())}, {variable()});
          break;
        case 'R':
          result(block, read(script_.shape), is_main);
          break;
        case 'r':
          result(block, read({7}), is_main);
          break;
        case 'I': {
          const TensorId one = constant(block, script_.type, script_.shape, 1);
          const TensorId old = read(script_.shape);
          const TensorId sum = tensor(block, "sum", script_.type, script_.shape);
          add(block, Op::kAdd, {old, one}, {sum});
          add(block, Op::kVariableWrite, {sum}, {variable()});
          last.reset();
          break;
        }
        case 'X': {
          const TensorId zero = constant(block, DType::kInt32, {1}, 0);
          add(block, Op::kIntDiv, {zero, zero}, {tensor(block, "failing", DType::kInt32, {1})});
          break;
        }
        case '?':
          result(block, branch(block, flag), is_main);
          break;
        case '*':
          result(block, loop(block, flag), is_main);
          break;
        default:
          break;  // a space
      }
    }
    return last;
  }

  TensorId branch(Block& block, TensorId flag) {
    graph::Attributes a;
    next();  // the bracket
    a.then_graph = region([&](Block& inner) { branch_block(inner); });
    next();
    a.else_graph = region([&](Block& inner) { branch_block(inner); });
    next();
    const TensorId value = tensor(block, "branched", script_.type, script_.shape);
    add(block, Op::kCondIf, {flag, flag}, {value}, a);
    return value;
  }

  void branch_block(Block& block) {
    const TensorId flag = input(block, "flag", DType::kBool, {1});
    const auto last = fill(block, flag, false);
    block.outputs.push_back(last ? *last : constant(block, script_.type, script_.shape, 0));
  }

  TensorId loop(Block& block, TensorId flag) {
    const int iterations = number();
    next();
    graph::Attributes a;
    a.cond_graph = region([&](Block& inner) {
      input(inner, "flag", DType::kBool, {1});
      const TensorId count = input(inner, "count", DType::kInt32, {1});
      const TensorId more = tensor(inner, "more", DType::kBool, {1});
      add(inner, Op::kGreater, {constant(inner, DType::kInt32, {1}, iterations), count}, {more});
      inner.outputs.push_back(more);
    });
    a.body_graph = region([&](Block& inner) {
      const TensorId inner_flag = input(inner, "flag", DType::kBool, {1});
      const TensorId count = input(inner, "count", DType::kInt32, {1});
      static_cast<void>(fill(inner, inner_flag, false));
      const TensorId more = tensor(inner, "counted", DType::kInt32, {1});
      add(inner, Op::kAdd, {count, constant(inner, DType::kInt32, {1}, 1)}, {more});
      inner.outputs = {inner_flag, more};
    });
    next();
    const TensorId zero = constant(block, DType::kInt32, {1}, 0);
    const TensorId same = tensor(block, "same", DType::kBool, {1});
    const TensorId count = tensor(block, "counted", DType::kInt32, {1});
    add(block, Op::kWhileLoop, {flag, zero}, {same, count}, a);
    return count;
  }

  template <typename Fill>
  std::string region(Fill&& fill_block) {
    std::string name = "region";
    name += std::to_string(graph_.regions.size());
    const size_t index = graph_.regions.size();
    graph_.regions.push_back({name, {Block{name, {}, {}, {}, {}}}});
    Block block{name, {}, {}, {}, {}};
    fill_block(block);
    graph_.regions[index].blocks.front() = std::move(block);
    return name;
  }

  static void result(Block& block, TensorId id, bool is_main) {
    if (is_main) {
      block.outputs.push_back(id);
    }
  }

  static TensorId tensor(Block& block, const std::string& name, DType type, const Shape& shape) {
    graph::Tensor tensor;
    tensor.name = name + "_" + std::to_string(block.tensors.size());
    tensor.type = type;
    tensor.shape = shape;
    block.tensors.push_back(tensor);
    return static_cast<TensorId>(block.tensors.size() - 1);
  }
  static TensorId input(Block& block, const std::string& name, DType type, const Shape& shape) {
    block.inputs.push_back(tensor(block, name, type, shape));
    return block.inputs.back();
  }
  TensorId constant(Block& block, DType type, const Shape& shape, int value) {
    const TensorId id = tensor(block, "constant", type, shape);
    set_data(block.tensors[id], value);
    add(block, Op::kConst, {}, {id});
    return id;
  }
  void set_data(graph::Tensor& tensor, int value) {
    const auto count = graph::element_count(tensor.shape).value();
    graph_.storage.push_back(
        std::make_shared<const std::vector<uint8_t>>(graph::encode(tensor.type, count, {static_cast<double>(value)})));
    tensor.data = *graph_.storage.back();
    tensor.has_data = true;
  }
  static void add(Block& block, Op op, const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs,
                  const graph::Attributes& attributes = {}) {
    block.operators.push_back({op, attributes, inputs, outputs, ""});
  }

  [[nodiscard]] char at() const { return script_.text[position_]; }
  char next() { return script_.text[position_++]; }
  int number() {
    int value = 0;
    while (position_ < script_.text.size() && at() >= '0' && at() <= '9') {
      value = 10 * value + (next() - '0');
    }
    return value;
  }

  const Script& script_;
  graph::Graph graph_;
  size_t position_ = 0;
};

}  // namespace

graph::Graph graph_of(const Script& script) { return Writer(script).write(); }

}  // namespace npu::reference::test
