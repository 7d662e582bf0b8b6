// SPDX-License-Identifier: Apache-2.0
// The blocks of the coverage build, in the place of rtl/verilated/presets.cpp.
#include <Vdma_address_small.h>
#include <Vmac_array_small.h>
#include <Vpersistent_sram_small.h>
#include <Vrescale_small.h>
#include <Vscratchpad_small.h>
#include <Vvpu_small.h>

#include "rtl/verilated/dma_address_wrapper.h"
#include "rtl/verilated/mac_array_wrapper.h"
#include "rtl/verilated/persistent_sram_wrapper.h"
#include "rtl/verilated/presets.h"
#include "rtl/verilated/rescale_wrapper.h"
#include "rtl/verilated/scratchpad_wrapper.h"
#include "rtl/verilated/vpu_wrapper.h"

namespace npu::rtl {

std::unique_ptr<DmaAddress> make_dma_address(std::string_view preset) {
  return std::make_unique<VerilatedDmaAddress<Vdma_address_small>>(sizes_of(preset));
}

std::unique_ptr<MacArray> make_mac_array(std::string_view preset) {
  return std::make_unique<VerilatedMacArray<Vmac_array_small>>(sizes_of(preset));
}

std::unique_ptr<PersistentSram> make_persistent_sram(std::string_view preset) {
  return std::make_unique<VerilatedPersistentSram<Vpersistent_sram_small>>(sizes_of(preset));
}

std::unique_ptr<Rescale> make_rescale(std::string_view preset) {
  return std::make_unique<VerilatedRescale<Vrescale_small>>(sizes_of(preset));
}

std::unique_ptr<Scratchpad> make_scratchpad(std::string_view preset) {
  return std::make_unique<VerilatedScratchpad<Vscratchpad_small>>(sizes_of(preset));
}

std::unique_ptr<Vpu> make_vpu(std::string_view preset) {
  return std::make_unique<VerilatedVpu<Vvpu_small>>(sizes_of(preset));
}

}  // namespace npu::rtl
