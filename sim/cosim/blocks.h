// SPDX-License-Identifier: Apache-2.0
// Where the blocks of RTL come from: the module libnpu_rtl.so, opened when first asked for. Tests put other blocks in
// their place, to see that a wrong one is found.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rtl/verilated/module.h"

namespace npu::cosim {

// Empty functions where there is no such block.
struct Blocks {
  std::function<std::unique_ptr<rtl::MacArray>(std::string_view machine)> mac_array;
  std::function<std::unique_ptr<rtl::Vpu>(std::string_view machine)> vpu;
  std::function<std::unique_ptr<rtl::DmaAddress>(std::string_view machine)> dma_address;
  std::function<std::unique_ptr<rtl::Scratchpad>(std::string_view machine)> scratchpad;
  std::function<std::unique_ptr<rtl::PersistentSram>(std::string_view machine)> persistent_sram;
  // Write an FST trace to the file; empty when no such blocks were built.
  std::function<std::unique_ptr<rtl::MacArray>(std::string_view machine, const std::string& file)> traced_mac_array;
  std::function<std::unique_ptr<rtl::Vpu>(std::string_view machine, const std::string& file)> traced_vpu;
  // Machines whose RTL was built, and the sizes of one's blocks.
  std::function<std::span<const char* const>()> built_machines;
  std::function<contract::Capabilities(std::string_view machine)> sizes_of;
};

// Those of the module. While it is missing, each call looks for it again. Throws npu::Error (cannot_read) for a module
// that cannot be opened or was built from other sources.
[[nodiscard]] Blocks& blocks();
// blocks(), which must not be empty. Throws npu::Error (feature_unsupported), with the way to build the module.
[[nodiscard]] Blocks& required_blocks();

}  // namespace npu::cosim
