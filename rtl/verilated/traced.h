// Blocks that write an FST waveform of all that they do, from reset on, to a file. They are built with NPU_RTL_TRACE.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rtl/verilated/mac_array.h"

namespace npu::rtl {

// The file is complete when the block is destroyed. Throws as make_mac_array does.
[[nodiscard]] std::unique_ptr<MacArray> make_traced_mac_array(std::string_view preset, const std::string& file);

}  // namespace npu::rtl
