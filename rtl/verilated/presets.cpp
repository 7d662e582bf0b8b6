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
namespace {

template <class Nano, class Edge, class Block>
std::unique_ptr<Block> make(std::string_view preset) {
  const contract::Capabilities sizes = sizes_of(preset);
  if (preset == "nano") return std::make_unique<Nano>(sizes);
  return std::make_unique<Edge>(sizes);
}

}  // namespace

std::unique_ptr<DmaAddress> make_dma_address(std::string_view preset) {
  return make<VerilatedDmaAddress<Vdma_address_nano>, VerilatedDmaAddress<Vdma_address_edge>, DmaAddress>(preset);
}

std::unique_ptr<MacArray> make_mac_array(std::string_view preset) {
  return wrap_mac_array<Vmac_array_nano, Vmac_array_edge>(preset);
}

std::unique_ptr<PersistentSram> make_persistent_sram(std::string_view preset) {
  return make<VerilatedPersistentSram<Vpersistent_sram_nano>, VerilatedPersistentSram<Vpersistent_sram_edge>,
              PersistentSram>(preset);
}

std::unique_ptr<Rescale> make_rescale(std::string_view preset) {
  return make<VerilatedRescale<Vrescale_nano>, VerilatedRescale<Vrescale_edge>, Rescale>(preset);
}

std::unique_ptr<Scratchpad> make_scratchpad(std::string_view preset) {
  return make<VerilatedScratchpad<Vscratchpad_nano>, VerilatedScratchpad<Vscratchpad_edge>, Scratchpad>(preset);
}

std::unique_ptr<Vpu> make_vpu(std::string_view preset) { return wrap_vpu<Vvpu_nano, Vvpu_edge>(preset); }

}  // namespace npu::rtl
