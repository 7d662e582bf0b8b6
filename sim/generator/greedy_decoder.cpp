// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "driver/graph/builder.h"
#include "sim/cosim/random.h"
#include "sim/generator/random_network.h"
#include "sim/generator/sample_networks.h"

namespace npu::generator {
namespace {

using graph::DType;
using graph::Op;
using graph::TensorId;

constexpr const char* kState = "h";

// The blocks of the decoder. Condition and body have the same inputs: how many tokens there are, the last one, and all.
class DecoderBlocks {
 public:
  explicit DecoderBlocks(const GreedyDecoder& sizes) : sizes_(sizes), random_(sizes.seed) {}

  graph::Graph main() {
    graph::GraphBuilder b;
    b.add_region(go_on());
    b.add_region(step());
    const TensorId first = b.input("token", DType::kInt32, {1});
    static_cast<void>(b.variable(kState, DType::kInt8, {1, 1, 1, sizes_.units}, std::vector<double>{0}));
    const std::vector<TensorId> results =
        b.while_loop({b.constant(DType::kInt32, {1}, {0}), first,
                      b.constant(DType::kInt32, {sizes_.longest}, std::vector<double>{-1})},
                     "go_on", "step");
    b.output(results[0], "count");
    b.output(results[2], "tokens");
    return b.build();
  }

 private:
  struct Inputs {
    TensorId count, token, tokens;
  };

  Inputs inputs(graph::GraphBuilder& b) const {
    const TensorId count = b.input("count", DType::kInt32, {1});
    const TensorId token = b.input("token", DType::kInt32, {1});
    return {count, token, b.input("tokens", DType::kInt32, {sizes_.longest})};
  }

  [[nodiscard]] graph::GraphBuilder go_on() const {
    graph::GraphBuilder b("go_on");
    const Inputs in = inputs(b);
    const TensorId longest = b.constant(DType::kInt32, {1}, {static_cast<double>(sizes_.longest)});
    const TensorId room = b.op(Op::kGreater, {longest, in.count});
    const TensorId end = b.constant(DType::kInt32, {1}, {static_cast<double>(sizes_.end_token)});
    b.output(b.op(Op::kLogicalAnd, {room, b.op(Op::kLogicalNot, {b.op(Op::kEqual, {in.token, end})})}));
    return b;
  }

  static TensorId numbers(graph::GraphBuilder& b, int64_t count) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
    return b.constant(DType::kInt32, {count}, values);
  }

  TensorId dense(graph::GraphBuilder& b, TensorId x, int64_t outputs) {
    const int64_t inputs = b.tensor(x).shape.back();
    const std::vector<double> weights = random_numbers(random_, outputs * inputs, -100, 100);
    const TensorId bias = b.constant(DType::kInt32, {outputs}, random_numbers(random_, outputs, -800, 800));
    const TensorId sums = b.conv2d(x, b.constant(DType::kInt8, {outputs, 1, 1, inputs}, weights), bias);
    return b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {30 + 7}});
  }

  graph::GraphBuilder step() {
    graph::GraphBuilder b("step");
    const Inputs in = inputs(b);
    const TensorId hot = b.cast(b.op(Op::kEqual, {numbers(b, sizes_.tokens), in.token}), DType::kInt8);
    const TensorId loud = b.op(Op::kLogicalLeftShift, {hot, b.constant(DType::kInt8, {1}, {6})});
    const TensorId h = b.variable(kState, DType::kInt8, {1, 1, 1, sizes_.units});
    const TensorId both = b.concat({b.reshape(loud, {1, 1, 1, sizes_.tokens}), b.read(h)}, 3);
    std::vector<double> tanh;
    for (int i = -128; i < 128; ++i) tanh.push_back(std::round(127 * std::tanh(i / 48.0)));
    const TensorId state = b.table(dense(b, both, sizes_.units), tanh);
    b.write(h, state);
    const TensorId token = b.argmax(b.reshape(dense(b, state, sizes_.tokens), {1, sizes_.tokens}), 1);
    const TensorId here = b.op(Op::kEqual, {numbers(b, sizes_.longest), in.count});
    b.output(b.add(in.count, b.constant(DType::kInt32, {1}, {1})));
    b.output(token);
    b.output(b.select(here, token, in.tokens));
    return b;
  }

  const GreedyDecoder sizes_;
  cosim::Random random_;
};

}  // namespace

graph::Graph greedy_decoder(const GreedyDecoder& sizes) { return DecoderBlocks(sizes).main(); }

}  // namespace npu::generator
