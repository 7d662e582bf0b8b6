// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/machines.h"
#include "rtl/verilated/module.h"
#ifdef NPU_RTL_TRACE
#include "rtl/verilated/traced.h"
#endif

namespace npu::rtl {

BlockMakers linked_blocks() {
  BlockMakers makers{};
  makers.built_machines = built_machines;
  makers.sizes_of = sizes_of;
  makers.mac_array = make_mac_array;
  makers.vpu = make_vpu;
  makers.dma_address = make_dma_address;
  makers.scratchpad = make_scratchpad;
  makers.persistent_sram = make_persistent_sram;
#ifdef NPU_RTL_TRACE
  makers.traced_mac_array = make_traced_mac_array;
  makers.traced_vpu = make_traced_vpu;
#endif
  return makers;
}

}  // namespace npu::rtl
