// SPDX-License-Identifier: Apache-2.0
// COND_IF and WHILE_LOOP on the device: what must be right of loops by themselves, and what is refused.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "sim/reference/reference.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;

graph::Value integers(const graph::Shape& shape, const std::vector<int32_t>& numbers) {
  graph::Value value{DType::kInt32, shape, std::vector<uint8_t>(numbers.size() * 4)};
  std::memcpy(value.bytes.data(), numbers.data(), value.bytes.size());
  return value;
}

// (n, a, b) while n > 0: what `step` makes of it.
template <typename Step>
graph::Graph counted(Step&& step) {
  GraphBuilder main, more("more"), body("body");
  std::vector<TensorId> outer, inner;
  for (const char* name : {"n", "a", "b"}) {
    const graph::Shape shape = {name[0] == 'n' ? 1 : 3};
    outer.push_back(main.input(name, DType::kInt32, shape));
    more.input(name, DType::kInt32, shape);
    inner.push_back(body.input(name, DType::kInt32, shape));
  }
  more.output(more.op(Op::kGreater, {0, more.constant(DType::kInt32, {1}, {0})}));
  for (const TensorId id : step(body, inner)) body.output(id);
  main.add_region(std::move(more));
  main.add_region(std::move(body));
  const std::vector<TensorId> results = main.while_loop(outer, "more", "body");
  for (size_t i = 0; i < results.size(); ++i) main.output(results[i], std::string("out").append(std::to_string(i)));
  return main.build();
}

TensorId one_less(GraphBuilder& b, TensorId n) { return b.sub(n, b.constant(DType::kInt32, {1}, {1})); }

class Loops : public testing::TestWithParam<std::string> {
 protected:
  std::vector<graph::Value> run(const graph::Graph& graph, const std::vector<graph::Value>& inputs,
                                const compiler::Options& options = {}) {
    graph::validate(graph);
    runtime::Context context = device_.create_context();
    runtime::Job job = context.load(compiler::compile(graph, device_.capabilities(), options)).create_job();
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    result_ = job.run();
    return job.outputs();
  }

  void expect_reference(const graph::Graph& graph, const std::vector<graph::Value>& inputs) {
    const std::vector<graph::Value> got = run(graph, inputs);
    reference::Context state;
    const std::vector<graph::Value> want = reference::run(graph, inputs, state);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got.at(i).bytes, want[i].bytes) << "output " << i;
  }

  runtime::Device device_ = open_device(options(GetParam()));
  runtime::RunResult result_;
};

TEST_P(Loops, SwapTheirState) {
  const graph::Graph graph = counted([](GraphBuilder& b, const std::vector<TensorId>& in) {
    return std::vector<TensorId>{one_less(b, in[0]), in[2], in[1]};
  });
  for (const int32_t n : {0, 1, 2, 7})
    expect_reference(graph, {integers({1}, {n}), integers({3}, {1, 2, 3}), integers({3}, {4, 5, 6})});
}

TEST_P(Loops, WithoutAnIterationGiveTheirOperands) {
  const graph::Graph graph = counted([](GraphBuilder& b, const std::vector<TensorId>& in) {
    return std::vector<TensorId>{one_less(b, in[0]), b.add(in[1], in[2]), in[2]};
  });
  const std::vector<graph::Value> in = {integers({1}, {-3}), integers({3}, {1, 2, 3}), integers({3}, {4, 5, 6})};
  const std::vector<graph::Value> out = run(graph, in);
  for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i].bytes, in[i].bytes);
}

TEST_P(Loops, BeyondTheirLimitNameThemselves) {
  graph::Graph graph = counted([](GraphBuilder& b, const std::vector<TensorId>& in) {
    return std::vector<TensorId>{one_less(b, in[0]), b.maximum(in[1], in[2]), in[2]};
  });
  compiler::Options limited;
  limited.most_iterations = 20;
  const auto inputs = [](int32_t n) {
    return std::vector<graph::Value>{integers({1}, {n}), integers({3}, {1, 2, 3}), integers({3}, {4, 5, 6})};
  };
  EXPECT_NO_THROW(static_cast<void>(run(graph, inputs(20), limited)));
  std::string text;
  const ErrorCode code = code_of([&] { static_cast<void>(run(graph, inputs(21), limited)); }, &text);
  EXPECT_EQ(code, ErrorCode::kLoopLimit);
  EXPECT_EQ(contract::exit_status(code), contract::exit_status(ErrorCode::kBudgetExceeded)) << "as on the reference";
  EXPECT_NE(text.find("out0"), std::string::npos) << text;
  EXPECT_NE(text.find("20 iterations"), std::string::npos) << text;
  // Nothing is left behind.
  EXPECT_NO_THROW(static_cast<void>(run(graph, inputs(20), limited)));
}

TEST_P(Loops, EachIterationHasItsRecords) {
  const graph::Graph graph = counted([](GraphBuilder& b, const std::vector<TensorId>& in) {
    return std::vector<TensorId>{one_less(b, in[0]), in[1], in[2]};
  });
  static_cast<void>(run(graph, {integers({1}, {5}), integers({3}, {1, 2, 3}), integers({3}, {4, 5, 6})}));
  std::map<uint32_t, int> branches;
  for (const contract::Event& event : result_.events) {
    if (static_cast<contract::Opcode>(event.opcode) == contract::Opcode::kBranch) ++branches[event.command];
  }
  ASSERT_EQ(branches.size(), 2U);
  EXPECT_EQ(branches.begin()->second, 6) << "the condition";
  EXPECT_EQ(branches.rbegin()->second, 5) << "the way back";
}

TEST_P(Loops, WriteVariablesThatLaterIterationsRead) {
  GraphBuilder main, more("more"), body("body");
  const TensorId n = main.input("n", DType::kInt32, {1});
  more.input("n", DType::kInt32, {1});
  more.output(more.op(Op::kGreater, {0, more.constant(DType::kInt32, {1}, {0})}));
  const TensorId m = body.input("n", DType::kInt32, {1});
  const TensorId inner = body.variable("sum", DType::kInt32, {1});
  body.write(inner, body.add(body.read(inner), m));
  body.output(one_less(body, m));
  main.add_region(std::move(more));
  main.add_region(std::move(body));
  const TensorId sum = main.variable("sum", DType::kInt32, {1}, std::vector<double>{100});
  const TensorId before = main.read(sum);
  main.output(main.while_loop({n}, "more", "body")[0]);
  main.output(before);
  main.output(main.read(sum));
  expect_reference(main.build(), {integers({1}, {4})});
  EXPECT_EQ(run(main.build(), {integers({1}, {4})})[2].bytes, integers({1}, {110}).bytes);
}

// The branch reads its condition in the scratchpad, wherever else the value goes.
TEST_P(Loops, AreNotConfusedByAConditionThatAVariableKeeps) {
  GraphBuilder main, then("then"), otherwise("else");
  const TensorId a = main.input("a", DType::kInt32, {1});
  const TensorId flag = main.op(Op::kGreater, {a, main.constant(DType::kInt32, {1}, {0})});
  main.write(main.variable("kept", DType::kBool, {1}, std::vector<double>{0}), flag);
  then.output(then.add(then.input("a", DType::kInt32, {1}), then.constant(DType::kInt32, {1}, {10})));
  otherwise.output(one_less(otherwise, otherwise.input("a", DType::kInt32, {1})));
  main.add_region(std::move(then));
  main.add_region(std::move(otherwise));
  main.output(main.cond_if(flag, {a}, "then", "else")[0]);
  const graph::Graph graph = main.build();
  for (const int32_t n : {-5, 0, 1, 7}) expect_reference(graph, {integers({1}, {n})});
}

INSTANTIATE_TEST_SUITE_P(Machines, Loops, testing::Values("edge", "nano"));

TEST(ControlRefusals, NameTheBlockTheOperatorAndTheWayOut) {
  GraphBuilder main, plain("plain"), floats("floats");
  plain.output(plain.op(Op::kIdentity, {plain.input("x", DType::kInt8, {2})}));
  floats.output(floats.cast(floats.cast(floats.input("x", DType::kInt8, {2}), DType::kFp32), DType::kInt8));
  main.add_region(std::move(plain));
  main.add_region(std::move(floats));
  const TensorId flag = main.input("flag", DType::kBool, {1});
  main.output(main.cond_if(flag, {main.input("x", DType::kInt8, {2})}, "plain", "floats")[0]);
  std::string text;
  const contract::Capabilities machine = presets::load_preset("nano").caps;
  EXPECT_EQ(code_of([&] { static_cast<void>(compiler::compile(main.build(), machine)); }, &text),
            ErrorCode::kTypeUnsupported);
  EXPECT_NE(text.find("COND_IF"), std::string::npos) << text;
  EXPECT_NE(text.find("block 'floats', operator 0, CAST (INT8 -> FP32)"), std::string::npos) << text;
  EXPECT_NE(text.find("quantise"), std::string::npos) << text;
}

}  // namespace
}  // namespace npu::test
