// SPDX-License-Identifier: Apache-2.0
// A greedy decoder in one job: all steps of its loop, with a state that stays for the next job.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>

#include "driver/graph/validate.h"
#include "sim/generator/sample_networks.h"
#include "sim/reference/reference.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

using graph::DType;

constexpr int32_t kLongest = 64;

class GreedyDecoder : public testing::TestWithParam<std::string> {};

TEST_P(GreedyDecoder, TakesAllStepsInOneJob) {
  runtime::Device device = open_device(options(GetParam()));
  int32_t longest = 0;
  for (const int32_t end_token : {-1, 5}) {
    const graph::Graph graph =
        generator::greedy_decoder({.tokens = 24, .units = 32, .longest = kLongest, .end_token = end_token});
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
