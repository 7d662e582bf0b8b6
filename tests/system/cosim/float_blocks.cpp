// SPDX-License-Identifier: Apache-2.0
// `npu` with the RTL of the machines in tests/block/*.yaml, whose engines have floating point.
#include "rtl/verilated/float_machines.h"
#include "sim/cosim/blocks.h"

namespace {

[[maybe_unused]] const bool placed = [] {
  npu::cosim::Blocks& blocks = npu::cosim::blocks();
  blocks.built_machines = npu::rtl::float_machines;
  blocks.sizes_of = npu::rtl::float_sizes_of;
  blocks.mac_array = npu::rtl::make_float_mac_array;
  blocks.vpu = npu::rtl::make_float_vpu;
  // They have the persistent SRAM of their base.
  blocks.persistent_sram = [built = blocks.persistent_sram](std::string_view) { return built("nano"); };
  return true;
}();

}  // namespace
