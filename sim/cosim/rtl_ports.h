// SPDX-License-Identifier: Apache-2.0
// On which port of an engine a request of its block comes.
#pragma once

#include "hw/timing/ports.h"
#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/vpu.h"

namespace npu::cosim {

[[nodiscard]] inline timing::Ports port_of(const rtl::MacArray::Activations&) { return timing::kMxuActivations; }
[[nodiscard]] inline timing::Ports port_of(const rtl::MacArray::Weights&) { return timing::kMxuWeights; }
[[nodiscard]] inline timing::Ports port_of(const rtl::MacArray::Parameters&) { return timing::kMxuParameters; }
[[nodiscard]] inline timing::Ports port_of(const rtl::MacArray::Results&) { return timing::kMxuResults; }
[[nodiscard]] inline timing::Ports port_of(const rtl::MacArray::Residual&) { return timing::kMxuResidual; }
[[nodiscard]] inline timing::Ports port_of(const rtl::Vpu::Parameters&) { return timing::kVpuParameters; }
[[nodiscard]] inline timing::Ports port_of(const rtl::Vpu::Read&) { return timing::kVpuRead; }
[[nodiscard]] inline timing::Ports port_of(const rtl::Vpu::Write&) { return timing::kVpuWrite; }

}  // namespace npu::cosim
