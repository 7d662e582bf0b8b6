// SPDX-License-Identifier: Apache-2.0
// Variables of every type that the device has, as long as they take some beats of its memory, and no multiple of one.
#include <gtest/gtest.h>

#include <random>

#include "driver/graph/builder.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using graph::DType;

class StateTypes : public testing::TestWithParam<DType> {};

// Each invocation gives the old value, writes its input, and gives it, too.
TEST_P(StateTypes, LiveAcrossInvocations) {
  const graph::Shape shape = {1, 3, 37};
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", GetParam(), shape);
  const graph::TensorId state = b.variable("state", GetParam(), shape, {{0}});
  b.output(b.read(state), "before");
  b.write(state, x);
  b.output(b.read(state), "after");
  const graph::Graph graph = b.build();

  runtime::Device device = open_device(options("nano"));
  for (const bool in_dram : {false, true}) {
    compiler::Options options;
    options.schedule.state_in_dram = in_dram;
    SideBySide both(device);
    const size_t program = both.load(graph, options);
    std::mt19937 random(5);
    for (int step = 0; step < 16 && !HasFailure(); ++step) both.step(program, random_inputs(graph, random));
    ASSERT_EQ(both.context().variables().size(), 1U);
    EXPECT_EQ(both.context().variables()[0].type, GetParam());
    both.report(std::string(graph::name(GetParam())) + (in_dram ? ", state in DRAM" : ""),
                GetParam() == DType::kBool ? 2 : 8);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StateTypes, testing::Values(DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

}  // namespace
}  // namespace npu::test
