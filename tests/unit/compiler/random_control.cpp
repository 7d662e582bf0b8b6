// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/random_control.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "driver/graph/builder.h"

namespace npu::compiler::testing {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Shape;
using graph::TensorId;

constexpr int64_t kChannels = 6;  // of convolutions
constexpr int kDeepest = 3, kVariables = 3;
constexpr double kMost = 1000;

TensorId limit(GraphBuilder& b, TensorId x, double low, double high) {
  const TensorId above = b.maximum(x, b.constant(DType::kInt32, {1, 1}, {low}));
  return b.minimum(above, b.constant(DType::kInt32, {1, 1}, {high}));
}

class Maker {
 public:
  Maker(uint32_t seed, int64_t width) : width_(width), shape_{1, width}, random_(seed) {}

  graph::Graph make() {
    GraphBuilder main;
    std::vector<TensorId> values;
    for (int i = 0; i < 3; ++i) {
      const TensorId input = main.input(std::string("x").append(std::to_string(i)), DType::kInt32, shape_);
      values.push_back(limit(main, input, -kMost, kMost));
    }
    Scope scope{main, values, {}, 0};
    for (int i = 0; i < kVariables; ++i) {
      scope.variables.push_back(main.variable(identity(i), DType::kInt32, shape_, std::vector<double>{double(i)}));
    }
    fill(scope, 6);
    control(scope);
    fill(scope, 2);
    for (int i = 0; i < 3; ++i) main.output(main.op(Op::kIdentity, {any(values)}));
    return main.build();
  }

 private:
  struct Scope {
    GraphBuilder& b;
    std::vector<TensorId>& values;
    std::vector<TensorId> variables;
    int depth = 0;
  };

  static std::string identity(int i) { return std::string("state").append(std::to_string(i)); }
  int below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }
  TensorId any(const std::vector<TensorId>& values) { return values[random_() % values.size()]; }

  void fill(Scope& scope, int count) {
    for (int i = 0; i < count; ++i) {
      const int choice = below(12);
      if (choice == 0 || choice == 1) {
        if (scope.depth < kDeepest) control(scope);
      } else if (choice == 2) {
        scope.values.push_back(limit(scope.b, scope.b.read(any(scope.variables)), -kMost, kMost));
      } else if (choice == 3) {
        scope.b.write(any(scope.variables), any(scope.values));
      } else {
        scope.values.push_back(limit(scope.b, compute(scope), -kMost, kMost));
      }
    }
  }

  TensorId compute(Scope& scope) {
    GraphBuilder& b = scope.b;
    const TensorId x = any(scope.values), y = any(scope.values);
    switch (below(8)) {
      case 0:
        return b.add(x, y);
      case 1:
        return b.sub(x, y);
      case 2:
        return b.maximum(x, b.constant(DType::kInt32, {1, 1}, {double(below(9))}));
      case 3:
        return b.op(Op::kBitwiseXor, {x, y});
      case 4:
        return b.reverse(x, 1);
      case 5:
        return b.concat({b.slice(x, {0, 0}, {1, 2}), b.slice(y, {0, 2}, {1, width_ - 2})}, 1);
      case 6:
        return b.add(b.reduce(Op::kReduceSum, x, 1), y);
      default:
        return convolve(b, x);
    }
  }

  // Of the first elements; the others stay.
  TensorId convolve(GraphBuilder& b, TensorId x) {
    const TensorId first = b.slice(x, {0, 0}, {1, kChannels});
    const TensorId narrow = b.reshape(b.cast(first, DType::kInt8), {1, 1, 1, kChannels});
    std::vector<double> weights(kChannels * kChannels);
    for (double& weight : weights) weight = below(7) - 3;
    const TensorId sums = b.conv2d(narrow, b.constant(DType::kInt8, {kChannels, 1, 1, kChannels}, weights),
                                   b.constant(DType::kInt32, {kChannels}, {double(below(5))}));
    const TensorId flat = b.reshape(sums, {1, kChannels});
    if (width_ == kChannels) return flat;
    return b.concat({flat, b.slice(x, {0, kChannels}, {1, width_ - kChannels})}, 1);
  }

  // A BOOL of one element.
  TensorId condition(GraphBuilder& b, TensorId x) {
    const TensorId first = b.slice(x, {0, below(static_cast<int>(width_))}, {1, 1});
    return b.op(Op::kGreater, {first, b.constant(DType::kInt32, {1, 1}, {double(below(9) - 4)})});
  }

  // The values that a construct takes, and a region with these inputs.
  std::vector<TensorId> operands(const Scope& scope) {
    std::vector<TensorId> list;
    for (int i = 1 + below(3); i > 0; --i) list.push_back(any(scope.values));
    return list;
  }
  std::string region_name(const char* kind) { return std::string(kind).append(std::to_string(regions_++)); }

  std::vector<TensorId> variables_of(GraphBuilder& b) {
    std::vector<TensorId> variables;
    for (int i = 0; i < kVariables; ++i) variables.push_back(b.variable(identity(i), DType::kInt32, shape_));
    return variables;
  }

  // A block of `inputs` values that gives `outputs` of them.
  std::string branch(Scope& scope, size_t inputs, size_t outputs) {
    const std::string name = region_name("branch");
    GraphBuilder b(name);
    std::vector<TensorId> values;
    for (size_t i = 0; i < inputs; ++i) values.push_back(b.input({}, DType::kInt32, shape_));
    Scope inner{b, values, variables_of(b), scope.depth + 1};
    fill(inner, below(4));
    for (size_t i = 0; i < outputs; ++i) b.output(any(values));
    scope.b.add_region(std::move(b));
    return name;
  }

  void control(Scope& scope) {
    const std::vector<TensorId> list = operands(scope);
    if (below(2) == 0) {
      const auto outputs = static_cast<size_t>(below(3));
      const std::string then_graph = branch(scope, list.size(), outputs);
      const std::string else_graph = branch(scope, list.size(), outputs);
      const TensorId flag = condition(scope.b, any(scope.values));
      add(scope, scope.b.cond_if(flag, list, then_graph, else_graph));
    } else {
      loop(scope, list);
    }
  }

  void add(Scope& scope, const std::vector<TensorId>& results) {
    scope.values.insert(scope.values.end(), results.begin(), results.end());
  }

  // Counts down what a value says; the body hands its operands on in any order, changed or as they are.
  void loop(Scope& scope, std::vector<TensorId> list) {
    const TensorId some = scope.b.slice(any(scope.values), {0, 0}, {1, 1});
    list.insert(list.begin(), limit(scope.b, some, -1, below(5)));
    const std::string cond = region_name("more"), body = region_name("body");
    GraphBuilder more(cond), step(body);
    std::vector<TensorId> values, same;
    for (size_t i = 0; i < list.size(); ++i) {
      const Shape& shape = i == 0 ? Shape{1, 1} : shape_;
      more.input({}, DType::kInt32, shape);
      const TensorId input = step.input({}, DType::kInt32, shape);
      if (i > 0) values.push_back(input);
    }
    more.output(more.op(Op::kGreater, {0, more.constant(DType::kInt32, {1, 1}, {0})}));
    same = values;
    step.output(step.sub(0, step.constant(DType::kInt32, {1, 1}, {1})));
    Scope inner{step, values, variables_of(step), scope.depth + 1};
    fill(inner, below(4));
    const int order = below(3);
    if (order == 1) std::shuffle(same.begin(), same.end(), random_);
    for (const TensorId id : same) step.output(order == 2 ? any(values) : id);
    scope.b.add_region(std::move(more));
    scope.b.add_region(std::move(step));
    const std::vector<TensorId> results = scope.b.while_loop(list, cond, body);
    add(scope, {results.begin() + 1, results.end()});
  }

  const int64_t width_;
  const Shape shape_;
  std::mt19937 random_;
  int regions_ = 0;
};

}  // namespace

graph::Graph random_control(uint32_t seed, int64_t width) { return Maker(seed, width).make(); }

}  // namespace npu::compiler::testing
