// SPDX-License-Identifier: Apache-2.0
// Random graphs of every operator family, against the reference: finds wrong fusion, views and orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "hw/contract/error.h"
#include "sim/generator/run_time_operands.h"
#include "tests/unit/bins/graph_bins.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/compiler/random_graph.h"
#include "tests/unit/seeds.h"

namespace npu::compiler::testing {
namespace {

// Random graphs with zero points, shifts, multipliers, biases and so on at run time.
TEST(FrontFuzz, RunTimeOperandsEqualTheReference) {
  const test::Seeds seeds = test::seeds_of_run({10001, 500});
  int compared = 0;
  int64_t operands = 0;
  for (uint32_t seed = seeds.first; seed < seeds.end(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      graph::Graph graph = random_graph(seed);
      cosim::Random random(seed);
      operands += generator::make_run_time_operands(graph, random, 60);
      compared += compare_with_reference(graph, 2, seed);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, seeds.count * 5 / 4);
  EXPECT_GT(operands, seeds.count * 5);
}

TEST(FrontFuzz, RandomGraphsEqualTheReference) {
  constexpr uint32_t kSeeds = test::seeds_for(4000);
  int compared = 0;
  test::GraphBins bins;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      const graph::Graph graph = random_graph(seed);
      const int invocations = compare_with_reference(graph, 2, seed);
      compared += invocations;
      if (invocations > 0) bins.add(graph);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, kSeeds * 5 / 4);  // most are not unpredictable
  if (test::kSanitized) return;         // too few of them to meet every bin
  bins.print(std::cout);
  EXPECT_THAT(bins.missed(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace npu::compiler::testing
