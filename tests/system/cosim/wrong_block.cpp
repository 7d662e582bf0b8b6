// SPDX-License-Identifier: Apache-2.0
// `npu` with wrong blocks of RTL in place of the right ones, to see that they are found.
#include "rtl/verilated/wrong.h"
#include "sim/cosim/blocks.h"

namespace {

[[maybe_unused]] const bool wrong = [] {
  npu::cosim::Blocks& blocks = npu::cosim::blocks();
  blocks.mac_array = [](std::string_view) { return npu::rtl::make_wrong_mac_array(); };
  blocks.vpu = [](std::string_view) { return npu::rtl::make_wrong_vpu(); };
  blocks.traced_mac_array = nullptr;
  blocks.traced_vpu = nullptr;
  return true;
}();

}  // namespace
