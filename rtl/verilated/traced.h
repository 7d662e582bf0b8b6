// SPDX-License-Identifier: Apache-2.0
// Blocks that write an FST waveform of all that they do, from reset on, to a file. They are built with NPU_RTL_TRACE.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/vpu.h"

namespace npu::rtl {

// The file is complete when the block is destroyed. Throw as make_mac_array does.
[[nodiscard]] std::unique_ptr<MacArray> make_traced_mac_array(std::string_view machine, const std::string& file);
[[nodiscard]] std::unique_ptr<Vpu> make_traced_vpu(std::string_view machine, const std::string& file);

}  // namespace npu::rtl
