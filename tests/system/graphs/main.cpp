// SPDX-License-Identifier: Apache-2.0
// SystemC's library exports a main of its own, so that gtest_main must not be used.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
