// Which RTL of these blocks this program has; no_rtl.cpp is compiled in its place where there is none.
#include "sim/cosim/memory_trials.h"

#include <fmt/format.h>

#include "hw/contract/error.h"
#include "rtl/verilated/presets.h"
#include "sim/cosim/dma_trials.h"
#include "sim/cosim/persistent_sram_trials.h"
#include "sim/cosim/scratchpad_trials.h"

namespace npu::cosim {

using contract::Capabilities;
using contract::ErrorCode;

namespace {

// The preset whose blocks have the sizes that `fits` looks at; `what` describes those of this machine.
template <class Fits>
std::string_view preset_of(Fits fits, const std::string& what) {
  for (const std::string_view preset : rtl::built_presets()) {
    if (fits(rtl::sizes_of(preset))) return preset;
  }
  throw Error(ErrorCode::kBadPreset,
              fmt::format("no RTL was built of {} as this machine has; there is RTL of the presets {}", what,
                          fmt::join(rtl::built_presets(), " and ")));
}

std::string_view dma_preset(const Capabilities& caps) {
  return preset_of([&](const Capabilities& built) { return built.dma_port_bytes == caps.dma_port_bytes; },
                   fmt::format("a DMA channel with a port of {} bytes", caps.dma_port_bytes));
}

std::string_view scratchpad_preset(const Capabilities& caps) {
  const auto fits = [&](const Capabilities& built) {
    return built.spm_bytes == caps.spm_bytes && built.spm_banks == caps.spm_banks &&
           built.spm_bank_bytes == caps.spm_bank_bytes && built.dma_channels == caps.dma_channels;
  };
  return preset_of(fits, fmt::format("a scratchpad of {} bytes in {} banks of {} bytes for {} DMA channels",
                                     caps.spm_bytes, caps.spm_banks, caps.spm_bank_bytes, caps.dma_channels));
}

std::string_view persistent_sram_preset(const Capabilities& caps) {
  const auto fits = [&](const Capabilities& built) {
    return built.psram_bytes == caps.psram_bytes && built.psram_port_bytes == caps.psram_port_bytes &&
           built.var_entries == caps.var_entries;
  };
  return preset_of(fits, fmt::format("a persistent SRAM of {} bytes with a port of {} bytes and {} variables",
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
