// SPDX-License-Identifier: Apache-2.0
// A greedy decoder in one job: a loop over a recurrent network whose state is a variable. Each iteration takes the
// token before, makes the next one, and notes it; the loop ends with the longest sequence or the token that ends one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <random>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "sim/reference/reference.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;

constexpr int64_t kTokens = 24, kUnits = 32, kLongest = 64;

class Decoder {
 public:
  explicit Decoder(uint32_t seed) : random_(seed) {}

  // Input `token` [1], outputs `count` [1] and `tokens` [kLongest]; variable `h`.
  graph::Graph make(int32_t end_token) {
    GraphBuilder main;
    main.add_region(go_on(end_token));
    main.add_region(step());
    const TensorId first = main.input("token", DType::kInt32, {1});
    static_cast<void>(main.variable("h", DType::kInt8, {1, 1, 1, kUnits}, std::vector<double>{0}));
    const std::vector<TensorId> results =
        main.while_loop({main.constant(DType::kInt32, {1}, {0}), first,
                         main.constant(DType::kInt32, {kLongest}, std::vector<double>{-1})},
                        "go_on", "step");
    main.output(results[0], "count");
    main.output(results[2], "tokens");
    return main.build();
  }

 private:
  static void inputs(GraphBuilder& b) {
    b.input("count", DType::kInt32, {1});
    b.input("token", DType::kInt32, {1});
    b.input("tokens", DType::kInt32, {kLongest});
  }

  static GraphBuilder go_on(int32_t end_token) {
    GraphBuilder b("go_on");
    inputs(b);
    const TensorId room = b.op(Op::kGreater, {b.constant(DType::kInt32, {1}, {double(kLongest)}), 0});
    const TensorId ended = b.op(Op::kEqual, {1, b.constant(DType::kInt32, {1}, {double(end_token)})});
    b.output(b.op(Op::kLogicalAnd, {room, b.op(Op::kLogicalNot, {ended})}));
    return b;
  }

  TensorId dense(GraphBuilder& b, TensorId x, int64_t outputs) {
    const int64_t inputs = b.tensor(x).shape.back();
    std::uniform_int_distribution<int> draw(-100, 100);
    std::vector<double> weights(static_cast<size_t>(inputs * outputs)), bias(static_cast<size_t>(outputs));
    std::generate(weights.begin(), weights.end(), [&] { return draw(random_); });
    std::generate(bias.begin(), bias.end(), [&] { return 8 * draw(random_); });
    return b.conv2d(x, b.constant(DType::kInt8, {outputs, 1, 1, inputs}, weights),
                    b.constant(DType::kInt32, {outputs}, bias));
  }

  GraphBuilder step() {
    GraphBuilder b("step");
    inputs(b);
    std::vector<double> numbers(kLongest), tanh;
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = double(i);
    for (int i = -128; i < 128; ++i) tanh.push_back(std::round(127 * std::tanh(i / 48.0)));
    const TensorId all =
        b.constant(DType::kInt32, {kTokens}, std::vector<double>(numbers.begin(), numbers.begin() + kTokens));
    const TensorId hot = b.cast(b.op(Op::kEqual, {all, 1}), DType::kInt8);
    const TensorId loud = b.op(Op::kLogicalLeftShift, {hot, b.constant(DType::kInt8, {1}, {6})});
    const TensorId h = b.variable("h", DType::kInt8, {1, 1, 1, kUnits});
    const TensorId both = b.concat({b.reshape(loud, {1, 1, 1, kTokens}), b.read(h)}, 3);
    graph::Rescaling scale;
    scale.shift = {30 + 7};
    const TensorId state = b.table(b.rescale(dense(b, both, kUnits), DType::kInt8, scale), tanh);
    b.write(h, state);
    const TensorId scores = b.rescale(dense(b, state, kTokens), DType::kInt8, scale);
    const TensorId token = b.argmax(b.reshape(scores, {1, kTokens}), 1);
    const TensorId here = b.op(Op::kEqual, {b.constant(DType::kInt32, {kLongest}, numbers), 0});
    b.output(b.add(0, b.constant(DType::kInt32, {1}, {1})));
    b.output(token);
    b.output(b.select(here, token, 2));
    return b;
  }

  std::mt19937 random_;
};

class GreedyDecoder : public testing::TestWithParam<std::string> {};

TEST_P(GreedyDecoder, TakesAllStepsInOneJob) {
  runtime::Device device = open_device(options(GetParam()));
  int32_t longest = 0;
  for (const int32_t end_token : {-1, 5}) {
    const graph::Graph graph = Decoder(7).make(end_token);
    graph::validate(graph);
    runtime::Context context = device.create_context();
    runtime::Job job = context.load(compiler::compile(graph, device.capabilities())).create_job();
    reference::Context state;
    for (int32_t first = 0; first < 4; ++first) {
      graph::Value token{DType::kInt32, {1}, std::vector<uint8_t>(4)};
      std::memcpy(token.bytes.data(), &first, sizeof(first));
      const std::vector<graph::Value> want = reference::run(graph, {token}, state);
      job.set_input(0, token);
      const runtime::RunResult result = job.run();
      const std::vector<graph::Value> got = job.outputs();
      EXPECT_EQ(got.at(0).bytes, want[0].bytes);
      EXPECT_EQ(got.at(1).bytes, want[1].bytes);
      int32_t count = 0;
      std::memcpy(&count, got[0].bytes.data(), sizeof(count));
      longest = std::max(longest, count);
      if (end_token < 0) {
        EXPECT_EQ(count, kLongest);
      }
      std::cout << GetParam() << ": " << count << " tokens in " << result.cycles << " cycles\n";
    }
    EXPECT_EQ(context.read_variable("h").bytes, state.variables.at("h").value.bytes);
  }
  EXPECT_EQ(longest, kLongest);
}

INSTANTIATE_TEST_SUITE_P(Machines, GreedyDecoder, testing::Values("edge", "nano"));

}  // namespace
}  // namespace npu::test
