// SPDX-License-Identifier: Apache-2.0
// Trials of a scratchpad that the caller brings, right or wrong.
#pragma once

#include <memory>

#include "rtl/verilated/scratchpad.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

[[nodiscard]] std::unique_ptr<Trials> make_scratchpad_trials(std::unique_ptr<rtl::Scratchpad> block);

}  // namespace npu::cosim
