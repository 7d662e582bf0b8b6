// SPDX-License-Identifier: Apache-2.0
// Blocks with a mistake that was put in on purpose, for the tests that must find it.
#pragma once

#include <memory>

#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/vpu.h"

namespace npu::rtl {

// Of nano: a value that is clipped from above comes out with its lowest bit flipped; in the VPU, one that a
// micro-operation CLAMP clips.
[[nodiscard]] std::unique_ptr<MacArray> make_wrong_mac_array();
[[nodiscard]] std::unique_ptr<Vpu> make_wrong_vpu();

}  // namespace npu::rtl
