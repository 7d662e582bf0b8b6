// SPDX-License-Identifier: Apache-2.0
// Blocks with a mistake that was put in on purpose, for the tests that must find it.
#pragma once

#include <cstdint>
#include <memory>

#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/vpu.h"

namespace npu::rtl {

// Of nano: a value that is clipped from above comes out with its lowest bit flipped; in the VPU, one that a
// micro-operation CLAMP clips.
[[nodiscard]] std::unique_ptr<MacArray> make_wrong_mac_array();
[[nodiscard]] std::unique_ptr<Vpu> make_wrong_vpu();

// Of machines of rtl/verilated/float_machines.h.
enum class FloatMistake : uint8_t {
  kTree,        // products are added to other neighbours
  kSubnormals,  // elements are zero instead
  kPadding,     // outside of the input, a product with an infinite weight is a NaN
  kResidual,    // a value that something is added to is clamped from below before that, too
};
[[nodiscard]] const char* machine_of(FloatMistake mistake);
[[nodiscard]] std::unique_ptr<MacArray> make_wrong_mac_array(FloatMistake mistake);

}  // namespace npu::rtl
