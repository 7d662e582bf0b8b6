// Which RTL of these blocks this program has; no_rtl.cpp is compiled in its place where there is none.
#include "sim/cosim/memory_trials.h"

#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cosim/dma_trials.h"

namespace npu::cosim {

using contract::Capabilities;
using contract::ErrorCode;

namespace {

std::string_view dma_preset(const Capabilities& caps) {
  if (caps.dma_port_bytes == NPU_NANO_DMA_PORT_BYTES) return "nano";
  if (caps.dma_port_bytes == NPU_EDGE_DMA_PORT_BYTES) return "edge";
  throw Error(ErrorCode::kBadPreset,
              fmt::format("no RTL was built of a DMA channel with a port of {} bytes as this machine has; there is RTL "
                          "of the presets nano and edge",
                          caps.dma_port_bytes));
}

}  // namespace

std::unique_ptr<Trials> make_dma_trials(const Capabilities& caps) {
  return make_dma_trials(caps, rtl::make_dma_address(dma_preset(caps)));
}

}  // namespace npu::cosim
