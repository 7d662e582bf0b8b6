// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_network.h"

#include <gtest/gtest.h>

namespace npu::generator {
namespace {

TEST(StackedBytes, AreTheLargestNumberWhereTheyDoNotFit) {
  using graph::DType;
  EXPECT_EQ(stacked_bytes(DType::kInt32, {2, 3}, 5), 120u);
  EXPECT_EQ(stacked_bytes(DType::kInt8, {}, 7), 7u);
  EXPECT_EQ(stacked_bytes(DType::kInt16, {INT32_MAX, INT32_MAX}, 100'000), UINT64_MAX);
}

}  // namespace
}  // namespace npu::generator
