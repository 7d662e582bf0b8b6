// SPDX-License-Identifier: Apache-2.0
// The platform brings sc_main; SystemC's own main is not wanted.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
