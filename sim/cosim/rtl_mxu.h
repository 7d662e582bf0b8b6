// SPDX-License-Identifier: Apache-2.0
// The MXU's RTL as an engine.
#pragma once

#include <memory>

#include "rtl/verilated/mac_array.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cosim {

// `block` must have the sizes of `caps`. Fill is what passes until the first activations are read, drain what passes
// after the last.
[[nodiscard]] std::unique_ptr<RtlEngine> make_rtl_mxu(const contract::Capabilities& caps,
                                                      std::unique_ptr<rtl::MacArray> block);

}  // namespace npu::cosim
