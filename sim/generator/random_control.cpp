// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_control.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace npu::generator {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Shape;
using graph::TensorId;

constexpr int64_t kMostIterations = 5;

// What goes through the blocks: two tensors of one type.
struct Carried {
  TensorId a = 0, b = 0;
};

class BlockMaker {
 public:
  explicit BlockMaker(RandomNetwork& net)
      : random_(net.random),
        type_(random_.pick({DType::kInt8, DType::kInt16, DType::kInt32})),
        shape_(net.shape(1)),
        number_(net.ranges().size()) {
    if (!random_.chance(50)) return;
    state_ = fmt::format("kept{}", number_);
    net.builder.declare(net.builder.variable(state_, type_, shape_, std::vector<double>{1}));
  }

  [[nodiscard]] Carried inputs(RandomNetwork& net) const {
    return {net.input(type_, shape_), net.input(type_, shape_)};
  }

  std::vector<TensorId> cond_if(GraphBuilder& b, TensorId flag, Carried pair, int depth) {
    const std::string then_graph = branch(b, depth), else_graph = branch(b, depth);
    return b.cond_if(flag, {flag, pair.a, pair.b}, then_graph, else_graph);
  }

  std::vector<TensorId> while_loop(GraphBuilder& b, TensorId count, Carried pair) {
    const std::string cond = region("cond"), body = region("body");
    GraphBuilder more(cond), step(body);
    const TensorId left = more.input({}, DType::kInt32, {1});
    (void)block_inputs(more);
    more.output(more.op(Op::kGreater, {left, more.constant(DType::kInt32, {1}, {0})}));
    b.add_region(std::move(more));

    const TensorId at = step.input({}, DType::kInt32, {1});
    const Carried given = block_inputs(step);
    step.output(step.sub(at, step.constant(DType::kInt32, {1}, {1})));
    outputs(step, random_.chance(30) ? Carried{given.b, given.a} : change(step, given));
    b.add_region(std::move(step));
    return b.while_loop({count, pair.a, pair.b}, cond, body);
  }

 private:
  // The network may have others before it.
  std::string region(std::string_view kind) { return fmt::format("{}{}_{}", kind, number_, regions_++); }
  Carried block_inputs(GraphBuilder& b) const {
    const TensorId first = b.input({}, type_, shape_);
    return {first, b.input({}, type_, shape_)};
  }
  static void outputs(GraphBuilder& b, Carried pair) {
    b.output(pair.a);
    b.output(pair.b);
  }

  std::string branch(GraphBuilder& outer, int depth) {
    const std::string name = region("branch");
    GraphBuilder b(name);
    const TensorId flag = b.input({}, DType::kBool, {1});
    const Carried pair = block_inputs(b);
    if (depth == 0 && random_.chance(30)) {
      const std::vector<TensorId> inner = cond_if(b, b.op(Op::kLogicalNot, {flag}), pair, depth + 1);
      outputs(b, {inner[0], inner[1]});
    } else {
      outputs(b, change(b, pair));
    }
    outer.add_region(std::move(b));
    return name;
  }

  // Mixes the two, or one with what a variable keeps.
  Carried change(GraphBuilder& b, Carried pair) {
    const Op mix = random_.pick({Op::kBitwiseXor, Op::kBitwiseAnd, Op::kBitwiseOr});
    const auto axis = static_cast<int32_t>(random_.between(0, static_cast<int64_t>(shape_.size()) - 1));
    if (!state_.empty() && random_.chance(60)) {
      const TensorId state = b.variable(state_, type_, shape_);
      pair.b = b.read(state);
      b.write(state, b.op(mix, {pair.a, pair.b}));
    }
    const TensorId mixed = b.op(mix, {pair.a, pair.b});
    return {mixed, random_.chance(50) ? pair.b : b.reverse(pair.a, axis)};
  }

  cosim::Random& random_;
  const DType type_;
  const Shape shape_;
  const size_t number_;
  std::string state_;  // a variable's name; empty: there is none
  int regions_ = 0;
};

}  // namespace

std::vector<TensorId> random_cond_if(RandomNetwork& net) {
  BlockMaker maker(net);
  const TensorId flag = net.input(DType::kBool, {1});
  return maker.cond_if(net.builder, flag, maker.inputs(net), 0);
}

std::vector<TensorId> random_while_loop(RandomNetwork& net) {
  BlockMaker maker(net);
  const TensorId count = net.input(DType::kInt32, {1}, {0, kMostIterations});
  const std::vector<TensorId> results = maker.while_loop(net.builder, count, maker.inputs(net));
  return {results.begin() + 1, results.end()};
}

}  // namespace npu::generator
