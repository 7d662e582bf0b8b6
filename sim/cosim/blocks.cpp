// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/blocks.h"

#include "hw/contract/error.h"
#include "sim/cosim/block_source.h"

namespace npu::cosim {
namespace {

Blocks blocks_of(const rtl::BlockMakers& makers) {
  Blocks blocks;
  blocks.mac_array = makers.mac_array;
  blocks.vpu = makers.vpu;
  blocks.dma_address = makers.dma_address;
  blocks.scratchpad = makers.scratchpad;
  blocks.persistent_sram = makers.persistent_sram;
  blocks.traced_mac_array = makers.traced_mac_array;
  blocks.traced_vpu = makers.traced_vpu;
  blocks.built_machines = makers.built_machines;
  blocks.sizes_of = makers.sizes_of;
  return blocks;
}

}  // namespace

Blocks& blocks() {
  static Blocks blocks;
  static bool found = false;
  if (!found) {
    if (const rtl::BlockMakers* makers = find_block_makers(); makers != nullptr) {
      blocks = blocks_of(*makers);
      found = true;
    }
  }
  return blocks;
}

Blocks& required_blocks() {
  Blocks& found = blocks();
  if (!found.built_machines) {
    throw Error(contract::ErrorCode::kFeatureUnsupported,
                "there is no RTL beside this program: build the module libnpu_rtl.so in its build folder, with "
                "cmake --build FOLDER --target npu_rtl_module (the folder must be configured with -DNPU_WITH_RTL=ON)");
  }
  return found;
}

}  // namespace npu::cosim
