// Which RTL of these blocks this program has; no_rtl.cpp is compiled in its place where there is none.
#include "sim/cosim/memory_trials.h"

#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cosim/dma_trials.h"
#include "sim/cosim/persistent_sram_trials.h"
#include "sim/cosim/scratchpad_trials.h"

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

struct ScratchpadSizes {
  std::string_view preset;
  uint32_t bytes, banks, bank_bytes, channels;
};
constexpr ScratchpadSizes kScratchpads[] = {
    {"nano", NPU_NANO_SPM_BYTES, NPU_NANO_SPM_BANKS, NPU_NANO_SPM_BANK_BYTES, NPU_NANO_DMA_CHANNELS},
    {"edge", NPU_EDGE_SPM_BYTES, NPU_EDGE_SPM_BANKS, NPU_EDGE_SPM_BANK_BYTES, NPU_EDGE_DMA_CHANNELS},
};

std::string_view scratchpad_preset(const Capabilities& caps) {
  for (const ScratchpadSizes& sizes : kScratchpads) {
    if (sizes.bytes == caps.spm_bytes && sizes.banks == caps.spm_banks && sizes.bank_bytes == caps.spm_bank_bytes &&
        sizes.channels == caps.dma_channels) {
      return sizes.preset;
    }
  }
  throw Error(ErrorCode::kBadPreset,
              fmt::format("no RTL was built of a scratchpad of {} bytes in {} banks of {} bytes for {} DMA channels as "
                          "this machine has; there is RTL of the presets nano and edge",
                          caps.spm_bytes, caps.spm_banks, caps.spm_bank_bytes, caps.dma_channels));
}

struct PersistentSramSizes {
  std::string_view preset;
  uint32_t bytes, port_bytes, entries;
};
constexpr PersistentSramSizes kPersistentSrams[] = {
    {"nano", NPU_NANO_PSRAM_BYTES, NPU_NANO_PSRAM_PORT_BYTES, NPU_NANO_VAR_ENTRIES},
    {"edge", NPU_EDGE_PSRAM_BYTES, NPU_EDGE_PSRAM_PORT_BYTES, NPU_EDGE_VAR_ENTRIES},
};

std::string_view persistent_sram_preset(const Capabilities& caps) {
  for (const PersistentSramSizes& sizes : kPersistentSrams) {
    if (sizes.bytes == caps.psram_bytes && sizes.port_bytes == caps.psram_port_bytes &&
        sizes.entries == caps.var_entries) {
      return sizes.preset;
    }
  }
  throw Error(ErrorCode::kBadPreset,
              fmt::format("no RTL was built of a persistent SRAM of {} bytes with a port of {} bytes and {} variables "
                          "as this machine has; there is RTL of the presets nano and edge",
                          caps.psram_bytes, caps.psram_port_bytes, caps.var_entries));
}

}  // namespace

std::unique_ptr<Trials> make_dma_trials(const Capabilities& caps) {
  return make_dma_trials(caps, rtl::make_dma_address(dma_preset(caps)));
}

std::unique_ptr<Trials> make_scratchpad_trials(const Capabilities& caps) {
  return make_scratchpad_trials(rtl::make_scratchpad(scratchpad_preset(caps)));
}

std::unique_ptr<Trials> make_persistent_sram_trials(const Capabilities& caps) {
  return make_persistent_sram_trials(rtl::make_persistent_sram(persistent_sram_preset(caps)));
}

}  // namespace npu::cosim
