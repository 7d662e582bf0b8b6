// Blocks with a mistake that was put in on purpose, for the tests that must find it.
#pragma once

#include <memory>

#include "rtl/verilated/mac_array.h"

namespace npu::rtl {

// Of nano: a value that is clipped from above comes out with its lowest bit flipped.
[[nodiscard]] std::unique_ptr<MacArray> make_wrong_mac_array();

}  // namespace npu::rtl
