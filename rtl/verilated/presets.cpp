// SPDX-License-Identifier: Apache-2.0
// The blocks of the presets. (Those of coverage are in rtl/verilated/small.cpp.)
#include "rtl/verilated/presets.h"

#include <Vdma_address_edge.h>
#include <Vdma_address_nano.h>
#include <Vmac_array_edge.h>
#include <Vmac_array_nano.h>
#include <Vpersistent_sram_edge.h>
#include <Vpersistent_sram_nano.h>
#include <Vrescale_edge.h>
#include <Vrescale_nano.h>
#include <Vscratchpad_edge.h>
#include <Vscratchpad_nano.h>
#include <Vvpu_edge.h>
#include <Vvpu_nano.h>

#include "rtl/verilated/dma_address_wrapper.h"
#include "rtl/verilated/mac_array_wrapper.h"
#include "rtl/verilated/persistent_sram_wrapper.h"
#include "rtl/verilated/rescale_wrapper.h"
#include "rtl/verilated/scratchpad_wrapper.h"
#include "rtl/verilated/vpu_wrapper.h"

namespace npu::rtl {

std::unique_ptr<DmaAddress> make_dma_address(std::string_view preset) {
  return make_of_preset<DmaAddress, VerilatedDmaAddress<Vdma_address_nano>, VerilatedDmaAddress<Vdma_address_edge>>(
      preset);
}

std::unique_ptr<MacArray> make_mac_array(std::string_view preset) {
  return make_of_preset<MacArray, VerilatedMacArray<Vmac_array_nano>, VerilatedMacArray<Vmac_array_edge>>(preset);
}

std::unique_ptr<PersistentSram> make_persistent_sram(std::string_view preset) {
  return make_of_preset<PersistentSram, VerilatedPersistentSram<Vpersistent_sram_nano>,
                        VerilatedPersistentSram<Vpersistent_sram_edge>>(preset);
}

std::unique_ptr<Rescale> make_rescale(std::string_view preset) {
  return make_of_preset<Rescale, VerilatedRescale<Vrescale_nano>, VerilatedRescale<Vrescale_edge>>(preset);
}

std::unique_ptr<Scratchpad> make_scratchpad(std::string_view preset) {
  return make_of_preset<Scratchpad, VerilatedScratchpad<Vscratchpad_nano>, VerilatedScratchpad<Vscratchpad_edge>>(
      preset);
}

std::unique_ptr<Vpu> make_vpu(std::string_view preset) {
  return make_of_preset<Vpu, VerilatedVpu<Vvpu_nano>, VerilatedVpu<Vvpu_edge>>(preset);
}

}  // namespace npu::rtl
