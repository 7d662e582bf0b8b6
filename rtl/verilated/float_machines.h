// SPDX-License-Identifier: Apache-2.0
// The engines' RTL of the machines in tests/block/*.yaml, which have floating point: for tests, beside the machines
// whose RTL is built as a whole.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "hw/contract/gen/capabilities.h"
#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/machines.h"
#include "rtl/verilated/vpu.h"

namespace npu::rtl {

[[nodiscard]] std::span<const char* const> float_machines();
// The sizes of one's blocks; all else is 0. Throws npu::Error (bad_preset) for others.
[[nodiscard]] contract::Capabilities float_sizes_of(std::string_view machine);
[[nodiscard]] std::unique_ptr<MacArray> make_float_mac_array(std::string_view machine);
[[nodiscard]] std::unique_ptr<Vpu> make_float_vpu(std::string_view machine);

}  // namespace npu::rtl
