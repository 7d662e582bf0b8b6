// SPDX-License-Identifier: Apache-2.0
// Trials of an address generator that the caller brings, right or wrong.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "rtl/verilated/dma_address.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

// `block` must have the port of `caps`.
[[nodiscard]] std::unique_ptr<Trials> make_dma_trials(const contract::Capabilities& caps,
                                                      std::unique_ptr<rtl::DmaAddress> block);

}  // namespace npu::cosim
