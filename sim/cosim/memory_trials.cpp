// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/memory_trials.h"

#include <fmt/format.h>

#include "sim/cosim/dma_trials.h"
#include "sim/cosim/persistent_sram_trials.h"
#include "sim/cosim/rtl_machine.h"
#include "sim/cosim/scratchpad_trials.h"

namespace npu::cosim {

using contract::Capabilities;

namespace {

std::string_view dma_machine(const Capabilities& caps) {
  return rtl_machine([&](const Capabilities& built) { return built.dma_port_bytes == caps.dma_port_bytes; },
                     fmt::format("a DMA channel with a port of {} bytes", caps.dma_port_bytes));
}

std::string_view scratchpad_machine(const Capabilities& caps) {
  const auto fits = [&](const Capabilities& built) {
    return built.spm_bytes == caps.spm_bytes && built.spm_banks == caps.spm_banks &&
           built.spm_bank_bytes == caps.spm_bank_bytes && built.dma_channels == caps.dma_channels;
  };
  return rtl_machine(fits, fmt::format("a scratchpad of {} bytes in {} banks of {} bytes for {} DMA channels",
                                       caps.spm_bytes, caps.spm_banks, caps.spm_bank_bytes, caps.dma_channels));
}

std::string_view persistent_sram_machine(const Capabilities& caps) {
  const auto fits = [&](const Capabilities& built) {
    return built.psram_bytes == caps.psram_bytes && built.psram_port_bytes == caps.psram_port_bytes &&
           built.var_entries == caps.var_entries;
  };
  return rtl_machine(fits, fmt::format("a persistent SRAM of {} bytes with a port of {} bytes and {} variables",
                                       caps.psram_bytes, caps.psram_port_bytes, caps.var_entries));
}

}  // namespace

std::unique_ptr<Trials> make_dma_trials(const Capabilities& caps) {
  return make_dma_trials(caps, blocks().dma_address(dma_machine(caps)));
}

std::unique_ptr<Trials> make_scratchpad_trials(const Capabilities& caps) {
  return make_scratchpad_trials(blocks().scratchpad(scratchpad_machine(caps)));
}

std::unique_ptr<Trials> make_persistent_sram_trials(const Capabilities& caps) {
  return make_persistent_sram_trials(blocks().persistent_sram(persistent_sram_machine(caps)));
}

}  // namespace npu::cosim
