// SPDX-License-Identifier: Apache-2.0
// Random graphs through compiler, driver and device, against the reference: function, tiling, placement and order of
// everything together. Jitter changes the timing, so that a missing order shows as a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/unit/bins/graph_bins.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::test {
namespace {

struct Machine {
  const char* preset;
  int max_dim;  // of the graphs' inputs
  uint32_t graphs;
  bool bins;  // hits every bin: with fewer or larger graphs some are too rare
};

class RandomGraphs : public testing::TestWithParam<Machine> {};

TEST_P(RandomGraphs, EqualTheReference) {
  runtime::Device device = open_graph_device(presets::load_preset(GetParam().preset));
  std::mt19937 random(1);
  uint32_t predictable = 0;
  int64_t compared = 0;
  GraphBins bins;
  for (uint32_t seed = 1; seed <= GetParam().graphs && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const graph::Graph graph = compiler::testing::random_graph(seed, GetParam().max_dim);
    graph::validate(graph);
    try {
      if (equals_reference(graph, device, random, compared)) {
        ++predictable;
        bins.add(graph);
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    device.cold_reset();
  }
  if (HasFailure()) return;
  EXPECT_GT(predictable, GetParam().graphs / 2);
  std::cout << predictable << " of " << GetParam().graphs << " graphs, " << compared << " elements compared\n";
  bins.print(std::cout);
  if (GetParam().bins) {
    EXPECT_THAT(bins.missed(), testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomGraphs,
                         testing::Values(Machine{"edge", 4, 1500, true}, Machine{"nano", 4, 1300, true},
                                         Machine{"nano", 24, 150, false}),
                         [](const auto& info) {
                           return std::string(info.param.preset).append("_").append(std::to_string(info.param.max_dim));
                         });

}  // namespace
}  // namespace npu::test
