// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_control.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "sim/generator/random_values.h"

namespace npu::generator {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Shape;
using graph::TensorId;

constexpr int64_t kMostIterations = 5;

// A block that is being made.
struct Scope {
  GraphBuilder& b;
  std::vector<TensorId> values;
  int depth = 0;
  std::map<size_t, TensorId> variables = {};  // those that it names so far, by their number
  std::set<size_t> fixed = {};                // those that it has declared or written: it can no more declare them
};

struct Bounds {
  int variables = 0;
  int deepest = 0;            // so many constructs may lie in each other
  int64_t in_block = 0;       // operators that are drawn for a block of a construct, at most
  int64_t least_results = 0;  // of a COND_IF
  bool declares = false;      // blocks may
};

class ControlMaker {
 public:
  // `name` tells regions and variables apart from those of other makers in the same graph.
  ControlMaker(cosim::Random& random, Shape shape, std::string name, const Bounds& bounds)
      : random_(random), values_(random, std::move(shape)), name_(std::move(name)), bounds_(bounds) {
    for (int i = 0; i < bounds.variables; ++i) types_.push_back(values_.any_type());
  }

  RandomValues& values() { return values_; }

  // Without the VARIABLE operator where `declared` is false, as files of exporters have them. Where blocks declare,
  // some have no initial value.
  void add_variables(Scope& main, bool declared) {
    for (size_t i = 0; i < types_.size(); ++i) {
      if (bounds_.declares) initialised_.push_back(random_.chance(70));
      main.variables[i] = tensor_of(main, i);
      if (declared) main.b.declare(main.variables[i]);
    }
  }
  // All, or those that the block itself has declared or written: of the others none may be declared.
  std::vector<TensorId> read_variables(Scope& scope, bool own) {
    std::vector<TensorId> results;
    for (size_t i = 0; i < types_.size(); ++i) {
      if (!own || scope.fixed.contains(i)) results.push_back(scope.b.read(variable(scope, i)));
    }
    return results;
  }

  // Draws operators, constructs, reads and writes.
  void fill(Scope& scope, int64_t count) {
    for (; count > 0; --count) {
      const int64_t choice = random_.between(0, bounds_.declares ? 14 : 11);
      if (choice < 2 && scope.depth < bounds_.deepest) {
        control(scope);
      } else if (choice == 2 && !types_.empty()) {
        scope.values.push_back(scope.b.read(variable(scope, any_variable())));
      } else if (choice == 3 && !types_.empty()) {
        const size_t which = any_variable();
        const TensorId value = values_.as(scope.b, values_.any(scope.values), types_[which]);
        scope.fixed.insert(which);
        scope.b.write(variable(scope, which), value);
      } else if (choice > 11) {
        declare(scope, any_variable());
      } else {
        scope.values.push_back(values_.compute(scope.b, scope.values));
      }
    }
  }

  // A construct that one of the values decides on.
  void control(Scope& scope) {
    if (random_.chance(50)) {
      cond_if(scope, values_.condition(scope.b, values_.any(scope.values)));
    } else {
      const TensorId count = values_.element(scope.b, values_.any(scope.values));
      const auto most = static_cast<double>(random_.between(0, kMostIterations - 1));
      while_loop(scope, RandomValues::limit(scope.b, count, -1, most));
    }
  }

  // `flag`: BOOL [1]. Adds the results to the values.
  std::vector<TensorId> cond_if(Scope& scope, TensorId flag) {
    const std::vector<TensorId> list = operands(scope);
    std::vector<DType> types;
    for (int64_t i = random_.between(bounds_.least_results, 3); i > 0; --i) types.push_back(values_.any_type());
    const std::string then_graph = branch(scope, list, types), else_graph = branch(scope, list, types);
    return add(scope, scope.b.cond_if(flag, list, then_graph, else_graph));
  }

  // `count`: INT32 [1], which the body counts down to 0. Adds the results but the count to the values.
  std::vector<TensorId> while_loop(Scope& scope, TensorId count) {
    std::vector<TensorId> list = operands(scope);
    list.insert(list.begin(), count);
    const std::string cond = region("more"), body = region("body");
    GraphBuilder more(cond), step(body);
    Scope inner{step, {}, scope.depth + 1};
    for (const TensorId id : list) {
      const graph::Tensor& tensor = scope.b.tensor(id);
      more.input({}, tensor.type, tensor.shape);
      inner.values.push_back(step.input({}, tensor.type, tensor.shape));
    }
    more.output(more.op(Op::kGreater, {0, more.constant(DType::kInt32, {1}, {0})}));
    step.output(step.sub(0, step.constant(DType::kInt32, {1}, {1})));
    inner.values.erase(inner.values.begin());
    hand_on(inner);
    scope.b.add_region(std::move(more));
    scope.b.add_region(std::move(step));
    std::vector<TensorId> results = scope.b.while_loop(list, cond, body);
    results.erase(results.begin());
    return add(scope, std::move(results));
  }

 private:
  [[nodiscard]] std::string identity(size_t i) const { return fmt::format("kept{}_{}", name_, i); }
  std::string region(std::string_view kind) { return fmt::format("{}{}_{}", kind, name_, regions_++); }
  [[nodiscard]] size_t any_variable() {
    return static_cast<size_t>(random_.between(0, static_cast<int64_t>(types_.size()) - 1));
  }
  // All blocks that may declare a variable give it the same initial value, or none.
  TensorId tensor_of(Scope& scope, size_t i) {
    const std::vector<double> initial = {static_cast<double>(i + 1)};
    const bool bare = bounds_.declares ? !initialised_[i] : scope.depth > 0;
    return bare ? scope.b.variable(identity(i), types_[i], values_.shape())
                : scope.b.variable(identity(i), types_[i], values_.shape(), initial);
  }
  TensorId variable(Scope& scope, size_t i) {
    const auto [at, added] = scope.variables.try_emplace(i);
    if (added) at->second = tensor_of(scope, i);
    return at->second;
  }
  // At most once in a block, and not behind a write: that is no legal graph.
  void declare(Scope& scope, size_t i) {
    if (scope.fixed.insert(i).second) scope.b.declare(variable(scope, i));
  }

  std::vector<TensorId> operands(const Scope& scope) {
    std::vector<TensorId> list;
    for (int64_t i = random_.between(1, 3); i > 0; --i) list.push_back(values_.any(scope.values));
    return list;
  }

  static std::vector<TensorId> add(Scope& scope, std::vector<TensorId> results) {
    scope.values.insert(scope.values.end(), results.begin(), results.end());
    return results;
  }

  std::string branch(Scope& outer, const std::vector<TensorId>& list, const std::vector<DType>& types) {
    const std::string name = region("branch");
    GraphBuilder b(name);
    Scope inner{b, {}, outer.depth + 1};
    for (const TensorId id : list) inner.values.push_back(b.input({}, outer.b.tensor(id).type, values_.shape()));
    fill(inner, random_.between(0, bounds_.in_block));
    for (const DType type : types) b.output(values_.as(b, values_.any(inner.values), type));
    outer.b.add_region(std::move(b));
    return name;
  }

  // What a body makes of its operands: as they are, in another order, or changed.
  void hand_on(Scope& inner) {
    std::vector<TensorId> same = inner.values;
    std::vector<DType> types;
    for (const TensorId id : same) types.push_back(inner.b.tensor(id).type);
    fill(inner, random_.between(0, bounds_.in_block));
    const int64_t order = random_.between(0, 3);
    if (order == 1) random_.shuffle(std::span(same));
    for (size_t i = 0; i < same.size(); ++i) {
      inner.b.output(values_.as(inner.b, order > 1 ? values_.any(inner.values) : same[i], types[i]));
    }
  }

  cosim::Random& random_;
  RandomValues values_;
  const std::string name_;
  const Bounds bounds_;
  std::vector<DType> types_;       // of the variables
  std::vector<bool> initialised_;  // where blocks declare: which of them have an initial value
  int regions_ = 0;
};

// Of one construct beside others, whose tiles may run on RTL.
ControlMaker small_maker(RandomNetwork& net) {
  const Bounds bounds = {.variables = net.random.chance(50) ? 1 : 0, .deepest = 2, .in_block = 2, .least_results = 1};
  return {net.random, net.shape(1), fmt::format("{}", net.ranges().size()), bounds};
}

Scope scope_of(RandomNetwork& net, ControlMaker& maker) {
  Scope scope{net.builder, {}, 0};
  maker.add_variables(scope, true);
  for (int i = 0; i < 2; ++i) {
    const DType type = maker.values().any_type();
    scope.values.push_back(net.input(type, maker.values().shape(), RandomValues::range_of(type)));
  }
  return scope;
}

}  // namespace

graph::Graph random_control(uint64_t seed, const ControlSize& size) {
  cosim::Random random(seed);
  ControlMaker maker(random, size.shape, {},
                     {.variables = 3,
                      .deepest = 3,
                      .in_block = 3,
                      .least_results = size.least_results,
                      .declares = size.declares_anywhere});
  GraphBuilder main;
  Scope scope{main, {}, 0};
  for (int i = 0; i < 3; ++i) {
    const DType type = maker.values().any_type();
    const TensorId input = main.input(fmt::format("x{}", i), type, size.shape);
    scope.values.push_back(type == DType::kInt32 ? maker.values().bounded(main, input) : input);
  }
  maker.add_variables(scope, false);
  maker.fill(scope, size.operators);
  maker.control(scope);
  maker.fill(scope, 2);
  std::vector<TensorId> results;
  for (int i = 0; i < 3; ++i) results.push_back(maker.values().any(scope.values));
  const std::vector<TensorId> kept = maker.read_variables(scope, size.declares_anywhere);
  results.insert(results.end(), kept.begin(), kept.end());
  // Of its own for each output: the same value may be several.
  for (const TensorId id : results) main.output(main.op(Op::kIdentity, {id}));
  return main.build();
}

std::vector<TensorId> random_cond_if(RandomNetwork& net) {
  ControlMaker maker = small_maker(net);
  Scope scope = scope_of(net, maker);
  return maker.cond_if(scope, net.input(DType::kBool, {1}));
}

std::vector<TensorId> random_while_loop(RandomNetwork& net) {
  ControlMaker maker = small_maker(net);
  Scope scope = scope_of(net, maker);
  return maker.while_loop(scope, net.input(DType::kInt32, {1}, {0, kMostIterations}));
}

}  // namespace npu::generator
