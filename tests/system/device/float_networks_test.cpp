// SPDX-License-Identifier: Apache-2.0
// Whole networks of floating point: near the reference and somebody else's golden outputs, the same bits and cycles on
// every run, and state that survives a snapshot in every bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <tuple>

#include "sim/workload/float_check.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

#ifdef NPU_ZOO_DIR

using Outputs = std::vector<std::vector<graph::Value>>;

void expect_near(const std::vector<Invocation>& got, const Outputs& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  int64_t compared = 0, rounded = 0;
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    for (size_t k = 0; k < want[i].size(); ++k) {
      const workload::FloatDifference difference = workload::compare_floats(got[i].outputs.at(k), want[i][k]);
      EXPECT_EQ(difference.differing, 0) << what << ": invocation " << i << ", output " << k;
      compared += difference.compared;
      rounded += difference.rounded;
      worst = std::max(worst, difference.worst);
    }
  }
  EXPECT_GT(compared, 0);
  std::cout << what << ": " << compared << " elements compared, " << rounded << " with other bits, at most " << worst
            << " units off\n";
}

class FloatNetwork : public testing::TestWithParam<std::tuple<std::string, model::Mode>> {};

TEST_P(FloatNetwork, IsNearItsGoldenAndTheSameEachTime) {
  const auto& [name, mode] = GetParam();
  const Network network = zoo_network(name).value();
  runtime::Device device = open_device(options("server", mode));
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network.graph, device.capabilities()));
  runtime::Job job = program.create_job();

  const std::vector<Invocation> first = stream(job, network);
  expect_near(first, reference(network), network.name + " against the reference");
  Outputs golden;
  for (const graph::Value& value : network.golden.value()) golden.push_back({value});
  expect_near(first, golden, network.name + " against the golden outputs");

  context.clear();
  EXPECT_EQ(first, stream(job, network)) << "the second run";
  device.cold_reset();
  EXPECT_EQ(first, stream(job, network)) << "the run after a reset";
}

INSTANTIATE_TEST_SUITE_P(Zoo, FloatNetwork,
                         testing::Combine(testing::Values("small_cnn_fp32", "small_cnn_fp16", "transformer_gelu_fp32",
                                                          "lstm_step_fp32", "while_fp32_iso"),
                                          testing::Values(model::Mode::kTimed, model::Mode::kFunctional)),
                         [](const auto& info) {
                           const bool timed = std::get<1>(info.param) == model::Mode::kTimed;
                           return std::get<0>(info.param) + (timed ? "_timed" : "_functional");
                         });

// A recurrent network stops after half of its steps; after a power cycle of the device it goes on from a file's bytes.
TEST(FloatState, GoesOnFromASnapshotInEveryBit) {
  const Network whole = zoo_network("lstm_step_fp32").value();
  ASSERT_EQ(whole.frames.size(), 64u);
  const auto middle = whole.frames.begin() + 32;
  const Network before{whole.name, whole.graph, {whole.frames.begin(), middle}, {}};
  const Network after{whole.name, whole.graph, {middle, whole.frames.end()}, {}};
  runtime::Device device = open_device(options("server"));
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(whole.graph, device.capabilities()));
  runtime::Job job = program.create_job();

  const std::vector<Invocation> want = stream(job, whole);
  for (const runtime::VariableInfo& variable : context.variables()) {
    EXPECT_EQ(variable.type, graph::DType::kFp32);
    EXPECT_FALSE(variable.in_dram) << variable.identity;
  }
  const runtime::Snapshot end = context.snapshot();
  context.clear();
  std::vector<Invocation> got = stream(job, before);
  const std::vector<uint8_t> half = runtime::serialise(context.snapshot());
  device.cold_reset();
  context.restore(runtime::parse_snapshot(half));
  for (Invocation& invocation : stream(job, after)) got.push_back(std::move(invocation));

  int64_t compared = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const graph::Difference difference = graph::compare(got.at(i).outputs.at(0), want[i].outputs.at(0));
    EXPECT_EQ(difference.differing, 0) << "step " << i;
    compared += difference.compared;
  }
  std::cout << "0 of " << compared << " elements differ from those of the run in one\n";
  EXPECT_TRUE(runtime::diff(context.snapshot(), end).empty());
}

#endif

}  // namespace
}  // namespace npu::test
