// SPDX-License-Identifier: Apache-2.0
// The VPU's RTL as an engine.
#pragma once

#include <memory>

#include "rtl/verilated/vpu.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cosim {

// `block` must have the lanes of `caps`. Fill is what passes until the first operand is read, drain what passes after
// the last. run() throws npu::Error (argument_unsupported) for a program that the RTL has no room for.
[[nodiscard]] std::unique_ptr<RtlEngine> make_rtl_vpu(const contract::Capabilities& caps,
                                                      std::unique_ptr<rtl::Vpu> block);

}  // namespace npu::cosim
