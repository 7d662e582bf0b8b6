// SPDX-License-Identifier: Apache-2.0
// A job is interrupted in its loops by more urgent ones and goes on: what is in the scratchpad at the end of an
// iteration is there at the beginning of the next, the loop's counter too.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
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

constexpr std::chrono::hours kForever{1};
constexpr int64_t kWide = 256, kOuter = 12, kInner = 5;

// Adds one and turns the values around in a loop of `times` that is in `b` itself; `body` does more.
template <typename Body>
TensorId repeat(GraphBuilder& b, TensorId x, int64_t times, const std::string& name, Body&& more) {
  GraphBuilder cond("while_" + name), body("do_" + name);
  for (GraphBuilder* region : {&cond, &body}) {
    region->input("n", DType::kInt32, {1});
    region->input("x", DType::kInt32, {1, kWide});
  }
  cond.output(cond.op(Op::kGreater, {0, cond.constant(DType::kInt32, {1}, {0})}));
  body.output(body.sub(0, body.constant(DType::kInt32, {1}, {1})));
  body.output(body.reverse(more(body, body.add(1, body.constant(DType::kInt32, {1, 1}, {1}))), 1));
  b.add_region(std::move(cond));
  b.add_region(std::move(body));
  return b.while_loop({b.constant(DType::kInt32, {1}, {double(times)}), x}, "while_" + name, "do_" + name)[1];
}

graph::Graph loop_in_loop() {
  GraphBuilder main;
  const TensorId x = main.input("x", DType::kInt32, {1, kWide});
  main.output(repeat(main, main.minimum(x, main.constant(DType::kInt32, {1, 1}, {1 << 30})), kOuter, "outer",
                     [](GraphBuilder& b, TensorId v) {
                       return repeat(b, v, kInner, "inner", [](GraphBuilder&, TensorId w) { return w; });
                     }));
  return main.build();
}

graph::Graph small() {
  GraphBuilder main;
  const TensorId x = main.input("x", DType::kInt32, {1, 8});
  main.output(main.maximum(x, main.constant(DType::kInt32, {1, 1}, {3})));
  return main.build();
}

graph::Value random_integers(const graph::Shape& shape, std::mt19937& random) {
  graph::Value value{DType::kInt32, shape, std::vector<uint8_t>(static_cast<size_t>(*graph::element_count(shape)) * 4)};
  std::generate(value.bytes.begin(), value.bytes.end(), [&] { return static_cast<uint8_t>(random()); });
  return value;
}

// The same loops, which carry a variable along that their first iteration declares: v = min(v ^ x, 2^30) in each one.
graph::Graph declaring_loop() {
  GraphBuilder main, declares("declares"), nothing("nothing");
  const auto variable = [](GraphBuilder& b) {
    return b.variable("v", DType::kInt32, {1, kWide}, std::vector<double>(static_cast<size_t>(kWide), 3));
  };
  for (GraphBuilder* branch : {&declares, &nothing}) branch->output(branch->input("n", DType::kInt32, {1}));
  declares.declare(variable(declares));
  GraphBuilder cond("more"), body("body");
  for (GraphBuilder* branch : {&declares, &nothing}) body.add_region(std::move(*branch));
  for (GraphBuilder* region : {&cond, &body}) {
    region->input("n", DType::kInt32, {1});
    region->input("x", DType::kInt32, {1, kWide});
  }
  cond.output(cond.op(Op::kGreater, {0, cond.constant(DType::kInt32, {1}, {0})}));
  const TensorId first = body.op(Op::kEqual, {0, body.constant(DType::kInt32, {1}, {double(kOuter)})});
  const TensorId left = body.cond_if(first, {0}, "declares", "nothing")[0];
  body.output(body.sub(left, body.constant(DType::kInt32, {1}, {1})));
  const TensorId v = variable(body);
  const TensorId sum =
      body.minimum(body.op(Op::kBitwiseXor, {body.read(v), 1}), body.constant(DType::kInt32, {1, 1}, {1 << 30}));
  body.write(v, sum);
  body.output(repeat(body, sum, kInner, "inner", [](GraphBuilder&, TensorId w) { return w; }));
  for (GraphBuilder* region : {&cond, &body}) main.add_region(std::move(*region));
  const TensorId x = main.input("x", DType::kInt32, {1, kWide});
  const TensorId bounded = main.minimum(x, main.constant(DType::kInt32, {1, 1}, {1 << 30}));
  main.output(main.while_loop({main.constant(DType::kInt32, {1}, {double(kOuter)}), bounded}, "more", "body")[1]);
  return main.build();
}

struct Interruptions {
  uint32_t count = 0;
  uint64_t most_bytes = 0;  // that a job had saved
};

class InterruptedLoops : public testing::TestWithParam<std::string> {
 protected:
  // Runs the graph some times beside jobs that interrupt it, and compares with the reference.
  Interruptions interrupt(const graph::Graph& slow_graph, bool two_places);
};

Interruptions InterruptedLoops::interrupt(const graph::Graph& slow_graph, bool two_places) {
  runtime::Device device = open_device(options(GetParam()));
  runtime::Context low = device.create_context({.priority = 1, .double_buffer = two_places}),
                   high = device.create_context({.priority = 2});
  const graph::Graph quick_graph = small();
  graph::validate(slow_graph);
  compiler::Options often;
  often.schedule.segment_cycles = 256;
  often.schedule.two_places = two_places;
  runtime::LoadedProgram slow = low.load(compiler::compile(slow_graph, device.capabilities(), often));
  std::vector<runtime::LoadedProgram> quick;
  for (int i = 0; i < 4; ++i) quick.push_back(high.load(compiler::compile(quick_graph, device.capabilities())));
  std::mt19937 random(5);
  Interruptions all;
  reference::Context state, none;
  for (int frame = 0; frame < 6; ++frame) {
    const graph::Value in = random_integers({1, kWide}, random), small_in = random_integers({1, 8}, random);
    runtime::Job job = slow.create_job();
    job.set_input(0, in);
    job.start();
    std::vector<runtime::Job> urgent;
    uint64_t at = device.time() + 20000;
    for (runtime::LoadedProgram& program : quick) {
      at += 4000 + random() % 5000;
      urgent.push_back(program.create_job({.not_before = at}));
      urgent.back().set_input(0, small_in);
      urgent.back().start();
    }
    EXPECT_TRUE(job.wait(kForever));
    const runtime::RunResult result = job.result();
    all.count += result.times.preemptions;
    all.most_bytes = std::max<uint64_t>(all.most_bytes, result.times.saved_bytes);
    EXPECT_EQ(job.outputs().at(0).bytes, reference::run(slow_graph, {in}, state)[0].bytes);
    for (runtime::Job& one : urgent) {
      EXPECT_TRUE(one.wait(kForever));
      EXPECT_EQ(one.outputs().at(0).bytes, reference::run(quick_graph, {small_in}, none)[0].bytes);
    }
  }
  for (const auto& [identity, variable] : state.variables) {
    EXPECT_EQ(low.read_variable(identity).bytes, variable.value.bytes);
  }
  std::cout << GetParam() << ": " << all.count << " interruptions, at most " << all.most_bytes
            << " bytes saved by a job\n";
  EXPECT_GT(all.count, 5U) << "this test tested little";
  return all;
}

TEST_P(InterruptedLoops, GoOnWhereTheyWere) {
  EXPECT_GT(interrupt(loop_in_loop(), false).most_bytes, 4U * kWide) << "nothing was live";
}

// What an iteration has declared is declared for those behind the interruption.
TEST_P(InterruptedLoops, KeepWhatTheyHaveDeclared) { interrupt(declaring_loop(), false); }
TEST_P(InterruptedLoops, KeepWhatTheyHaveDeclaredWithTwoPlaces) { interrupt(declaring_loop(), true); }

INSTANTIATE_TEST_SUITE_P(Machines, InterruptedLoops, testing::Values("edge", "nano"));

}  // namespace
}  // namespace npu::test
