// SPDX-License-Identifier: Apache-2.0
// Random graphs of every operator family, against the reference: finds wrong fusion, views and orders.
#include <gtest/gtest.h>

#include "hw/contract/error.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/compiler/random_graph.h"

namespace npu::compiler::testing {
namespace {

TEST(FrontFuzz, RandomGraphsEqualTheReference) {
  int compared = 0;
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      compared += compare_with_reference(random_graph(seed), 2, seed);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 2000);  // most are not unpredictable
}

}  // namespace
}  // namespace npu::compiler::testing
