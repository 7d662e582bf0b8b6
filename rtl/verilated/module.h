// SPDX-License-Identifier: Apache-2.0
// The door of libnpu_rtl.so, the shared module with the Verilated blocks. A program opens it when somebody asks for
// RTL, so it builds and starts without Verilated code. (sim/cosim/blocks.h opens it.)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hw/contract/gen/capabilities.h"
#include "rtl/verilated/dma_address.h"
#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/persistent_sram.h"
#include "rtl/verilated/scratchpad.h"
#include "rtl/verilated/vpu.h"

namespace npu::rtl {

// A hash of all that the module is made of (rtl/CMakeLists.txt lists it); a module of another version is not used.
[[nodiscard]] std::string_view source_version();

// What the module can make. Each function throws npu::Error (bad_preset) for a machine whose RTL was not built.
struct BlockMakers {
  std::span<const char* const> (*built_machines)();
  contract::Capabilities (*sizes_of)(std::string_view machine);
  std::unique_ptr<MacArray> (*mac_array)(std::string_view machine);
  std::unique_ptr<Vpu> (*vpu)(std::string_view machine);
  std::unique_ptr<DmaAddress> (*dma_address)(std::string_view machine);
  std::unique_ptr<Scratchpad> (*scratchpad)(std::string_view machine);
  std::unique_ptr<PersistentSram> (*persistent_sram)(std::string_view machine);
  // Blocks that write an FST trace to `file`; null unless they were built (NPU_RTL_TRACE).
  std::unique_ptr<MacArray> (*traced_mac_array)(std::string_view machine, const std::string& file);
  std::unique_ptr<Vpu> (*traced_vpu)(std::string_view machine, const std::string& file);
};

// Of the blocks that are linked into the caller.
[[nodiscard]] BlockMakers linked_blocks();

extern "C" {
using ModuleVersion = const char*();        // symbol npu_rtl_source_version; ends with 0
using ModuleBlocks = const BlockMakers*();  // symbol npu_rtl_blocks
}

}  // namespace npu::rtl
