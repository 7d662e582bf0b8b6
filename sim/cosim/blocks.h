// SPDX-License-Identifier: Apache-2.0
// Where the blocks of RTL come from. Tests put other ones in their place, to see that a wrong block is found.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/vpu.h"

namespace npu::cosim {

struct Blocks {
  std::function<std::unique_ptr<rtl::MacArray>(std::string_view preset)> mac_array = rtl::make_mac_array;
  std::function<std::unique_ptr<rtl::Vpu>(std::string_view preset)> vpu = rtl::make_vpu;
  // Write an FST trace to the file; empty when no such blocks were built.
  std::function<std::unique_ptr<rtl::MacArray>(std::string_view preset, const std::string& file)> traced_mac_array;
  std::function<std::unique_ptr<rtl::Vpu>(std::string_view preset, const std::string& file)> traced_vpu;
};
// Those of this program.
[[nodiscard]] Blocks& blocks();

}  // namespace npu::cosim
