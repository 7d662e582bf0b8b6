// SPDX-License-Identifier: Apache-2.0
// What headers.c found out in C, and the same headers in C++.
#include <gtest/gtest.h>
//
#include <npu_sim.h>

extern "C" {
uint32_t npu_test_version_in_c(void);
npu_status npu_test_misuse_in_c(void);
npu_status npu_test_bounds_in_c(void);
}

namespace {

TEST(Headers, WorkInC) {
  EXPECT_EQ(npu_test_version_in_c(), NPU_API_VERSION);
  EXPECT_EQ(npu_test_misuse_in_c(), NPU_STATUS_BAD_OPTION);
  EXPECT_EQ(npu_test_bounds_in_c(), NPU_STATUS_BAD_OPTION);
}

}  // namespace
