// SPDX-License-Identifier: Apache-2.0
// SystemC's library brings a main of its own and wants sc_main; this program has its own and needs neither.
#include <gtest/gtest.h>

#include <systemc>

extern "C" int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  return RUN_ALL_TESTS();
}
